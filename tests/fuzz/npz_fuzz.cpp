// Any bytes as .npy and .npz: an Error or arrays, never more.
#include <cstdint>

#include "wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hilo;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)read_npy(bytes);
  const auto archive = NpzReader::from(ByteSource::memory(bytes));
  if (!archive) return 0;
  for (const std::string& name : archive->names()) (void)archive->read(name);
  return 0;
}
