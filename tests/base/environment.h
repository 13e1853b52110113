// What tests read from the environment.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace hilo::test {

inline uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace hilo::test
