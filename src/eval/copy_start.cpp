#include "eval/call.h"
#include "eval/storage.h"

namespace hilo {

// (destination, source, context): storage is shared until one of them is written.
Result<Literal> evaluate_CopyStart(Call& call) {
  const Shape& stated = call.shape();
  if (!stated.is_tuple() || stated.elements.size() < 2)
    return call.error(ErrorKind::Shape, "expected (destination, source, context)");
  std::vector<Literal> parts{call.operands[0], call.operands[0]};
  if (call.operands[0].shape().is_array()) {
    const auto shape = std::make_shared<const Shape>(call.held(stated.elements[0]));
    HILO_TRY(parts[0], call.with_shape(parts[1], shape));
  }
  for (size_t i = 2; i < stated.elements.size(); ++i)
    parts.push_back(make_zeros(call, call.held(stated.elements[i])));
  return Literal::tuple(std::move(parts));
}

Result<Literal> evaluate_CopyDone(Call& call) {
  return std::move(call.operands[0].mutable_elements().at(0));
}

}  // namespace hilo
