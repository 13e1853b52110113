// Types and dense elements as MLIR prints them.
#include <cmath>
#include <cstring>

#include "wire/stablehlo/text_writer.h"

namespace hilo::mlir {
namespace {

// Beyond so many elements MLIR prints their bytes.
constexpr int64_t max_listed = 100;

// "f8e4m3fn" is "f8E4M3FN" in MLIR.
std::string float_name(ElementType type) {
  std::string out(text_of(type));
  if (out.starts_with("f4") || out.starts_with("f6") || out.starts_with("f8"))
    for (size_t i = 1; i < out.size(); ++i)
      if (out[i] >= 'a' && out[i] <= 'z') out[i] = static_cast<char>(out[i] - 'a' + 'A');
  return out;
}

std::string element_name(ElementType type) {
  if (type == ElementType::Pred) return "i1";
  if (is_signed(type)) return fmt::format("i{}", bits_of(type));
  if (is_unsigned(type)) return fmt::format("ui{}", bits_of(type));
  if (is_complex(type)) return fmt::format("complex<f{}>", bits_of(type) / 2);
  return float_name(type);
}

std::string list_of_types(const Program& program, std::span<const TypeId> types) {
  std::string out;
  for (const TypeId type : types) out += (out.empty() ? "" : ", ") + type_text(program, type);
  return out;
}

std::string tensor_text(const Program& program, const Type& type) {
  std::string out = "tensor<";
  for (const int64_t dim : type.dims) out += dim == Type::dynamic ? "?x" : fmt::format("{}x", dim);
  out += type_text(program, type.element_type);
  if (!type.bounds.empty()) {
    out += ", #stablehlo.bounds<";
    for (size_t i = 0; i < type.bounds.size(); ++i) {
      if (i > 0) out += ", ";
      out += type.bounds[i] == Type::dynamic ? "?" : fmt::format("{}", type.bounds[i]);
    }
    out += ">";
  }
  return out + ">";
}

template <class T>
T at(const std::string& data, size_t i) {
  T out;
  std::memcpy(static_cast<void*>(&out), data.data() + i * sizeof(T), sizeof(T));
  return out;
}

// Bits of what has no decimal text, else digits that read back as the same value.
template <class T>
std::string float_text(T value, int bits) {
  double wide;
  if constexpr (std::is_same_v<T, double>) wide = value;
  else wide = static_cast<float>(value);
  if (!std::isfinite(wide)) {
    uint64_t raw = 0;
    std::memcpy(&raw, &value, sizeof(T));
    return fmt::format("0x{:0{}X}", raw, (bits + 3) / 4);
  }
  const std::string brief = fmt::format("{:.6e}", wide);
  return std::strtod(brief.c_str(), nullptr) == wide ? brief : fmt::format("{:.17e}", wide);
}

std::string element_text(ElementType type, const std::string& data, size_t i) {
  return visit_storage(type, [&]<class T>(std::type_identity<T>) -> std::string {
    const T value = at<T>(data, i);
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
      return fmt::format("({}, {})", float_text(value.real(), 32), float_text(value.imag(), 32));
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
      return fmt::format("({}, {})", float_text(value.real(), 64), float_text(value.imag(), 64));
    } else if constexpr (std::is_integral_v<T>) {
      return fmt::format("{}", value);
    } else if constexpr (requires { static_cast<float>(value); } && !requires { value % value; }) {
      if (is_floating(type)) return float_text(value, bits_of(type));
      return fmt::format("{}", static_cast<int>(value));
    } else {
      return fmt::format("{}", static_cast<int>(value));
    }
  });
}

void append_nested(std::string& out, ElementType type, const std::string& data, const Dims& dims,
                   size_t dim, size_t& next) {
  if (dim == dims.size()) {
    out += element_text(type, data, next++);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < dims[dim]; ++i) {
    if (i > 0) out += ", ";
    append_nested(out, type, data, dims, dim + 1, next);
  }
  out += ']';
}

std::string hexadecimal(const std::string& data) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out = "\"0x";
  for (const char c : data) {
    out += digits[static_cast<uint8_t>(c) >> 4];
    out += digits[static_cast<uint8_t>(c) & 15];
  }
  return out + '"';
}

}  // namespace

std::string number_text(ElementType type, double number) {
  return visit_storage(type, [&]<class T>(std::type_identity<T>) -> std::string {
    if constexpr (std::is_same_v<T, double>) return float_text(number, 64);
    else if constexpr (requires(T value) { static_cast<T>(static_cast<float>(value)); })
      return float_text(static_cast<T>(static_cast<float>(number)), bits_of(type));
    else return float_text(number, 64);
  });
}

std::string type_text(const Program& program, TypeId id) {
  const Type& type = program[id];
  switch (type.kind) {
    case TypeKind::Scalar: return element_name(type.element);
    case TypeKind::Index: return "index";
    case TypeKind::Tensor: return tensor_text(program, type);
    case TypeKind::Tuple: return "tuple<" + list_of_types(program, type.types) + ">";
    case TypeKind::Token: return "!stablehlo.token";
    case TypeKind::Future: return "!stablehlo.future<" + list_of_types(program, type.types) + ">";
    case TypeKind::None: return "none";
    default: return type.text;
  }
}

std::string dense_text(const Program& program, const Attribute& attribute) {
  const Type& type = program[attribute.type];
  const Type& of = program[type.element_type];
  const ElementType element = of.kind == TypeKind::Index ? ElementType::S64 : of.element;
  const std::string none, &data = attribute.data ? *attribute.data : none;
  const int64_t count = element_count(type);
  std::string out;
  size_t next = 0;
  const bool has_bytes = element != ElementType::Pred && bits_of(element) >= 8;
  if (attribute.is_splat) out = element_text(element, data, 0);
  else if (count > max_listed && has_bytes) out = hexadecimal(data);
  else if (count > 0) append_nested(out, element, data, type.dims, 0, next);
  return fmt::format("dense<{}> : {}", out, type_text(program, attribute.type));
}

}  // namespace hilo::mlir
