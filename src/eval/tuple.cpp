// Values that are passed on: tuples, tokens, barriers, parameters.
#include "eval/evaluation.h"

namespace hilo {

Result<Literal> evaluate_Parameter(Call& call) { return std::move(call.operands[0]); }

Result<Literal> evaluate_Tuple(Call& call) {
  return Literal::tuple({std::make_move_iterator(call.operands.begin()),
                         std::make_move_iterator(call.operands.end())},
                        call.result_shape());
}

Result<Literal> evaluate_GetTupleElement(Call& call) {
  Literal& operand = call.operands[0];
  const int64_t index = call.attributes<GetTupleElementAttributes>().index;
  if (index < 0 || index >= static_cast<int64_t>(operand.elements().size()))
    return call.error(ErrorKind::Shape,
                      fmt::format("element {} of a tuple of {}", index, operand.elements().size()));
  return std::move(operand.mutable_elements()[index]);
}

Result<Literal> evaluate_AfterAll(Call&) { return Literal::token(); }
Result<Literal> evaluate_AddDependency(Call& call) { return std::move(call.operands[0]); }
Result<Literal> evaluate_Domain(Call& call) { return std::move(call.operands[0]); }
Result<Literal> evaluate_OptimizationBarrier(Call& call) { return std::move(call.operands[0]); }

}  // namespace hilo
