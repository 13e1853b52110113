// Any bytes as MLIR bytecode: an error, or a program that keeps its laws.
#include <cstdint>

#include "mlir_laws.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hilo::mlir;
  const auto program = read_bytecode({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (program) Laws(*program).check();
  return 0;
}
