// Custom calls: targets, layouts, aliases, and configurations as text or as the dictionary of a
// typed call.
#include <algorithm>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

// The row of CHLO's op that a custom call without a dialect names: "mhlo.erf" is chlo.erf. Null for
// other targets.
const Row* find_native(std::string_view target) {
  constexpr std::string_view prefix = "mhlo.";
  if (!target.starts_with(prefix)) return nullptr;
  target.remove_prefix(prefix.size());
  const Row* row = find_row(fmt::format("chlo.{}", target == "topk" ? "top_k" : target));
  return row && row->operands > 0 ? row : nullptr;
}

// What stands beside the settings of such a call.
void warn_of_unknown(const Step& step, std::string_view target) {
  for (const auto& [name, value] : step.operation.attributes) {
    const Attribute& given = step.program()[value];
    if (name == "mhlo.version" && (given.kind != AttributeKind::Integer || given.integer != 1))
      step.warn("'{}' is of another mhlo.version than 1: read as of that one", target);
    else if (name.ends_with("backend_config") && !(given.text.empty() && given.fields.empty()))
      step.warn("'{}' has no {}: dropped", target, name);
  }
}

Result<CustomCallApiVersion> api_version_of(const Step& step) {
  const Attribute* found = step.find("api_version");
  if (!found) return CustomCallApiVersion::Original;
  static constexpr auto texts = enum_texts(std::type_identity<CustomCallApiVersion>());
  for (size_t i = 0; i < texts.size(); ++i)
    if (found->kind == AttributeKind::Integer
            ? found->integer == texts[i].number
            : found->text == texts[i].text || "API_VERSION_" + found->text == texts[i].text)
      return static_cast<CustomCallApiVersion>(i);
  return step.misfit("an unknown api_version");
}

// A layout for each array: a list of its dimensions, minor to major; an empty one says nothing.
Result<void> lay_out(const Step& step, std::string_view name, std::span<Shape* const> shapes) {
  const Attribute* list = step.find(name);
  if (!list || list->kind != AttributeKind::Array || list->items.empty()) return {};
  if (list->items.size() != shapes.size())
    return step.misfit("expected {} layouts as {}, found {}", shapes.size(), name,
                       list->items.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    HILO_TRY(Dims order, integers_of(step.program(), step.program()[list->items[i]]));
    if (order.empty()) continue;
    if (!shapes[i]->is_array())
      return step.misfit("{}: only arrays have a layout, {} is {}", name, i,
                         to_string_without_layout(*shapes[i]));
    shapes[i]->layout.minor_to_major = std::move(order);
    shapes[i]->has_layout = true;
    if (const std::string fault = layout_fault(*shapes[i]); !fault.empty())
      return step.misfit("{}: {}", name, fault);
  }
  return {};
}

Result<Shape> result_shape(Step& step) {
  std::vector<Shape> results;
  for (size_t i = 0; i < step.result_count(); ++i) {
    HILO_TRY(results.emplace_back(), step.concrete(i));
  }
  Shape out = results.size() == 1 ? std::move(results[0]) : Shape::tuple(std::move(results));
  std::vector<Shape*> arrays;
  if (out.is_tuple())
    for (Shape& element : out.elements) arrays.push_back(&element);
  else arrays.push_back(&out);
  HILO_DO(lay_out(step, "result_layouts", arrays));
  return out;
}

// Layouts are said of operands and results, or of neither.
Result<void> need_both_layouts(const Step& step) {
  const auto is_said = [&](std::string_view name) {
    const Attribute* list = step.find(name);
    return list && list->kind == AttributeKind::Array && !list->items.empty();
  };
  const bool operands = is_said("operand_layouts"), results = is_said("result_layouts");
  if ((operands && !results && step.result_count() > 0) ||
      (results && !operands && step.count() > 0))
    return step.misfit("expected operand_layouts and result_layouts, or neither");
  return {};
}

Result<void> constrain_operands(Step& step, CustomCallAttributes& to) {
  const Attribute* layouts = step.find("operand_layouts");
  if (!layouts || layouts->kind != AttributeKind::Array || layouts->items.empty()) return {};
  std::vector<Shape> shapes;
  std::vector<Shape*> pointers;
  for (size_t i = 0; i < step.count(); ++i) shapes.push_back(step.shape(i));
  for (Shape& shape : shapes) pointers.push_back(&shape);
  HILO_DO(lay_out(step, "operand_layouts", pointers));
  to.operand_layout_constraints = std::move(shapes);
  return {};
}

Result<Dims> index_of(const Step& step, const Attribute& alias, std::string_view name) {
  const Attribute* found = step.program().find(alias, name);
  return found ? integers_of(step.program(), *found) : Result<Dims>(Dims());
}

Result<OutputOperandAliases> aliases_of(const Step& step) {
  OutputOperandAliases out;
  const Attribute* list = step.find("output_operand_aliases");
  if (!list || list->kind != AttributeKind::Array) return out;
  for (AttributeId item : list->items) {
    const Attribute& from = step.program()[item];
    OutputOperandAlias& alias = out.emplace_back();
    HILO_TRY(alias.output_index, index_of(step, from, "output_index"));
    HILO_TRY(alias.operand_index, index_of(step, from, "operand_index"));
    const Attribute* operand = step.program().find(from, "operand");
    if (!operand || operand->kind != AttributeKind::Integer)
      return step.misfit("an alias without an operand");
    alias.operand = operand->integer;
  }
  return out;
}

