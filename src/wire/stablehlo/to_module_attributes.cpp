// What handlers read of their op, checked: a file may hold anything under an attribute's name.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "wire/stablehlo/converter.h"

namespace hilo::mlir {

const Type& Step::result_type(size_t i) const {
  return program()[program()[operation.results[i]].type];
}

Result<Shape> Step::stated(size_t i) {
  if (i >= operation.results.size()) return misfit("expected {} results", i + 1);
  const TypeId type = program()[operation.results[i]].type;
  HILO_TRY(Shape shape, converter.shape_of(type));
  const Quantization* quantised = quantization_of(program(), type);
  if (quantised && row.takes_numbers()) shape.type = quantised->expressed;
  return shape;
}

Result<Shape> Step::concrete(size_t i) {
  HILO_TRY(Shape shape, stated(i));
  for (int64_t dim : shape.dims)
    if (dim == Shape::unbounded)
      return fail(ErrorKind::Unsupported, "nothing says how large the result {} is",
                  to_string_without_layout(shape));
  return shape;
}

const Attribute* Step::find(std::string_view name) const {
  if (asked) asked->emplace(name);
  return attributes ? program().find(*attributes, name) : program().find(operation, name);
}

Result<int64_t> Step::integer(std::string_view name) const {
  const Attribute* found = find(name);
  if (!found) return misfit("the attribute {} is missing", name);
  if (found->kind == AttributeKind::Integer || found->kind == AttributeKind::Bool)
    return found->integer;
  return misfit("expected an integer as attribute {}", name);
}
Result<int64_t> Step::integer(std::string_view name, int64_t otherwise) const {
  return find(name) ? integer(name) : Result<int64_t>(otherwise);
}

Result<bool> Step::flag(std::string_view name, bool otherwise) const {
  const Attribute* found = find(name);
  if (!found) return otherwise;
  if (found->kind == AttributeKind::Unit) return true;
  if (found->kind == AttributeKind::Bool || found->kind == AttributeKind::Integer)
    return found->integer != 0;
  return misfit("expected true or false as attribute {}", name);
}

Result<double> Step::number(std::string_view name) const {
  const Attribute* found = find(name);
  if (!found) return misfit("the attribute {} is missing", name);
  if (found->kind == AttributeKind::Float) return found->number;
  return misfit("expected a number as attribute {}", name);
}

Result<Dims> Step::dims(std::string_view name) const {
  const Attribute* found = find(name);
  if (!found) return misfit("the attribute {} is missing", name);
  auto out = integers_of(program(), *found);
  if (!out) return misfit("the attribute {}: {}", name, out.error().message);
  return out;
}
Result<Dims> Step::dims(std::string_view name, Dims otherwise) const {
  return find(name) ? dims(name) : Result<Dims>(std::move(otherwise));
}

Result<std::string> Step::text(std::string_view name) const {
  const Attribute* found = find(name);
  if (!found) return misfit("the attribute {} is missing", name);
  if (found->kind == AttributeKind::String || found->kind == AttributeKind::Symbol ||
      found->kind == AttributeKind::Enum)
    return found->text;
  return misfit("expected a text as attribute {}", name);
}
Result<std::string> Step::text(std::string_view name, std::string otherwise) const {
  return find(name) ? text(name) : Result<std::string>(std::move(otherwise));
}

Result<void> Step::need_array(size_t operand) const {
  if (operand < count() && shape(operand).is_array()) return {};
  return misfit("expected an array as operand {}", operand);
}

Result<void> Step::need_regions(size_t count) const {
  if (operation.regions.size() == count) return {};
  return misfit("expected {} regions, found {}", count, operation.regions.size());
}

Result<void> Step::need_operands(size_t at_least) const {
  if (count() >= at_least) return {};
  return misfit("expected at least {} operands, found {}", at_least, count());
}

namespace {

constexpr int deepest_attribute = 64;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 32 || c == 127)
      out += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out + '"';
}

std::string text_of_element(ElementType type) {
  if (type == ElementType::Pred) return "i1";
  if (is_signed(type)) return fmt::format("i{}", bits_of(type));
  if (is_unsigned(type)) return fmt::format("ui{}", bits_of(type));
  if (is_complex(type)) return fmt::format("complex<f{}>", bits_of(type) / 2);
  return std::string(text_of(type));
}

std::string text_of_type(const Program& program, TypeId id, int depth = 0) {
  if (!id || depth > deepest_attribute) return "none";
  const Type& type = program[id];
  if (type.kind == TypeKind::Scalar) return text_of_element(type.element);
  if (type.kind == TypeKind::Index) return "index";
  if (type.kind != TypeKind::Tensor) return type.text.empty() ? "none" : type.text;
  std::string out = "tensor<";
  for (int64_t dim : type.dims) out += dim == Type::dynamic ? "?x" : fmt::format("{}x", dim);
  return out + text_of_type(program, type.element_type, depth + 1) + ">";
}

// As MLIR: enough digits to read the same value back.
std::string text_of_number(double number) {
  if (!std::isfinite(number)) return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(number));
  const std::string brief = fmt::format("{:.6e}", number);
  return std::strtod(brief.c_str(), nullptr) == number ? brief : fmt::format("{:.17e}", number);
}

