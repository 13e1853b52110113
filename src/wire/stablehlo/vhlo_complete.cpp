// Attributes of any version, and of StableHLO's text, as those of VHLO's newest version.
#include <algorithm>

#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {
namespace {

using enum Form;

AttributeId accuracy(Builder& builder) {
  const AttributeId zero = builder.number(0, builder.scalar(ElementType::F64));
  return builder.structure("result_accuracy", {{"atol", zero},
                                               {"rtol", zero},
                                               {"ulps", builder.integer(0)},
                                               {"mode", builder.enumerator("DEFAULT")}});
}

AttributeId first_of(Builder& builder, Form form) {
  if (form == Accuracy) return accuracy(builder);
  if (form == ApiVersion) return builder.enumerator("API_VERSION_ORIGINAL");
  if (form == ComparisonType) return builder.enumerator("NOTYPE");
  const AttributeId precision = builder.enumerator("DEFAULT");
  return builder.array({precision, precision});
}

AttributeId empty_of(Builder& builder, Form form) {
  if (form == Text || form == Config) return builder.string("");
  if (form == Form::Dictionary) return builder.dictionary({});
  if (form == Numbers || form == Pairs) return builder.numbers({});
  return builder.array({});
}

// Dimensions of the op's window; -1 where nothing says it.
int64_t window_rank(const Builder& builder, const Fields& attributes) {
  for (const std::string_view name : {"window_dimensions", "input_spatial_dimensions"})
    if (const AttributeId id = find_field(attributes, name)) {
      const Attribute& list = builder.program[id];
      if (list.kind == AttributeKind::Tensor) return element_count(builder.program[list.type]);
      if (list.kind == AttributeKind::Array) return static_cast<int64_t>(list.items.size());
    }
  return -1;
}

AttributeId fallback_of(Builder& builder, const VhloAttribute& spec, const Fields& attributes) {
  const TypeId integer = builder.scalar(spec.form == I32 ? ElementType::S32 : ElementType::S64);
  // A window has as many dimensions as an array; longer lists are damage.
  constexpr int64_t max_rank = 1 << 16;
  const int64_t rank = window_rank(builder, attributes);
  const bool has_rank = rank >= 0 && rank <= max_rank;
  switch (spec.fallback) {
    case Fallback::Required: return {};
    case Fallback::Zero: return builder.integer(0, integer);
    case Fallback::MinusOne: return builder.integer(-1, integer);
    case Fallback::False:
      if (spec.form == Flags) return has_rank ? builder.flags(false, rank) : AttributeId{};
      return builder.boolean(false);
    case Fallback::Empty: return empty_of(builder, spec.form);
    case Fallback::NoType: return builder.type_attribute(builder.none());
    case Fallback::First: return first_of(builder, spec.form);
    case Fallback::Ones: return has_rank ? builder.splat(1, {rank}) : AttributeId{};
    case Fallback::Zeros: return has_rank ? builder.splat(0, {rank, 2}) : AttributeId{};
  }
  return {};
}

bool is_tensor_of(const Builder& builder, const Attribute& attribute, ElementType element,
                  size_t max_rank) {
  if (attribute.kind != AttributeKind::Tensor) return false;
  const Type& type = builder.program[attribute.type];
  return builder.program[type.element_type].element == element && type.dims.size() <= max_rank &&
         !type.dims.empty();
}

// [n,2], or none.
bool is_list_of_pairs(const Builder& builder, const Attribute& attribute) {
  if (!is_tensor_of(builder, attribute, ElementType::S64, 2)) return false;
  const Type& type = builder.program[attribute.type];
  return element_count(type) == 0 || (type.dims.size() == 2 && type.dims[1] == 2);
}

// A list of integers as a tensor of i64; what is one already stays.
AttributeId as_numbers(Builder& builder, AttributeId id) {
  const Attribute& attribute = builder.program[id];
  if (is_tensor_of(builder, attribute, ElementType::S64, 1)) return id;
  if (attribute.kind == AttributeKind::Tensor) {
    const Dims dims = builder.program[attribute.type].dims;
    const auto values = integers_of(builder.program, attribute);
    return values && dims.size() == 1 ? builder.numbers(*values, dims) : AttributeId{};
  }
  if (attribute.kind != AttributeKind::Array) return {};
  Dims values;
  for (const AttributeId item : attribute.items) {
    if (builder.program[item].kind != AttributeKind::Integer) return {};
    values.push_back(builder.program[item].integer);
  }
  return builder.numbers(std::move(values));
}

bool all_of(const Builder& builder, const Attribute& attribute, AttributeKind kind) {
  return attribute.kind == AttributeKind::Array &&
         std::ranges::all_of(attribute.items,
                             [&](AttributeId item) { return builder.program[item].kind == kind; });
}

AttributeId as_integer(Builder& builder, AttributeId id, ElementType element) {
  const Attribute& attribute = builder.program[id];
  const TypeId type = builder.scalar(element);
  if (attribute.kind != AttributeKind::Integer) return {};
  return attribute.type == type ? id : builder.integer(attribute.integer, type);
}

AttributeId as_boolean(Builder& builder, AttributeId id) {
  const Attribute& attribute = builder.program[id];
  if (attribute.kind == AttributeKind::Bool) return id;
  return attribute.kind == AttributeKind::Unit ? builder.boolean(true) : AttributeId{};
}

AttributeId as_texts(Builder& builder, AttributeId id) {
  const Attribute attribute = builder.program[id];
  if (all_of(builder, attribute, AttributeKind::String)) return id;
  if (!all_of(builder, attribute, AttributeKind::Symbol)) return {};
  std::vector<AttributeId> items;
  for (const AttributeId item : attribute.items)
    items.push_back(builder.string(std::string(builder.program[item].text)));
  return builder.array(std::move(items));
}

AttributeId as_arguments(Builder& builder, AttributeId id) {
  const Attribute& attribute = builder.program[id];
  if (!all_of(builder, attribute, AttributeKind::Dictionary)) return {};
  const bool is_empty = std::ranges::all_of(
      attribute.items, [&](AttributeId item) { return builder.program[item].fields.empty(); });
  return is_empty ? builder.array({}) : id;
}

AttributeId as_enumerator(Builder& builder, AttributeId id, Form form) {
  const Attribute& attribute = builder.program[id];
  if (attribute.kind == AttributeKind::Enum) return id;
  if (form != ApiVersion || attribute.kind != AttributeKind::Integer || attribute.integer < 0)
    return {};
  const std::string_view name = enumerator_of(form, static_cast<uint64_t>(attribute.integer));
  return name.empty() ? AttributeId{} : builder.enumerator(name);
}

AttributeId as_form(Builder& builder, AttributeId id, Form form) {
  const Attribute& attribute = builder.program[id];
  const auto same_if = [&](bool is_right) { return is_right ? id : AttributeId{}; };
  switch (form) {
    case I64: return as_integer(builder, id, ElementType::S64);
    case I32: return as_integer(builder, id, ElementType::S32);
    case F32: return same_if(attribute.kind == AttributeKind::Float);
    case Bool: return as_boolean(builder, id);
    case Text:
      if (attribute.kind == AttributeKind::Symbol)
        return builder.string(std::string(attribute.text));
      return same_if(attribute.kind == AttributeKind::String);
    case Texts: return as_texts(builder, id);
    case Config:
      return same_if(attribute.kind == AttributeKind::String ||
                     attribute.kind == AttributeKind::Dictionary);
    case Form::Dictionary: return same_if(attribute.kind == AttributeKind::Dictionary);
    case List: return same_if(attribute.kind == AttributeKind::Array);
    case Arguments: return as_arguments(builder, id);
    case Layouts: return same_if(all_of(builder, attribute, AttributeKind::Tensor));
    case Constant:
      return same_if(attribute.kind == AttributeKind::Tensor ||
                     attribute.kind == AttributeKind::Resource);
    case Numbers: return as_numbers(builder, id);
    case Groups:
      if (attribute.kind == AttributeKind::Struct) return same_if(attribute.text == "mesh_axes");
      return same_if(is_tensor_of(builder, attribute, ElementType::S64, 2));
    case Pairs: return same_if(is_list_of_pairs(builder, attribute));
    case Flags: return same_if(is_tensor_of(builder, attribute, ElementType::Pred, 1));
    case Precisions: return same_if(all_of(builder, attribute, AttributeKind::Enum));
    case Accuracy:
      return same_if(attribute.kind == AttributeKind::Struct &&
                     attribute.text == "result_accuracy");
    case Any: return id;
    default: return as_enumerator(builder, id, form);
  }
}

}  // namespace

