// async-start, async-update and async-done: values of the form ((operands), result, contexts...).
// The computation runs when its last operand is bound: at the start, or at the update that brings
// it.
#include "eval/call.h"
#include "eval/storage.h"

namespace hilo {
namespace {

ComputationId callee(const Call& call) { return call.attributes<AsyncAttributes>().calls; }

// Under the stated shape of a start or update.
Result<Literal> progress(const Call& call, std::vector<Literal> operands, Literal result) {
  const Shape& stated = call.shape();
  if (!stated.is_tuple() || stated.elements.size() < 2)
    return call.error(ErrorKind::Shape, "expected ((operands), result, contexts...)");
  const size_t wanted = call.module[callee(call)].parameters.size();
  const bool bound = !result.has_value() && operands.size() == wanted;
  if (bound) {
    HILO_TRY(result, call.apply(callee(call), operands));
  }
  std::vector<Literal> parts;
  parts.push_back(Literal::tuple(std::move(operands)));
  parts.push_back(std::move(result));
  for (size_t i = 2; i < stated.elements.size(); ++i)
    parts.push_back(make_zeros(call, call.held(stated.elements[i])));
  return Literal::tuple(std::move(parts));
}

}  // namespace

Result<Literal> evaluate_AsyncStart(Call& call) {
  if (!callee(call)) return call.error(ErrorKind::Structure, "calls no computation");
  return progress(call, {call.operands.begin(), call.operands.end()}, {});
}

Result<Literal> evaluate_AsyncUpdate(Call& call) {
  std::vector<Literal>& parts = call.operands[0].mutable_elements();
  std::vector<Literal> operands = parts[0].elements();
  for (Literal& late : call.operands.subspan(1)) operands.push_back(std::move(late));
  return progress(call, std::move(operands), std::move(parts[1]));
}

Result<Literal> evaluate_AsyncDone(Call& call) {
  Literal result = std::move(call.operands[0].mutable_elements().at(1));
  if (!result.has_value())
    return call.error(ErrorKind::Evaluation, "not all operands of the computation were bound");
  return result;
}

}  // namespace hilo
