// MLIR's types as shapes, its dense elements as literals.
#include <algorithm>
#include <cstring>

#include "wire/stablehlo/converter.h"

namespace hilo::mlir {
namespace {

constexpr int deepest_type = 64;
constexpr int64_t max_leaves = int64_t{1} << 20;  // of a tuple

std::string_view name_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::Function: return "a function";
    case TypeKind::None: return "no type";
    default: return type.text.empty() ? std::string_view("this type") : type.text;
  }
}

Result<ElementType> element_of(const Program& program, TypeId id) {
  if (!id) return fail(ErrorKind::Shape, "a tensor without an element type");
  const Type& type = program[id];
  switch (type.kind) {
    case TypeKind::Scalar: return type.element;
    case TypeKind::Index: return ElementType::S64;
    case TypeKind::Quantized:
      if (!type.quantization) return fail(ErrorKind::Unsupported, "elements of this type");
      HILO_DO(check_quantisation(*type.quantization));
      return type.quantization->storage;
    default: return fail(ErrorKind::Unsupported, "elements of the type {}", name_of(type));
  }
}

Result<Shape> tensor_shape(const Program& program, const Type& type) {
  HILO_TRY(const ElementType element, element_of(program, type.element_type));
  if (!is_array(element)) return fail(ErrorKind::Unsupported, "elements of no known type");
  if (const auto& quantised = program[type.element_type].quantization)
    HILO_DO(check_quantisation(*quantised, type.dims));
  Shape out = Shape::array(element, type.dims);
  for (size_t i = 0; i < out.dims.size(); ++i) {
    if (out.dims[i] != Type::dynamic) {
      if (out.dims[i] < 0) return fail(ErrorKind::Shape, "a dimension of {} elements", out.dims[i]);
      continue;
    }
    const int64_t bound = i < type.bounds.size() ? type.bounds[i] : Type::dynamic;
    out.dims[i] = bound == Type::dynamic ? Shape::unbounded : bound;
    out.dynamic.resize(out.dims.size());
    out.dynamic[i] = bound != Type::dynamic;
    if (bound < 0 && bound != Type::dynamic)
      return fail(ErrorKind::Shape, "a dimension of at most {} elements", bound);
  }
  if (!out.has_dynamic_dims()) out.dynamic.clear();
  if (element_count(out) == INT64_MAX && !std::ranges::count(out.dims, Shape::unbounded))
    return fail(ErrorKind::Limit, "{} has more than 2^63-2 elements", to_string(out));
  return out;
}

}  // namespace

Result<Shape> Converter::shape_of(TypeId id) {
  if (!id) return fail(ErrorKind::Shape, "a value without a type");
  if (shapes_[id.value]) return *shapes_[id.value];
  const Type& type = program[id];
  const auto keep = [&](Shape shape) -> Shape { return *(shapes_[id.value] = std::move(shape)); };
  if (type.kind == TypeKind::Tensor) {
    HILO_TRY(Shape shape, tensor_shape(program, type));
    return keep(std::move(shape));
  }
  if (type.kind == TypeKind::Token) return keep(Shape::token());
  if (type.kind != TypeKind::Tuple && type.kind != TypeKind::Future) {
    HILO_TRY(const ElementType element, element_of(program, id));
    return keep(Shape::scalar(element));
  }
  if (type_depth_ > deepest_type) return fail(ErrorKind::Limit, "tuples are nested too deep");
  std::vector<Shape> elements;
  int64_t leaves = 0;
  ++type_depth_;
  for (TypeId element : type.types) {
    auto shape = shape_of(element);
    if (shape && (leaves += leaf_count(*shape)) > max_leaves)
      shape = fail(ErrorKind::Limit, "a tuple of more than {} arrays", max_leaves);
    if (!shape) return --type_depth_, std::unexpected(shape.error());
    elements.push_back(std::move(*shape));
  }
  --type_depth_;
  if (type.kind == TypeKind::Future && elements.size() == 1) return keep(elements[0]);
  return keep(Shape::tuple(std::move(elements)));
}

bool Converter::has_open_dims(TypeId id) {
  const auto is_open = [](const auto& self, const Shape& shape) -> bool {
    return std::ranges::count(shape.dims, Shape::unbounded) > 0 ||
           std::ranges::any_of(shape.elements, [&](const Shape& e) { return self(self, e); });
  };
  const auto shape = shape_of(id);
  return shape && is_open(is_open, *shape);
}

