// Sources, tuples, fusions, calls and control.
#include "plan/ask/ask.h"

namespace hilo {
namespace {

Answer ask_anything(KernelQuestion&, InstructionId, size_t) { return {}; }

Answer ask_same_leaf(KernelQuestion& question, InstructionId id, size_t leaf) {
  return question.element(question.module.operand(id, 0), leaf);
}

Answer ask_get_tuple_element(KernelQuestion& question, InstructionId id, size_t leaf) {
  const Module& module = question.module;
  const InstructionId tuple = module.operand(id, 0);
  const auto element = static_cast<size_t>(module.attributes<GetTupleElementAttributes>(id).index);
  return question.element(tuple, first_leaf(module.shape(tuple), element) + leaf);
}

Answer ask_tuple(KernelQuestion& question, InstructionId id, size_t leaf) {
  const Shape& shape = question.module.shape(id);
  size_t element = 0;
  while (leaf >= static_cast<size_t>(leaf_count(shape.elements[element])))
    leaf -= static_cast<size_t>(leaf_count(shape.elements[element++]));
  return question.element(question.module.operand(id, element), leaf);
}

Answer ask_fusion(KernelQuestion& question, InstructionId id, size_t leaf) {
  if (Answer refused = question.bind(id)) return refused;
  const Module& module = question.module;
  return question.element(module[module.attributes<FusionAttributes>(id).calls].root, leaf);
}

}  // namespace

const OpCommands commands_of_AddDependency = {.form = StepForm::Nothing};
const OpCommands commands_of_AfterAll = {.form = StepForm::Nothing};
const OpCommands commands_of_Call = {.form = StepForm::Call};
const OpCommands commands_of_Conditional = {.form = StepForm::Branch};
const OpCommands commands_of_Constant = {.form = StepForm::Nothing};
const OpCommands commands_of_Domain = {.form = StepForm::Nothing};
const OpCommands commands_of_Fusion = {.element = ask_fusion};
const OpCommands commands_of_GetTupleElement = {StepForm::Nothing, ask_get_tuple_element};
const OpCommands commands_of_Iota = {.element = ask_anything};
const OpCommands commands_of_OptimizationBarrier = {StepForm::Nothing, ask_same_leaf};
const OpCommands commands_of_Parameter = {.form = StepForm::Nothing};
const OpCommands commands_of_Tuple = {StepForm::Nothing, ask_tuple};
const OpCommands commands_of_While = {.form = StepForm::Loop};

}  // namespace hilo