void ungroup(Builder& builder, const VhloOp& op, Fields& attributes) {
  Fields flat;
  std::erase_if(attributes, [&](const auto& field) {
    const Attribute& group = builder.program[field.second];
    if (group.kind != AttributeKind::Struct || !group.text.starts_with("stablehlo.")) return false;
    for (const auto& [part, value] : group.fields) {
      std::string_view name = part;
      if (group.text == "stablehlo.channel_handle")
        name = part == "handle" ? "channel_id" : "channel_type";
      if (std::ranges::find(op.all(), name, &VhloAttribute::name) != op.all().end())
        flat.emplace_back(name, value);
    }
    return true;
  });
  attributes.insert(attributes.end(), flat.begin(), flat.end());
  sort_fields(attributes);
}

std::string complete(Builder& builder, const VhloOp& op, Fields& attributes) {
  Fields missing;
  for (const VhloAttribute& spec : op.all()) {
    const auto found = std::ranges::lower_bound(
        attributes, spec.name, {}, [](const auto& field) { return std::string_view(field.first); });
    const bool is_there = found != attributes.end() && found->first == spec.name;
    if (!spec.is_in(op.newest)) {
      if (is_there) attributes.erase(found);
      continue;
    }
    if (is_there) {
      found->second = as_form(builder, found->second, spec.form);
      if (!found->second) return fmt::format("'{}' is not {}", spec.name, text_of(spec.form));
      continue;
    }
    const AttributeId fallback = fallback_of(builder, spec, attributes);
    if (!fallback) return fmt::format("'{}' is missing, {}", spec.name, text_of(spec.form));
    missing.emplace_back(spec.name, fallback);
  }
  if (missing.empty()) return "";
  attributes.insert(attributes.end(), missing.begin(), missing.end());
  sort_fields(attributes);
  return "";
}

