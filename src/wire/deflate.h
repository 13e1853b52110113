// Deflated streams (RFC 1951) and gzip files (RFC 1952), a chunk at a time.
#pragma once

#include "wire/npy.h"

namespace hilo {

// Bytes that `compressed` deflated bytes can at most become (RFC 1951: 258 bytes for 2 bits).
int64_t max_inflated_size(int64_t compressed);

class Inflater {
 public:
  enum class Wrap { Raw, Gzip };
  // Reads `compressed` bytes of source from offset on.
  Inflater(const ByteSource& source, int64_t offset, int64_t compressed, Wrap wrap = Wrap::Raw);
  ~Inflater();
  Result<void> read(std::span<std::byte> to);         // all of it, or an Error
  Result<size_t> read_some(std::span<std::byte> to);  // 0: the stream has ended

 private:
  Result<void> refill();
  const ByteSource& source_;
  int64_t offset_, left_;
  std::unique_ptr<struct InflaterState> state_;
};

class Deflater {
 public:
  explicit Deflater(WriteNext to, Inflater::Wrap wrap = Inflater::Wrap::Raw);
  ~Deflater();
  Result<void> write(std::span<const std::byte> bytes);
  Result<void> finish();

 private:
  Result<void> pump(std::span<const std::byte> bytes, int flush);
  WriteNext to_;
  std::unique_ptr<struct InflaterState> state_;
};

uint32_t crc32_of(uint32_t crc, std::span<const std::byte> bytes);
Result<std::string> gunzip(std::span<const std::byte> bytes, int64_t max_bytes);

}  // namespace hilo
