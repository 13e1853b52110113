// Any bytes as .safetensors: an Error or arrays, never more.
#include <cstdint>

#include "wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hilo;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto file = SafetensorsReader::from(ByteSource::memory(bytes));
  if (!file) return 0;
  for (const std::string& name : file->names()) (void)file->read(name);
  return 0;
}
