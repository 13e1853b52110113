// Elementwise ops: all have code for all element types, but these.
#include <array>

#include "plan/ask/ask.h"

namespace hilo {
namespace {

using Ask = Answer (*)(const Module&, InstructionId);

template <Op op>
Answer ask(const Module&, InstructionId) {
  return {};
}

// Complex numbers have no order.
Answer ask_order(const Module& module, InstructionId id) {
  const bool is_ordered = !is_complex(module.shape(module.operand(id, 0)).type);
  return is_ordered ? Answer() : KernelQuestion::no(NoKernel::ComplexNumbers, id);
}
template <>
Answer ask<Op::Clamp>(const Module& module, InstructionId id) {
  return ask_order(module, id);
}
template <>
Answer ask<Op::Maximum>(const Module& module, InstructionId id) {
  return ask_order(module, id);
}
template <>
Answer ask<Op::Minimum>(const Module& module, InstructionId id) {
  return ask_order(module, id);
}
template <>
Answer ask<Op::Remainder>(const Module& module, InstructionId id) {
  return ask_order(module, id);
}
template <>
Answer ask<Op::StochasticConvert>(const Module&, InstructionId id) {
  return KernelQuestion::no(NoKernel::NoLoops, id);
}

Answer ask_structural(const Module&, InstructionId) {
  check(false, "ask_elementwise: of an elementwise op");
  return {};
}

}  // namespace

Answer ask_elementwise(const Module& module, InstructionId id) {
  static constexpr std::array<Ask, op_count> functions = {
#define HILO_ASK_Elementwise(name) ask<Op::name>
#define HILO_ASK_Structural(name) ask_structural
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_ASK_##op_class(name),
#include "ir/ops.def"
#undef OP
#undef HILO_ASK_Elementwise
#undef HILO_ASK_Structural
  };
  return functions[static_cast<size_t>(module[id].op)](module, id);
}

}  // namespace hilo
