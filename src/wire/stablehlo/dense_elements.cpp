#include "wire/stablehlo/dense_elements.h"

#include <cstring>

namespace hilo::mlir {
namespace {

std::string unpacked(std::string_view bits, int64_t count) {
  std::string out(static_cast<size_t>(count), '\0');
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<char>(static_cast<uint8_t>(bits[i / 8]) >> (i % 8) & 1);
  return out;
}

// Of booleans: which of the two forms it is, its size says.
std::optional<std::string> booleans(std::string_view raw, int64_t count, bool& is_splat) {
  const auto size = static_cast<int64_t>(raw.size());
  if (size == 1 &&
      (count == 1 || count > 8 || static_cast<uint8_t>(raw[0]) == 0xff || raw[0] == '\0')) {
    is_splat = count > 1;
    return std::string(1, raw[0] == '\0' ? '\0' : '\1');
  }
  if (size == count / 8 + (count % 8 != 0)) return unpacked(raw, count);
  if (size != count) return {};
  std::string out(raw);
  for (char& c : out) c = c != '\0';
  return out;
}

// Brings what lies one to a byte to its own bits, extended by the sign.
void narrow(std::string& data, ElementType type) {
  const int bits = bits_of(type);
  if (bits >= 8) return;
  for (char& c : data) {
    const auto low = static_cast<uint8_t>(static_cast<uint8_t>(c) << (8 - bits));
    c = is_signed(type) ? static_cast<char>(static_cast<int8_t>(low) >> (8 - bits))
                        : static_cast<char>(low >> (8 - bits));
  }
}

}  // namespace

std::string set_elements(const Builder& builder, TypeId tensor, std::string_view raw,
                         Attribute& out) {
  const Program& program = builder.program;
  const Type& type = program[tensor];
  const int64_t width = type.kind == TypeKind::Tensor ? element_bytes(program, type) : 0;
  if (width == 0) return "dense elements of a type that has none";
  for (const int64_t dim : type.dims)
    if (dim < 0) return "dense elements of dynamic dimensions";
  const int64_t count = element_count(type);
  out.kind = AttributeKind::Tensor;
  out.type = tensor;
  if (count == 0) {
    out.data = std::make_shared<const std::string>();
    return "";
  }
  const ElementType element = program[type.element_type].element;
  const auto size = static_cast<int64_t>(raw.size());
  std::string data;
  if (element == ElementType::Pred) {
    auto values = booleans(raw, count, out.is_splat);
    if (!values) return fmt::format("{} bytes for {} booleans", size, count);
    data = *std::move(values);
  } else {
    out.is_splat = size == width && count != 1;
    const bool fits = size == width || (size % width == 0 && size / width == count);
    if (!fits) return fmt::format("{} bytes for {} elements of {} bytes", size, count, width);
    data = raw;
    narrow(data, element == ElementType::Invalid ? ElementType::S64 : element);
  }
  out.data = std::make_shared<const std::string>(std::move(data));
  return "";
}

namespace {

// body(value of the type) for each floating type; 0 for others.
template <class Body>
double with_float(ElementType type, Body&& body) {
  if (!is_floating(type)) return 0;
  return visit_storage(type, [&]<class T>(std::type_identity<T>) -> double {
    constexpr bool is_small = requires(T value) { T::from_bits(value.bits); };
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) return body(T());
    else if constexpr (is_small) return static_cast<float>(body(T()));
    else return 0;
  });
}

}  // namespace

double float_of_bits(ElementType type, uint64_t bits) {
  return with_float(type, [&]<class T>(T value) {
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    return value;
  });
}

double rounded_to(ElementType type, double value) {
  return with_float(type, [&]<class T>(T) { return T(value); });
}

}  // namespace hilo::mlir