std::string text_of_value(const Literal& literal, int64_t at) {
  if (literal.type() == ElementType::Pred) return literal.integer_at(at) ? "true" : "false";
  if (is_floating(literal.type())) return text_of_number(literal.number_at(at));
  if (is_unsigned(literal.type()))
    return fmt::format("{}", static_cast<uint64_t>(literal.integer_at(at)));
  return fmt::format("{}", literal.integer_at(at));
}

void append_nested(std::string& out, const Literal& literal, size_t dim, int64_t& at) {
  const Dims& dims = literal.shape().dims;
  if (dim == dims.size()) {
    out += text_of_value(literal, at++);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < dims[dim]; ++i) {
    if (i > 0) out += ", ";
    append_nested(out, literal, dim + 1, at);
  }
  out += ']';
}

// dense<[1, 2]> : tensor<2xi64>, or array<i64: 1, 2> where the type is that of an element.
Result<std::string> text_of_tensor(const Program& program, const Attribute& attribute) {
  if (!attribute.type) return fail(ErrorKind::Shape, "elements without a type");
  const Type& type = program[attribute.type];
  const bool is_tensor = type.kind == TypeKind::Tensor;
  const TypeId element = is_tensor ? type.element_type : attribute.type;
  if (!element ||
      (program[element].kind != TypeKind::Scalar && program[element].kind != TypeKind::Index))
    return fail(ErrorKind::Unsupported, "elements of this type as text");
  const ElementType stored =
      program[element].kind == TypeKind::Index ? ElementType::S64 : program[element].element;
  if (!is_array(stored) || is_complex(stored))
    return fail(ErrorKind::Unsupported, "elements of the type {} as text", text_of(stored));
  const auto bytes = static_cast<size_t>(storage_bytes(stored));
  Dims dims = is_tensor && !attribute.is_splat ? type.dims : Dims();
  if (!is_tensor)
    dims = {static_cast<int64_t>(attribute.data ? attribute.data->size() / bytes : 0)};
  for (int64_t dim : dims)
    if (dim < 0) return fail(ErrorKind::Shape, "elements of an unknown number");
  Attribute whole = attribute;
  whole.is_splat = false;
  HILO_TRY(const Literal literal, literal_of(program, whole, Shape::array(stored, dims)));
  std::string out;
  int64_t at = 0;
  if (literal.count() > 0) append_nested(out, literal, 0, at);
  if (is_tensor) return fmt::format("dense<{}> : {}", out, text_of_type(program, attribute.type));
  if (!out.empty()) out = out.substr(1, out.size() - 2);
  return fmt::format("array<{}{}{}>", text_of_type(program, attribute.type),
                     out.empty() ? "" : ": ", out);
}

Result<std::string> text_of_list(const Program& program, const Attribute& attribute, int depth) {
  std::string out = "[";
  for (AttributeId item : attribute.items) {
    HILO_TRY(const std::string text, text_of_attribute(program, program[item], depth + 1));
    out += (out.size() > 1 ? ", " : "") + text;
  }
  return out + "]";
}

Result<std::string> text_of_dictionary(const Program& program, const Attribute& attribute,
                                       int depth) {
  std::string out = "{";
  for (const auto& [name, value] : attribute.fields) {
    out += (out.size() > 1 ? ", " : "") + name;
    if (program[value].kind == AttributeKind::Unit) continue;
    HILO_TRY(const std::string text, text_of_attribute(program, program[value], depth + 1));
    out += " = " + text;
  }
  return out + "}";
}

}  // namespace

Result<std::string> text_of_attribute(const Program& program, const Attribute& attribute,
                                      int depth) {
  if (depth > deepest_attribute) return fail(ErrorKind::Limit, "attributes are nested too deep");
  switch (attribute.kind) {
    case AttributeKind::Unit: return "unit";
    case AttributeKind::Bool: return attribute.integer ? "true" : "false";
    case AttributeKind::Integer: {
      const std::string type = text_of_type(program, attribute.type);
      if (type.starts_with('u'))
        return fmt::format("{} : {}", static_cast<uint64_t>(attribute.integer), type);
      return fmt::format("{} : {}", attribute.integer, type);
    }
    case AttributeKind::Float:
      return fmt::format("{} : {}", text_of_number(attribute.number),
                         text_of_type(program, attribute.type));
    case AttributeKind::String: return quoted(attribute.text);
    case AttributeKind::Symbol: return "@" + attribute.text;
    case AttributeKind::Type: return text_of_type(program, attribute.type);
    case AttributeKind::Enum: return attribute.text;
    case AttributeKind::Array: return text_of_list(program, attribute, depth);
    case AttributeKind::Dictionary: return text_of_dictionary(program, attribute, depth);
    case AttributeKind::Tensor: return text_of_tensor(program, attribute);
    case AttributeKind::Struct:
    case AttributeKind::Resource: break;
  }
  return fail(ErrorKind::Unsupported, "an attribute {} as text", attribute.text);
}

}  // namespace hilo::mlir
