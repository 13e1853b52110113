#include "compile/transform.h"

#include <algorithm>

#include "rewrite/rewrite.h"
#include "verify/verify.h"

namespace hilo {
namespace {

std::vector<Shape> arrays_of(const Module& module) {
  std::vector<Shape> out;
  for (InstructionId parameter : module[module.entry].parameters)
    out.push_back(module.shape(parameter));
  out.push_back(module.shape(module[module.entry].root));
  return out;
}

InstructionId fusion_of(Editor& editor, InstructionId step) {
  Module& module = editor.module();
  const auto operands = module.operands(step);
  const std::vector<InstructionId> outside(operands.begin(), operands.end());
  const ComputationId body = module.add_computation(fmt::format("fused_{}", module[step].name));
  std::vector<InstructionId> inside;
  for (InstructionId operand : outside)
    inside.push_back(editor.add_parameter(body, operand, Shape(module.shape(operand))));
  module[body].root = editor.clone(step, body, inside);
  const InstructionId out = editor.add(step, Op::Fusion, Shape(module.shape(step)), outside,
                                       FusionAttributes{FusionKind::Loop, {}, body});
  editor.replace(step, out);
  return out;
}

}  // namespace

Result<bool> transform(Module& module, TransformStage stage, const ModuleTransform& change) {
  if (!change) return false;
  ModuleHeader header = module.header;
  const std::vector<Shape> arrays = arrays_of(module);
  HILO_TRY(const bool is_changed, change(stage, module));
  if (!is_changed) return false;
  // What concerns callers stays.
  header.is_scheduled = module.header.is_scheduled;
  header.stack_frames = std::move(module.header.stack_frames);
  module.header = std::move(header);
  if (!std::ranges::equal(arrays, arrays_of(module), same_dims))
    return fail(ErrorKind::Structure,
                "{}: a transformation changes what the program takes or gives", module.header.name);
  HILO_DO(check_module(module));
  return true;
}

Module in_order_of(const Plan& plan, Module module) {
  std::vector<std::vector<InstructionId>> orders = schedule_of(module).orders;
  for (size_t c = 0; c < orders.size(); ++c)  // the plan has none of bodies of fusions
    if (plan.schedule.orders[c].size() == orders[c].size()) orders[c] = plan.schedule.orders[c];
  std::vector<InstructionId> now(module.instructions.size());  // in place of each
  for (uint32_t i = 0; i < now.size(); ++i) now[i] = {i};
  Editor editor(module);
  for (const std::vector<Command>& commands : plan.commands.orders)
    for (const Command& command : commands) {
      const InstructionId step = command.instruction;
      if (is_elementwise(module[step].op) && !editor.is_pinned(step))
        now[step.value] = fusion_of(editor, step);
    }
  for (size_t c = 0; c < orders.size(); ++c) {
    for (InstructionId& step : orders[c]) step = now[step.value];
    module.computations[c].instructions = std::move(orders[c]);
  }
  restore_order(module, static_cast<uint32_t>(now.size()));  // of computations
  module.header.is_scheduled = true;
  return module;
}

}  // namespace hilo
