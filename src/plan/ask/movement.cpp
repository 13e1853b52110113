// Ops whose elements are those of their operands.
#include "plan/ask/ask.h"

namespace hilo {
namespace {

Answer ask_operands(KernelQuestion& question, InstructionId id, size_t) {
  return question.operands(id);
}

Answer ask_copy(KernelQuestion& question, InstructionId id, size_t leaf) {
  return question.element(question.module.operand(id, 0), leaf);
}

// A bitcast is a reshape of dense arrays.
Answer ask_bitcast(KernelQuestion& question, InstructionId id, size_t) {
  const Module& module = question.module;
  if (module.shape(module.operand(id, 0)).type != module.shape(id).type)
    return KernelQuestion::no(NoKernel::OtherElementType, id);
  return question.operand(id, 0);
}

Answer ask_concatenate(KernelQuestion& question, InstructionId id, size_t) {
  const Module& module = question.module;
  const auto dim = static_cast<size_t>(module.attributes<DimensionsAttributes>(id).dimensions[0]);
  if (module.shape(id).dims[dim] == 0) return KernelQuestion::no(NoKernel::NoElements, id);
  return question.operands(id);
}

}  // namespace

const OpCommands commands_of_Bitcast = {StepForm::Nothing, ask_bitcast};
const OpCommands commands_of_BitcastConvert = {.element = ask_operands};
const OpCommands commands_of_Broadcast = {.element = ask_operands};
const OpCommands commands_of_Concatenate = {.element = ask_concatenate};
const OpCommands commands_of_Copy = {StepForm::Copy, ask_copy};
const OpCommands commands_of_Pad = {.element = ask_operands};
const OpCommands commands_of_Reshape = {.element = ask_operands};
const OpCommands commands_of_Reverse = {.element = ask_operands};
const OpCommands commands_of_Slice = {.element = ask_operands};
const OpCommands commands_of_Transpose = {.element = ask_operands};

}  // namespace hilo
