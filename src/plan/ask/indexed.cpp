// Ops whose elements lie where data say.
#include "plan/ask/ask.h"

namespace hilo {
namespace {

// Starts are scalars, one for each dimension.
Answer ask_dynamic_slice(KernelQuestion& question, InstructionId id, size_t) {
  const Module& module = question.module;
  const size_t rank = module.shape(module.operand(id, 0)).dims.size();
  if (module.operands(id).size() != rank + 1)
    return KernelQuestion::no(NoKernel::StartsInOneArray, id);
  return question.operands(id);
}

Answer ask_dynamic_update_slice(KernelQuestion& question, InstructionId id, size_t) {
  const Module& module = question.module;
  if (module.operands(id).size() != module.shape(id).dims.size() + 2)
    return KernelQuestion::no(NoKernel::StartsInOneArray, id);
  return question.operands(id);
}

// Of an array without elements the result is zero.
Answer ask_gather(KernelQuestion& question, InstructionId id, size_t) {
  const Module& module = question.module;
  if (element_count(module.shape(module.operand(id, 0))) == 0) return {};
  return question.operands(id);
}

Answer ask_scatter(KernelQuestion& question, InstructionId id) {
  const Module& module = question.module;
  if (module.operands(id).size() != 3 ||
      module.shape(module.operand(id, 2)).type != module.shape(id).type)
    return KernelQuestion::no(NoKernel::SeveralTypes, id);
  if (Answer refused = question.operands(id)) return refused;
  return question.applied(module.attributes<ScatterAttributes>(id).to_apply);
}

}  // namespace

const OpCommands commands_of_DynamicSlice = {.element = ask_dynamic_slice};
const OpCommands commands_of_DynamicUpdateSlice = {.element = ask_dynamic_update_slice};
const OpCommands commands_of_Gather = {.element = ask_gather};
const OpCommands commands_of_Scatter = {.loops = ask_scatter};

}  // namespace hilo
