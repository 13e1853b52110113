// Names that HLO text can hold. Private to `wire`.
#pragma once

#include <string>
#include <string_view>

namespace hilo {

// Other characters become '_', as XLA changes them; a first one that no name begins with gets a '_'
// in front.
std::string legal_name(std::string_view name);

}  // namespace hilo
