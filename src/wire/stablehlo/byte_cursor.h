// Reads MLIR bytecode's primitives. What cannot be read sets the file's one fault, after which
// everything reads as zero: loops must end when the cursor has failed.
#pragma once

#include <cstring>

#include "wire/stablehlo/mlir.h"

namespace hilo::mlir {

// The first mistake of a file.
struct Fault {
  std::optional<Error> error;

  template <class... Args>
  void set(ErrorKind kind, int64_t offset, fmt::format_string<Args...> text, Args&&... args) {
    if (error) return;
    error = Error{kind, fmt::format(text, std::forward<Args>(args)...), {}};
    error->message += fmt::format(" (byte {})", offset);
  }
  explicit operator bool() const { return error.has_value(); }
};

class ByteCursor {
 public:
  ByteCursor(std::string_view bytes, int64_t base, Fault& fault)
      : bytes_(bytes), base_(base), fault_(&fault) {}

  int64_t offset() const { return base_ + static_cast<int64_t>(at_); }
  size_t left() const { return bytes_.size() - at_; }
  bool failed() const { return static_cast<bool>(*fault_); }
  template <class... Args>
  void fail(fmt::format_string<Args...> text, Args&&... args) {
    fault_->set(ErrorKind::Format, offset(), text, std::forward<Args>(args)...);
    at_ = bytes_.size();
  }

  uint8_t byte() {
    if (left() == 0) return short_of(1), 0;
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  // The zero bits below the first one bit of the first byte count the bytes that follow it.
  uint64_t varint() {
    const uint8_t first = byte();
    if (first & 1) return first >> 1;
    const int more = first == 0 ? 8 : std::countr_zero(first);
    if (left() < static_cast<size_t>(more)) return short_of(more), 0;
    uint64_t rest = 0;
    std::memcpy(&rest, bytes_.data() + at_, static_cast<size_t>(more));
    at_ += static_cast<size_t>(more);
    if (more == 8) return rest;
    return (rest << 8 | first) >> (more + 1);
  }
  int64_t signed_varint() {
    const uint64_t zigzag = varint();
    return static_cast<int64_t>(zigzag >> 1) ^ -static_cast<int64_t>(zigzag & 1);
  }
  // A varint below `limit`.
  size_t index(size_t limit, std::string_view what) {
    const uint64_t value = varint();
    if (failed()) return 0;
    if (value >= limit) return fail("{} {} of {}", what, value, limit), 0;
    return value;
  }
  // A number of things, each of at least one byte.
  size_t count(std::string_view what) {
    const uint64_t value = varint();
    if (value > left()) return fail("{} {} in {} bytes", value, what, left()), 0;
    return value;
  }
  std::string_view bytes(uint64_t size) {
    if (size > left()) return short_of(size), std::string_view();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  ByteCursor part(uint64_t size) {
    const int64_t from = offset();
    return {bytes(size), from, *fault_};
  }
  std::string_view terminated() {
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return fail("a string without its end"), std::string_view();
    const std::string_view out = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  void align(uint64_t alignment) {
    if (alignment == 0 || !std::has_single_bit(alignment) || alignment > (1U << 30))
      return fail("an alignment of {}", alignment);
    const auto beyond = static_cast<uint64_t>(offset()) & (alignment - 1);
    if (beyond != 0) bytes(alignment - beyond);
  }

 private:
  void short_of(uint64_t wanted) { fail("the file ends {} bytes too early", wanted - left()); }

  std::string_view bytes_;
  int64_t base_;
  Fault* fault_;
  size_t at_ = 0;
};

}  // namespace hilo::mlir
