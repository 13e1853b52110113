#include "wire/literal_bytes.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hilo {

static_assert(std::endian::native == std::endian::little, "files hold little-endian elements");

Result<int64_t> dense_bytes(std::span<const int64_t> dims, int64_t element_bytes) {
  int64_t bytes = element_bytes;
  bool too_many = false;
  for (int64_t dim : dims) {
    if (dim == 0) return 0;
    if (dim < 0) return fail(ErrorKind::Format, "a dimension of {}", dim);
    too_many = too_many || __builtin_mul_overflow(bytes, dim, &bytes);
  }
  if (too_many) return fail(ErrorKind::Limit, "an array of more than 2^63 bytes");
  return bytes;
}

Result<Literal> allocate_array(ElementType type, Dims dims) {
  HILO_TRY(const int64_t bytes, dense_bytes(dims, storage_bytes(type)));
  Bytes memory = allocate_bytes(bytes);
  if (memory == nullptr) return fail(ErrorKind::Memory, "no memory for {} bytes", bytes);
  return Literal::view(Shape::array(type, std::move(dims)), std::move(memory));
}

void swap_byte_order(std::span<std::byte> bytes, ElementType type) {
  const size_t width = static_cast<size_t>(storage_bytes(real_type_of(type)));
  if (width < 2) return;
  for (size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.begin() + i, bytes.begin() + i + width);
}

Result<void> make_valid(std::span<std::byte> bytes, ElementType type) {
  if (type == ElementType::Pred)
    for (std::byte& value : bytes) value = std::byte{value != std::byte{0}};
  const int bits = bits_of(type);
  if (bits >= 8) return {};
  // Signed ones may be zero- or sign-extended in the file, and are sign-extended here.
  const bool is_signed_type = kind_of(type) == TypeKind::Signed;
  const int count = 1 << bits;
  for (std::byte& value : bytes) {
    int number = std::to_integer<int>(value);
    if (is_signed_type && number >= 256 - count / 2) number -= 256 - count;
    if (number >= count)
      return fail(ErrorKind::Input, "{} is no value of {}", std::to_integer<int>(value),
                  text_of(type));
    if (is_signed_type && number >= count / 2) number -= count;
    value = static_cast<std::byte>(number);
  }
  return {};
}

uint64_t little_endian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  return value;
}

void append_little_endian(std::string& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 0xff);
}

namespace {

bool numpy_has(ElementType type) {
  return bits_of(type) >= 8 && type != ElementType::BF16 &&
         !(is_floating(type) && bits_of(type) == 8);
}

}  // namespace

Result<Literal> reinterpret_as(const Literal& literal, const Shape& shape) {
  const auto unfit = [&] {
    return fail(ErrorKind::Input, "an array of {} where {} is expected",
                to_string_without_layout(literal.shape()), to_string_without_layout(shape));
  };
  if (!shape.is_array() || !literal.shape().is_array() || literal.shape().dims != shape.dims)
    return unfit();
  if (literal.type() == shape.type) return literal.with_shape(shape);
  const bool raw_bits = is_unsigned(literal.type()) ||
                        (literal.type() == ElementType::S8 && is_signed(shape.type)) ||
                        literal.type() == ElementType::BF16;
  if (!raw_bits || (numpy_has(shape.type) && literal.type() != ElementType::BF16) ||
      storage_bytes(literal.type()) != storage_bytes(shape.type))
    return unfit();
  Literal out = literal.with_shape(shape);
  if (bits_of(shape.type) < 8) HILO_DO(make_valid(out.mutable_raw(), shape.type));
  return out;
}

}  // namespace hilo