Result<std::vector<ComputationId>> called_by(Step& step) {
  std::vector<ComputationId> out;
  const Attribute* list = step.find("called_computations");
  if (!list || list->kind != AttributeKind::Array) return out;
  for (AttributeId item : list->items) {
    HILO_TRY(const auto function, step.converter.declared(step.program()[item].text));
    out.push_back(function.computation);
  }
  return out;
}

struct Config {
  std::string text;
  bool is_dictionary = false;
};

Result<Config> config_of(const Step& step, CustomCallApiVersion version) {
  const Attribute* typed = step.find("mhlo.backend_config");
  const Attribute* given = step.find("backend_config");
  const bool is_typed = version == CustomCallApiVersion::TypedFfi;
  if (given && (is_typed ? given->kind == AttributeKind::String && !given->text.empty()
                         : given->kind == AttributeKind::Dictionary))
    return step.misfit("expected {} as backend_config of api_version {}",
                       is_typed ? "a dictionary" : "a text", static_cast<int>(version));
  if (given && given->kind == AttributeKind::Dictionary) typed = given;
  if (!typed) return Config{given ? given->text : std::string(), false};
  HILO_TRY(std::string text, text_of_attribute(step.program(), *typed));
  return Config{std::move(text), true};
}

// The best of each row by a comparator, in order: what is computed is exact. Operands: arrays and
// their initial values, which pad what is split. Rows that are not aggregated keep as many elements
// as the results say, which is top_k and more.
Result<void> convert_approx_top_k(Step& step) {
  const Attribute* typed = step.find("mhlo.backend_config");
  const auto setting = [&](std::string_view name, AttributeKind kind) -> const Attribute* {
    const Attribute* found = typed ? step.program().find(*typed, name) : nullptr;
    return found && found->kind == kind ? found : nullptr;
  };
  const Attribute* k = setting("top_k", AttributeKind::Integer);
  const Attribute* dim = setting("reduction_dim", AttributeKind::Integer);
  const size_t n = step.count() / 2;
  if (!k || !dim || n == 0 || step.count() != 2 * n)
    return step.misfit("expected top_k, reduction_dim and pairs of operands");
  HILO_TRY(const auto called, called_by(step));
  if (called.size() != 1) return step.misfit("expected one comparator");
  SortAttributes sort{{dim->integer}, true, called[0]};
  HILO_TRY(const InstructionId sorted,
           step.add(Op::Sort, std::span(step.operands).first(n), std::move(sort)));
  const Attribute* aggregates = setting("aggregate_to_topk", AttributeKind::Bool);
  int64_t limit = k->integer;
  if (aggregates && aggregates->integer == 0 && step.result_count() > 0) {
    HILO_TRY(const Shape stated, step.concrete(0));
    if (dim->integer < stated.rank()) limit = stated.dims[static_cast<size_t>(dim->integer)];
  }
  HILO_TRY(const auto rows, step.converter.untuple(step.scope, sorted, n, step.origin));
  for (size_t i = 0; i < n; ++i) {
    SliceAttributes best;
    for (int64_t size : step.module().shape(rows[i]).dims) best.slice.dims.push_back({0, size, 1});
    best.slice.dims[dim->integer].limit = limit;
    HILO_TRY(const InstructionId value, step.add(Op::Slice, {rows[i]}, std::move(best)));
    HILO_DO(step.give(i, value));
  }
  return {};
}

}  // namespace

Result<void> convert_custom_call(Step& step) {
  CustomCallAttributes attributes;
  HILO_TRY(attributes.custom_call_target, step.text("call_target_name"));
  const std::string& target = attributes.custom_call_target;
  if (target == "shape_assertion") return check_shape_assertion(step);
  if (target == "ApproxTopK") return convert_approx_top_k(step);
  if (const Row* row = find_native(target)) {
    HILO_TRY(const bool is_done, convert_as(step, row->name, step.find("mhlo.attributes")));
    if (!is_done)
      return step.misfit("'{}' takes arrays, {} of them, and gives {}", target, row->operands,
                         row->results);
    warn_of_unknown(step, target);
    return {};
  }
  HILO_TRY(attributes.api_version, api_version_of(step));
  HILO_TRY(attributes.custom_call_has_side_effect, step.flag("has_side_effect"));
  HILO_TRY(attributes.output_to_operand_aliasing, aliases_of(step));
  HILO_TRY(attributes.called_computations, called_by(step));
  HILO_DO(need_both_layouts(step));
  HILO_DO(constrain_operands(step, attributes));
  HILO_TRY(const Config config, config_of(step, attributes.api_version));
  if (config.is_dictionary) attributes.api_version = CustomCallApiVersion::TypedFfi;
  HILO_TRY(const Shape shape, result_shape(step));
  HILO_TRY(const InstructionId value,
           step.add(Op::CustomCall, step.operands, std::move(attributes), &shape));
  if (!config.text.empty()) {
    Extra& extra = step.module().mutable_extra(value);
    extra.backend_config = step.module().strings.copy(config.text);
    extra.backend_config_is_json = config.is_dictionary;
  }
  return step.give(value);
}

}  // namespace hilo::mlir
