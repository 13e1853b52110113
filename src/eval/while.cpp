#include "eval/call.h"

namespace hilo {

Result<Literal> evaluate_While(Call& call) {
  const WhileAttributes& attributes = call.attributes<WhileAttributes>();
  std::vector<Literal> state = {std::move(call.operands[0])};
  for (int64_t step = 0;; ++step) {
    HILO_TRY(const Literal condition, call.apply(attributes.condition, state));
    if (!condition.shape().is_scalar() || condition.type() != ElementType::Pred)
      return call.error(ErrorKind::Shape, "the condition of a while must give pred[]");
    if (!condition.data<bool>()[0]) return std::move(state[0]);
    if (step >= call.options().max_steps)
      return call.error(ErrorKind::Steps, fmt::format("the loop goes on after {} steps", step));
    HILO_TRY(Literal next, call.apply(attributes.body, std::move(state)));
    state.assign(1, std::move(next));
  }
}

}  // namespace hilo
