// .npy as a file of its own.
#include "wire/new_file.h"
#include "wire/npy.h"

namespace hilo {
namespace {

Result<Literal> read_from(const ByteSource& source) {
  return within_memory([&] -> Result<Literal> {
    int64_t offset = 0;
    const ReadNext next = [&](std::span<std::byte> to) -> Result<void> {
      HILO_DO(source.read_at(offset, to));
      offset += static_cast<int64_t>(to.size());
      return {};
    };
    return read_npy_stream(next, source.size());
  });
}

}  // namespace

Result<Literal> read_npy(std::span<const std::byte> bytes) {
  return read_from(*ByteSource::memory(bytes));
}

Result<Literal> read_npy(const std::string& path) {
  HILO_TRY(const auto source, ByteSource::open(path));
  Result<Literal> out = read_from(*source);
  if (!out) out.error().place.file = path;
  return out;
}

Result<void> write_npy(const std::string& path, const Literal& literal) {
  HILO_TRY(NewFile file, NewFile::create(path));
  HILO_DO(write_npy_stream([&](std::span<const std::byte> bytes) { return file.write(bytes); },
                           literal));
  return file.commit();
}

}  // namespace hilo
