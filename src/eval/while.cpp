#include "eval/evaluation.h"

namespace hilo {
namespace {

std::unexpected<Error> too_many_steps(const Call& call, int64_t step) {
  return call.error(ErrorKind::Steps, fmt::format("the loop goes on after {} steps", step));
}

Result<Literal> run_small(Call& call, SmallLoop& loop) {
  Evaluation& evaluation = *call.device.evaluation;
  for (int64_t step = 0; loop.goes_on(); ++step) {
    if (step >= call.options().max_steps) return too_many_steps(call, step);
    HILO_DO(evaluation.may_go_on(call.device));
    loop.step();
  }
  return loop.state(evaluation.allocate());
}

Result<Literal> run_calls(Call& call) {
  const WhileAttributes& attributes = call.attributes<WhileAttributes>();
  std::vector<Literal> state = {std::move(call.operands[0])};
  for (int64_t step = 0;; ++step) {
    HILO_TRY(const Literal condition, call.apply(attributes.condition, state));
    if (!condition.shape().is_scalar() || condition.type() != ElementType::Pred)
      return call.error(ErrorKind::Shape, "the condition of a while must give pred[]");
    if (!condition.data<bool>()[0]) return std::move(state[0]);
    if (step >= call.options().max_steps) return too_many_steps(call, step);
    HILO_TRY(Literal next, call.apply(attributes.body, std::move(state)));
    state.assign(1, std::move(next));
  }
}

}  // namespace

Result<Literal> evaluate_While(Call& call) {
  const WhileAttributes& attributes = call.attributes<WhileAttributes>();
  Evaluation& evaluation = *call.device.evaluation;
  for (ComputationId callee : {attributes.condition, attributes.body})
    if (!callee || callee.value >= call.module.computations.size()) return run_calls(call);
  HILO_TRY(const Evaluation::PreparedRef condition,
           evaluation.prepared(call.module, attributes.condition));
  HILO_TRY(const Evaluation::PreparedRef body, evaluation.prepared(call.module, attributes.body));
  if (condition->small && body->small && SmallLoop::fits(*condition->small, *body->small)) {
    SmallLoop loop(*condition->small, *body->small);
    if (loop.load(call.operands[0])) return run_small(call, loop);
  }
  return run_calls(call);
}

}  // namespace hilo
