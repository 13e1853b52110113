// What of floats must stay, as --keep says it. Private to `tools`.
#pragma once

#include <string_view>

#include "rewrite/rewrite.h"

namespace hilo::tools {

// Of "bits", "values" or "reals", which is what other words are, too.
inline Keeps keeps_named(std::string_view name) {
  return name == "bits" ? Keeps::Bits : name == "values" ? Keeps::Values : Keeps::Reals;
}

}  // namespace hilo::tools
