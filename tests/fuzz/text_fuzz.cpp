// Any bytes as HLO text: errors, or a module whose print parses again and prints the same.
#include <cstdint>
#include <cstdio>

#include "text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hilo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Warning> warnings;
  std::vector<Error> errors;
  const auto module =
      parse(text, {.warnings = &warnings, .errors = &errors, .max_literal_bytes = 1 << 20});
  if (!module) return 0;
  const std::string once = print(*module);
  const auto again = parse(once, {.max_literal_bytes = 1 << 20});
  if (!again) {
    std::fprintf(stderr, "the print is not read: %s\n%s", to_string(again.error()).c_str(),
                 once.c_str());
    __builtin_trap();
  }
  const std::string twice = print(*again);
  if (twice != once) {
    std::fprintf(stderr, "first print:\n%s\nsecond print:\n%s", once.c_str(), twice.c_str());
    __builtin_trap();
  }
  return 0;
}
