// Manual computations of Shardy: each device works on its own tiles. As XLA writes them: a Sharding
// and an SPMDFullToShardShape for each value that enters, a Sharding and an SPMDShardToFullShape
// for each that leaves.
#include <algorithm>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

// Shardings of operands or results, one a value.
Result<std::vector<AttributeId>> shardings_in(const Step& step, std::string_view name, size_t n) {
  const Attribute* found = step.find(name);
  if (found && found->text == "sdy.per_value") found = step.program().find(*found, "shardings");
  if (!found || found->items.size() != n)
    return step.misfit("expected {} shardings as {}", n, name);
  return found->items;
}

Result<std::vector<std::string>> axes_of(const Step& step) {
  std::vector<std::string> out;
  const Attribute* found = step.find("manual_axes");
  if (found && found->text == "sdy.manual_axes") found = step.program().find(*found, "names");
  if (!found) return step.misfit("the attribute manual_axes is missing");
  for (AttributeId item : found->items) out.push_back(step.program()[item].text);
  return out;
}

Result<InstructionId> call_target(Step& step, std::string_view target, InstructionId value,
                                  const Shape& shape, const Sharding& sharding) {
  CustomCallAttributes attributes;
  attributes.custom_call_target = target;
  HILO_TRY(const InstructionId out,
           step.add(Op::CustomCall, {value}, std::move(attributes), &shape));
  step.module().mutable_extra(out).sharding = std::make_shared<const Sharding>(sharding);
  return out;
}

// What a value of this rank is inside: manual over the region's axes, open over the others.
Result<Sharding> manual_sharding(Step& step, const Attribute& outside, int64_t rank) {
  const Attribute* mesh = step.program().find(outside, "mesh");
  if (!mesh) return step.misfit("a sharding without a mesh");
  HILO_TRY(SharedMesh on, step.converter.mesh_of(*mesh));
  return step.converter.in_region(replicated_sharding(std::move(on), static_cast<size_t>(rank)));
}

Result<InstructionId> enter_region(Step& step, size_t i, const Attribute& sharding,
                                   const Sharding& outside, ValueId inside) {
  HILO_TRY(const Shape local, step.converter.shape_of(step.program()[inside].type));
  if (!local.is_array()) return step.operands[i];
  HILO_TRY(const InstructionId marked,
           step.converter.marked(step.scope, step.operands[i], outside, step.origin));
  HILO_TRY(const Sharding manual, manual_sharding(step, sharding, local.rank()));
  return call_target(step, "SPMDFullToShardShape", marked, local, manual);
}

Result<InstructionId> leave_region(Step& step, size_t i, const Attribute& sharding,
                                   const Sharding& outside, InstructionId value) {
  HILO_TRY(const Shape full, step.concrete(i));
  if (!full.is_array()) return value;
  HILO_TRY(const Sharding manual, manual_sharding(step, sharding, full.rank()));
  HILO_TRY(const InstructionId marked,
           step.converter.marked(step.scope, value, manual, step.origin));
  return call_target(step, "SPMDShardToFullShape", marked, full, outside);
}

}  // namespace

Result<void> convert_manual_computation(Step& step) {
  HILO_DO(step.need_regions(1));
  Converter& converter = step.converter;
  HILO_TRY(const Block* block, converter.only_block(step.operation.regions[0]));
  if (block->arguments.size() != step.count())
    return step.misfit("expected a region of {} arguments", step.count());
  HILO_TRY(const auto in, shardings_in(step, "in_shardings", step.count()));
  HILO_TRY(const auto out, shardings_in(step, "out_shardings", step.result_count()));
  HILO_TRY(const std::vector<std::string> axes, axes_of(step));
  std::vector<Sharding> outside;
  for (AttributeId id : in) {
    HILO_TRY(outside.emplace_back(), converter.sharding_of(step.program()[id]));
  }
  std::vector<Sharding> results_outside;
  for (AttributeId id : out) {
    HILO_TRY(results_outside.emplace_back(), converter.sharding_of(step.program()[id]));
  }
  const std::vector<std::string> around = converter.manual_axes;
  converter.manual_axes.insert(converter.manual_axes.end(), axes.begin(), axes.end());
  for (size_t i = 0; i < step.count(); ++i) {
    HILO_TRY(step.scope.values[block->arguments[i]],
             enter_region(step, i, step.program()[in[i]], outside[i], block->arguments[i]));
  }
  HILO_DO(converter.enter());
  HILO_TRY(const auto results, converter.convert_block(step.scope, *block));
  converter.leave();
  if (results.size() != step.result_count())
    return step.misfit("the region gives {} results, not {}", results.size(), step.result_count());
  for (size_t i = 0; i < results.size(); ++i) {
    HILO_TRY(const InstructionId full,
             leave_region(step, i, step.program()[out[i]], results_outside[i], results[i]));
    HILO_DO(step.give(i, full));
  }
  converter.manual_axes = around;
  return {};
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