bool is_fallback(const Program& program, const VhloAttribute& spec, const Attribute& from) {
  const auto all_are = [&](int64_t wanted) {
    const auto values = integers_of(program, from);
    return values && !values->empty() &&
           std::ranges::all_of(*values, [&](int64_t one) { return one == wanted; });
  };
  const auto is_first = [&](const Attribute& one) {
    return one.text == "DEFAULT" || one.text == "NOTYPE" || one.text == "API_VERSION_ORIGINAL";
  };
  switch (spec.fallback) {
    case Fallback::Required: return false;
    case Fallback::Zero: return from.integer == 0;
    case Fallback::MinusOne: return from.integer == -1;
    case Fallback::False: return spec.form == Form::Flags ? all_are(0) : from.integer == 0;
    case Fallback::Empty:
      return from.text.empty() && from.items.empty() && from.fields.empty() &&
             (from.kind != AttributeKind::Tensor || element_count(program[from.type]) == 0);
    case Fallback::NoType:
      return from.kind == AttributeKind::Type && program[from.type].kind == TypeKind::None;
    case Fallback::Ones: return all_are(1);
    case Fallback::Zeros: return all_are(0);
    case Fallback::First: break;
  }
  if (spec.form == Form::Accuracy) return program.find(from, "mode")->text == "DEFAULT";
  if (spec.form != Form::Precisions) return is_first(from);
  return std::ranges::all_of(from.items, [&](AttributeId one) { return is_first(program[one]); });
}

}  // namespace hilo::mlir
