// Bytes of MLIR bytecode as they are written: the counterpart of byte_cursor.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hilo::mlir {

class ByteWriter {
 public:
  void byte(uint8_t value) { bytes_ += static_cast<char>(value); }
  // The number of trailing zero bits of the first byte is that of the bytes behind it.
  void varint(uint64_t value) {
    int extra = 0;
    while (extra < 8 && value >> (7 * (extra + 1)) != 0) ++extra;
    if (extra == 8) {
      byte(0);
      return append(value, 8);
    }
    append((value << 1 | 1) << extra, extra + 1);
  }
  void signed_varint(int64_t value) {
    varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void flagged(uint64_t value, bool flag) { varint(value << 1 | (flag ? 1 : 0)); }
  void text(std::string_view text) { bytes_ += text; }
  void blob(std::string_view blob) {
    varint(blob.size());
    text(blob);
  }
  void section(uint8_t id, std::string_view inside) {
    byte(id);
    blob(inside);
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  void append(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) byte(static_cast<uint8_t>(value >> (8 * i)));
  }
  std::string bytes_;
};

}  // namespace hilo::mlir
