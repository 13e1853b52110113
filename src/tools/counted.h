// Numbers with their nouns. Private to `tools`.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace hilo::tools {

// "1 kernel", "2 kernels"; of nouns whose plural ends in s.
inline std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace hilo::tools
