// Products and convolutions: a kernel where it is as fast as a routine.
#include "plan/ask/ask.h"

namespace hilo {
namespace {

Answer ask_element_of_dot(KernelQuestion& question, InstructionId id, size_t) {
  if (!is_of_tiny_products(question.module, id))
    return KernelQuestion::no(NoKernel::ManyProducts, id);
  return question.operands(id);
}

Answer ask_loops_of_dot(KernelQuestion& question, InstructionId id) {
  const auto kernel = dot_kernel(question.module, id, question.arrays(), question.chip);
  return kernel ? question.operands(id) : KernelQuestion::no(kernel.error(), id);
}

Answer ask_element_of_convolution(KernelQuestion& question, InstructionId id, size_t) {
  if (!has_few_products(question.module, id)) return KernelQuestion::no(NoKernel::ManyProducts, id);
  return question.operands(id);
}

Answer ask_loops_of_convolution(KernelQuestion& question, InstructionId id) {
  const auto kernel = convolution_kernel(question.module, id, question.arrays(), question.chip);
  return kernel ? question.operands(id) : KernelQuestion::no(kernel.error(), id);
}

}  // namespace

const OpCommands commands_of_Dot = {.element = ask_element_of_dot, .loops = ask_loops_of_dot};
const OpCommands commands_of_Convolution = {.element = ask_element_of_convolution,
                                            .loops = ask_loops_of_convolution};

}  // namespace hilo
