// Any bytes as a module in binary form: an error, or a module that prints and can be verified.
#include <cstdint>

#include "text/text.h"
#include "verify/verify.h"
#include "wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hilo;
  const auto module = read_module({reinterpret_cast<const std::byte*>(data), size});
  if (!module) return 0;
  (void)print(*module);
  (void)verify(*module, {});
  return 0;
}
