#include "wire/stablehlo/mlir_builder.h"

#include <algorithm>
#include <cstring>

namespace hilo::mlir {
namespace {

void append(std::string& key, int64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void append(std::string& key, const Dims& dims) {
  append(key, static_cast<int64_t>(dims.size()));
  for (const int64_t dim : dims) append(key, dim);
}
void append(std::string& key, double value) { append(key, std::bit_cast<int64_t>(value)); }

std::string key_of(const Type& type) {
  std::string key;
  key.push_back(static_cast<char>(type.kind));
  key.push_back(static_cast<char>(type.element));
  append(key, static_cast<int64_t>(type.element_type.value));
  append(key, type.dims);
  append(key, type.bounds);
  append(key, static_cast<int64_t>(type.types.size()));
  for (const TypeId part : type.types) append(key, static_cast<int64_t>(part.value));
  append(key, static_cast<int64_t>(type.inputs));
  if (const Quantization* quantization = type.quantization.get()) {
    key.push_back(static_cast<char>(quantization->storage));
    key.push_back(static_cast<char>(quantization->expressed));
    append(key, quantization->min);
    append(key, quantization->max);
    append(key, quantization->axis.value_or(-1));
    append(key, quantization->zero_points);
    for (const double scale : quantization->scales) append(key, scale);
  }
  return key += type.text;
}

std::string key_of(AttributeKind kind, std::string_view text) {
  std::string key(1, static_cast<char>(kind));
  return key += text;
}

}  // namespace

TypeId Builder::intern(Type type) {
  const auto [found, is_new] =
      types_.try_emplace(key_of(type), TypeId{static_cast<uint32_t>(program.types.size())});
  if (is_new) program.types.push_back(std::move(type));
  return found->second;
}
TypeId Builder::scalar(ElementType element) {
  return intern({.kind = TypeKind::Scalar, .element = element});
}
TypeId Builder::tensor(TypeId element, Dims dims) {
  return intern({.kind = TypeKind::Tensor, .element_type = element, .dims = std::move(dims)});
}
TypeId Builder::none() { return intern({.kind = TypeKind::None}); }
TypeId Builder::other(std::string text) {
  return intern({.kind = TypeKind::Other, .text = std::move(text)});
}

AttributeId Builder::add(Attribute attribute) {
  program.attributes.push_back(std::move(attribute));
  return {static_cast<uint32_t>(program.attributes.size() - 1)};
}
AttributeId Builder::cached(const std::string& key, Attribute attribute) {
  const auto [found, is_new] = attributes_.try_emplace(key, AttributeId{});
  if (is_new) found->second = add(std::move(attribute));
  return found->second;
}
AttributeId Builder::integer(int64_t value) { return integer(value, scalar(ElementType::S64)); }
AttributeId Builder::integer(int64_t value, TypeId type) {
  std::string key(1, static_cast<char>(AttributeKind::Integer));
  append(key, value);
  append(key, static_cast<int64_t>(type.value));
  return cached(key, {.kind = AttributeKind::Integer, .integer = value, .type = type});
}
AttributeId Builder::number(double value, TypeId type) {
  std::string key(1, static_cast<char>(AttributeKind::Float));
  append(key, value);
  append(key, static_cast<int64_t>(type.value));
  return cached(key, {.kind = AttributeKind::Float, .number = value, .type = type});
}
AttributeId Builder::boolean(bool value) {
  return cached(key_of(AttributeKind::Bool, value ? "1" : "0"),
                {.kind = AttributeKind::Bool, .integer = value});
}
AttributeId Builder::string(std::string_view text) {
  return cached(key_of(AttributeKind::String, text),
                {.kind = AttributeKind::String, .text = std::string(text)});
}
AttributeId Builder::symbol(std::string_view text) {
  return cached(key_of(AttributeKind::Symbol, text),
                {.kind = AttributeKind::Symbol, .text = std::string(text)});
}
AttributeId Builder::enumerator(std::string_view text) {
  return cached(key_of(AttributeKind::Enum, text),
                {.kind = AttributeKind::Enum, .text = std::string(text)});
}
AttributeId Builder::type_attribute(TypeId type) {
  std::string key(1, static_cast<char>(AttributeKind::Type));
  append(key, static_cast<int64_t>(type.value));
  return cached(key, {.kind = AttributeKind::Type, .type = type});
}
AttributeId Builder::array(std::vector<AttributeId> items) {
  if (items.empty())
    return cached(key_of(AttributeKind::Array, ""), {.kind = AttributeKind::Array});
  return add({.kind = AttributeKind::Array, .items = std::move(items)});
}
AttributeId Builder::dictionary(Fields fields) {
  if (fields.empty())
    return cached(key_of(AttributeKind::Dictionary, ""), {.kind = AttributeKind::Dictionary});
  sort_fields(fields);
  return add({.kind = AttributeKind::Dictionary, .fields = std::move(fields)});
}
AttributeId Builder::structure(std::string_view name, Fields fields) {
  if (fields.empty())
    return cached(key_of(AttributeKind::Struct, name),
                  {.kind = AttributeKind::Struct, .text = std::string(name)});
  sort_fields(fields);
  return add(
      {.kind = AttributeKind::Struct, .text = std::string(name), .fields = std::move(fields)});
}

AttributeId Builder::numbers(Dims values) {
  const auto count = static_cast<int64_t>(values.size());
  return numbers(std::move(values), {count});
}
AttributeId Builder::numbers(Dims values, Dims dims) {
  const TypeId type = tensor(scalar(ElementType::S64), std::move(dims));
  const bool is_splat =
      values.size() > 1 && std::ranges::all_of(values, [&](int64_t v) { return v == values[0]; });
  if (is_splat) values.resize(1);
  std::string data(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  std::string key = key_of(AttributeKind::Tensor, data);
  append(key, static_cast<int64_t>(type.value));
  return cached(key, {.kind = AttributeKind::Tensor,
                      .type = type,
                      .data = std::make_shared<const std::string>(std::move(data)),
                      .is_splat = is_splat});
}
AttributeId Builder::splat(int64_t value, Dims dims) {
  Type type{.kind = TypeKind::Tensor, .dims = dims};
  const int64_t count = element_count(type);
  if (count < 2) return numbers(Dims(static_cast<size_t>(count), value), std::move(dims));
  Attribute out{.kind = AttributeKind::Tensor, .is_splat = true};
  out.type = tensor(scalar(ElementType::S64), std::move(dims));
  out.data = std::make_shared<const std::string>(reinterpret_cast<const char*>(&value), 8);
  return add(std::move(out));
}
AttributeId Builder::flags(bool value, int64_t count) {
  Attribute out{.kind = AttributeKind::Tensor, .is_splat = count > 1};
  out.type = tensor(scalar(ElementType::Pred), {count});
  out.data = std::make_shared<const std::string>(count == 0 ? 0 : 1, value ? '\1' : '\0');
  return add(std::move(out));
}

void sort_fields(Fields& fields) {
  std::ranges::stable_sort(fields, {}, [](const auto& field) -> auto& { return field.first; });
}
AttributeId find_field(const Fields& sorted, std::string_view name) {
  const auto found = std::ranges::lower_bound(
      sorted, name, {}, [](const auto& field) { return std::string_view(field.first); });
  return found != sorted.end() && found->first == name ? found->second : AttributeId{};
}

const Attribute* Program::find(const Operation& operation, std::string_view name) const {
  const AttributeId id = find_field(operation.attributes, name);
  return id ? &attributes[id.value] : nullptr;
}
const Attribute* Program::find(const Attribute& dictionary, std::string_view name) const {
  const AttributeId id = find_field(dictionary.fields, name);
  return id ? &attributes[id.value] : nullptr;
}

int64_t element_count(const Type& tensor) {
  int64_t count = 1;
  for (const int64_t dim : tensor.dims)
    if (dim <= 0) return 0;
  for (const int64_t dim : tensor.dims)
    if (__builtin_mul_overflow(count, dim, &count)) return INT64_MAX;
  return count;
}

int64_t element_bytes(const Program& program, const Type& tensor) {
  if (!tensor.element_type) return 0;
  const Type& element = program[tensor.element_type];
  if (element.kind == TypeKind::Index) return 8;
  return element.kind == TypeKind::Scalar ? storage_bytes(element.element) : 0;
}

std::optional<Dims> integers_of(const Program& program, const Attribute& tensor, int64_t limit) {
  if (tensor.kind != AttributeKind::Tensor || !tensor.data) return {};
  const Type& type = program[tensor.type];
  const int64_t width = element_bytes(program, type), count = element_count(type);
  const ElementType element = program[type.element_type].element;
  const bool is_integer = program[type.element_type].kind == TypeKind::Index ||
                          is_integral(element) || element == ElementType::Pred;
  if (!is_integer || count > limit) return {};
  Dims out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const char* from = tensor.data->data() + (tensor.is_splat ? 0 : i * width);
    int64_t value = 0;
    std::memcpy(&value, from, static_cast<size_t>(width));
    const int unused = static_cast<int>(64 - 8 * width);
    if (is_signed(element))
      value = static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
    out[static_cast<size_t>(i)] = value;
  }
  return out;
}

}  // namespace hilo::mlir
