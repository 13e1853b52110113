// Manual computations of Shardy: each device works on its own tiles. As JAX hands them over in HLO:
// one custom call for the values that enter, one for those that leave.
#include <algorithm>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

// A call that begins or ends a region, of all arrays together; tokens pass by.
struct RegionEdge {
  std::string_view target, attribute;   // xla.sdy.in_shardings or out_shardings
  std::vector<AxisSharding> shardings;  // of all values
};

Result<std::vector<AxisSharding>> shardings_in(Step& step, std::string_view name, size_t n) {
  const Attribute* found = step.find(name);
  if (found && found->text == "sdy.per_value") found = step.program().find(*found, "shardings");
  if (!found || found->items.size() != n)
    return step.misfit("expected {} shardings as {}", n, name);
  std::vector<AxisSharding> out;
  for (AttributeId item : found->items) {
    HILO_TRY(out.emplace_back(), step.converter.sharding_of(step.program()[item]));
  }
  return out;
}

// #sdy<manual_axes{"x", "y"}>
Result<std::string> manual_axes_in(const Step& step) {
  const Attribute* found = step.find("manual_axes");
  if (found && found->text == "sdy.manual_axes") found = step.program().find(*found, "names");
  if (!found) return step.misfit("the attribute manual_axes is missing");
  std::string out;
  for (AttributeId item : found->items)
    out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", step.program()[item].text);
  return "#sdy<manual_axes{" + out + "}>";
}

// The values on the other side of the edge, whose shapes these are.
Result<std::vector<InstructionId>> cross(Step& step, const RegionEdge& edge,
                                         std::span<const InstructionId> values,
                                         std::span<const Shape> shapes) {
  Converter& converter = step.converter;
  std::vector<InstructionId> out(values.begin(), values.end()), arrays;
  std::vector<AxisSharding> shardings;
  std::vector<Shape> stated;
  for (size_t i = 0; i < values.size(); ++i)
    if (shapes[i].is_array()) {
      arrays.push_back(values[i]);
      shardings.push_back(edge.shardings[i]);
      stated.push_back(shapes[i]);
    }
  if (arrays.empty()) return out;
  CustomCallAttributes attributes;
  attributes.custom_call_target = edge.target;
  attributes.custom_call_has_side_effect = true;
  const Shape shape = stated.size() == 1 ? stated[0] : Shape::tuple(stated);
  HILO_TRY(const InstructionId call,
           step.add(Op::CustomCall, arrays, std::move(attributes), &shape));
  HILO_TRY(std::string manual, manual_axes_in(step));
  FrontendAttributes& said = step.module().mutable_extra(call).frontend_attributes;
  said["xla.sdy.manual_axes"] = {std::move(manual), false};
  said[std::string(edge.attribute)] = {print_shardy(shardings, converter.meshes), false};
  HILO_TRY(const auto crossed, converter.untuple(step.scope, call, arrays.size(), step.origin));
  for (size_t i = 0, next = 0; i < out.size(); ++i)
    if (shapes[i].is_array()) out[i] = crossed[next++];
  return out;
}

Result<void> enter_region(Step& step, const Block& block) {
  std::vector<Shape> local;
  for (ValueId argument : block.arguments) {
    HILO_TRY(local.emplace_back(), step.converter.shape_of(step.program()[argument].type));
  }
  HILO_TRY(auto shardings, shardings_in(step, "in_shardings", step.count()));
  HILO_TRY(const auto values,
           cross(step, {"xla.sdy.GlobalToLocalShape", "xla.sdy.in_shardings", std::move(shardings)},
                 step.operands, local));
  for (size_t i = 0; i < values.size(); ++i) step.scope.values[block.arguments[i]] = values[i];
  return {};
}

Result<void> leave_region(Step& step, std::span<const InstructionId> results) {
  std::vector<Shape> full;
  for (size_t i = 0; i < results.size(); ++i) {
    HILO_TRY(full.emplace_back(), step.concrete(i));
  }
  HILO_TRY(auto shardings, shardings_in(step, "out_shardings", step.result_count()));
  HILO_TRY(
      const auto values,
      cross(step, {"xla.sdy.LocalToGlobalShape", "xla.sdy.out_shardings", std::move(shardings)},
            results, full));
  for (size_t i = 0; i < values.size(); ++i) HILO_DO(step.give(i, values[i]));
  return {};
}

}  // namespace

Result<void> convert_manual_computation(Step& step) {
  HILO_DO(step.need_regions(1));
  Converter& converter = step.converter;
  HILO_TRY(const Block* block, converter.only_block(step.operation.regions[0]));
  if (block->arguments.size() != step.count())
    return step.misfit("expected a region of {} arguments", step.count());
  HILO_DO(enter_region(step, *block));
  HILO_DO(converter.enter());
  HILO_TRY(const auto results, converter.convert_block(step.scope, *block));
  converter.leave();
  if (results.size() != step.result_count())
    return step.misfit("the region gives {} results, not {}", results.size(), step.result_count());
  return leave_region(step, results);
}

// A name around ops says nothing of their values.
Result<void> convert_named_computation(Step& step) {
  HILO_DO(step.need_regions(1));
  HILO_TRY(const Block* block, step.converter.only_block(step.operation.regions[0]));
  if (block->arguments.size() != step.count())
    return step.misfit("expected a region of {} arguments", step.count());
  for (size_t i = 0; i < step.count(); ++i)
    step.scope.values[block->arguments[i]] = step.operands[i];
  HILO_DO(step.converter.enter());
  HILO_TRY(const auto results, step.converter.convert_block(step.scope, *block));
  step.converter.leave();
  if (results.size() != step.result_count())
    return step.misfit("the region gives {} results, not {}", results.size(), step.result_count());
  for (size_t i = 0; i < results.size(); ++i) HILO_DO(step.give(i, results[i]));
  return {};
}

}  // namespace hilo::mlir