const Quantization* quantization_of(const Program& program, TypeId id) {
  if (!id) return nullptr;
  const Type& type = program[id];
  if (type.kind == TypeKind::Quantized) return type.quantization.get();
  if (type.kind != TypeKind::Tensor || !type.element_type) return nullptr;
  const Type& element = program[type.element_type];
  return element.kind == TypeKind::Quantized ? element.quantization.get() : nullptr;
}

Result<Literal> literal_of(const Program& program, const Attribute& attribute, const Shape& shape) {
  std::shared_ptr<const std::string> data = attribute.data;
  if (attribute.kind == AttributeKind::Resource) {
    const auto found = program.resources.find(attribute.text);
    if (found == program.resources.end() || !found->second)
      return fail(ErrorKind::Format, "the resource '{}' is not in the file", attribute.text);
    data = found->second;
  } else if (attribute.kind != AttributeKind::Tensor) {
    return fail(ErrorKind::Shape, "expected dense elements");
  }
  if (!data || !shape.is_array()) return fail(ErrorKind::Shape, "expected dense elements");
  const size_t element = static_cast<size_t>(storage_bytes(shape.type));
  const size_t given = attribute.is_splat ? element : static_cast<size_t>(literal_bytes(shape));
  if (data->size() != given)
    return fail(ErrorKind::Format, "expected {} bytes of elements for {}, found {}", given,
                to_string_without_layout(shape), data->size());
  Literal out = Literal::uninitialized(shape);
  const std::span<std::byte> to = out.mutable_raw();
  if (!attribute.is_splat && !to.empty()) std::memcpy(to.data(), data->data(), to.size());
  for (size_t i = 0; attribute.is_splat && i < to.size(); i += element)
    std::memcpy(to.data() + i, data->data(), element);
  return out;
}

namespace {

constexpr int64_t max_integers = int64_t{1} << 24;  // of a list in an attribute

Result<Dims> integers_of_tensor(const Program& program, const Attribute& attribute) {
  const Type* type = attribute.type ? &program[attribute.type] : nullptr;
  if (!type || !attribute.data) return fail(ErrorKind::Shape, "expected integers");
  HILO_TRY(
      const ElementType element,
      element_of(program, type->kind == TypeKind::Tensor ? type->element_type : attribute.type));
  const size_t bytes = static_cast<size_t>(storage_bytes(element));
  if (!is_integral(element) && element != ElementType::Pred)
    return fail(ErrorKind::Shape, "expected integers, found {}", text_of(element));
  const int64_t count = attribute.is_splat && type->kind == TypeKind::Tensor
                            ? element_count(type->dims)
                            : static_cast<int64_t>(attribute.data->size() / bytes);
  if (count < 0 || count > max_integers || attribute.data->size() < bytes * (count > 0))
    return fail(ErrorKind::Limit, "a list of {} integers", count);
  Dims out;
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = 0;
    const char* from = attribute.data->data() + (attribute.is_splat ? 0 : i * bytes);
    visit_storage(element, [&]<class T>(std::type_identity<T>) {
      T read;
      std::memcpy(&read, from, sizeof(T));
      if constexpr (std::is_integral_v<T>) value = static_cast<int64_t>(read);
      else if constexpr (requires { static_cast<int>(read); }) value = static_cast<int>(read);
    });
    out.push_back(value);
  }
  return out;
}

}  // namespace

Result<Dims> integers_of(const Program& program, const Attribute& attribute) {
  if (attribute.kind == AttributeKind::Tensor) return integers_of_tensor(program, attribute);
  if (attribute.kind == AttributeKind::Integer || attribute.kind == AttributeKind::Bool)
    return Dims{attribute.integer};
  if (attribute.kind != AttributeKind::Array) return fail(ErrorKind::Shape, "expected integers");
  Dims out;
  for (AttributeId item : attribute.items) {
    if (program[item].kind != AttributeKind::Integer)
      return fail(ErrorKind::Shape, "expected integers");
    out.push_back(program[item].integer);
  }
  return out;
}

}  // namespace hilo::mlir
