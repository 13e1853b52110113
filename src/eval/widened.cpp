#include "eval/convert.h"

namespace hilo {
namespace {

Literal rounded(const Call& call, Literal value, const Shape& stated) {
  if (!value.shape().is_tuple())
    return value.shape().is_array() ? converted(call, value, call.held(stated.type)) : value;
  std::vector<Literal> elements;
  for (size_t i = 0; i < stated.elements.size(); ++i)
    elements.push_back(rounded(call, value.elements()[i], stated.elements[i]));
  return Literal::tuple(std::move(elements));
}

}  // namespace

Result<Literal> evaluate_widened(Call& call) {
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (const Shape& seen = call.widened->operands[i]; seen.is_array())
      call.operands[i] = converted(call, call.operands[i], call.held(seen.type));
  call.held_stated = std::make_shared<const Shape>(call.held(call.widened->result));
  HILO_TRY(Literal out, op_function(call.instruction.op)(call));
  return rounded(call, std::move(out), call.module.shape(call.instruction));
}

}  // namespace hilo
