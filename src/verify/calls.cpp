// Computations in control flow: what they take and give against their caller's operands and result.
#include "verify/report.h"

namespace hilo {
namespace {

const Shape& result_of(const Subject& subject, ComputationId called) {
  return subject.module.shape(subject.module[called].root);
}

// The called computation takes operands first, first + 1, ... of the caller, `count` of them.
void need_parameters(const Subject& subject, std::string_view attribute, ComputationId called,
                     size_t first, size_t count) {
  if (!called) return subject.fault(fmt::format("{} names no computation", attribute));
  const Computation& computation = subject.module[called];
  if (computation.parameters.size() != count)
    return subject.misfit(fmt::format("expected {}={} to take {} parameter{}, found {}", attribute,
                                      computation.name, count, count == 1 ? "" : "s",
                                      computation.parameters.size()));
  for (size_t i = 0; i < count; ++i)
    if (const Shape& found = subject.module.shape(computation.parameters[i]);
        !fits(found, subject.operand(first + i)))
      return subject.misfit(fmt::format("expected parameter {} of {}={} to be {}, found {}", i,
                                        attribute, computation.name,
                                        shown(subject.operand(first + i)), shown(found)));
}

void need_result(const Subject& subject, std::string_view attribute, ComputationId called,
                 const Shape& expected) {
  if (!called || fits(result_of(subject, called), expected)) return;
  subject.misfit(fmt::format("expected {}={} to give {}, found {}", attribute,
                             subject.module[called].name, shown(expected),
                             shown(result_of(subject, called))));
}

void verify_call(const Subject& subject) {
  const auto& a = subject.attributes<CallAttributes>();
  need_parameters(subject, "to_apply", a.to_apply, 0, subject.count());
  verify_output_aliases(subject, a.output_to_operand_aliasing);
}

void verify_while(const Subject& subject) {
  const auto& [condition, body] = subject.attributes<WhileAttributes>();
  need_parameters(subject, "condition", condition, 0, 1);
  need_parameters(subject, "body", body, 0, 1);
  need_result(subject, "condition", condition, Shape::scalar(ElementType::Pred));
  need_result(subject, "body", body, subject.operand(0));
}

// pred[] chooses between two, s32[] among any number; branch i takes operand i + 1.
void verify_conditional(const Subject& subject) {
  const auto& a = subject.attributes<ConditionalAttributes>();
  std::vector<ComputationId> branches = a.branch_computations;
  if (branches.empty()) branches = {a.true_computation, a.false_computation};
  if (subject.count() != branches.size() + 1)
    return subject.misfit(fmt::format("expected {} operands for {} branches, found {}",
                                      branches.size() + 1, branches.size(), subject.count()));
  const Shape& choice = subject.operand(0);
  const bool binary = choice.type == ElementType::Pred;
  if (!choice.is_scalar() || (!binary && choice.type != ElementType::S32))
    return subject.misfit(
        fmt::format("expected pred[] or s32[] as operand 0, found {}", shown(choice)));
  if (binary != a.branch_computations.empty() && branches.size() != 2)
    return subject.misfit(
        fmt::format("{} does not choose among {} branches", shown(choice), branches.size()));
  const std::string_view attribute = a.branch_computations.empty()
                                         ? "true_computation or false_computation"
                                         : "branch_computations";
  for (size_t i = 0; i < branches.size(); ++i) {
    need_parameters(subject, attribute, branches[i], i + 1, 1);
    need_result(subject, attribute, branches[i], subject.shape());
  }
}

// Operands may be bound later, by async-update.
void verify_async_start(const Subject& subject) {
  const auto& a = subject.attributes<AsyncAttributes>();
  const Computation& called = subject.module[a.calls];
  if (subject.count() > called.parameters.size())
    return need_parameters(subject, "calls", a.calls, 0, subject.count());
  for (size_t i = 0; i < subject.count(); ++i)
    if (const Shape& found = subject.module.shape(called.parameters[i]);
        !fits(found, subject.operand(i)))
      return subject.misfit(fmt::format("expected parameter {} of calls={} to be {}, found {}", i,
                                        called.name, shown(subject.operand(i)), shown(found)));
  if (!a.async_execution_thread.empty() && a.async_execution_thread != called.execution_thread)
    subject.fault(fmt::format("async_execution_thread is {}, that of {} is {}",
                              a.async_execution_thread, called.name, called.execution_thread));
  verify_output_aliases(subject, a.output_to_operand_aliasing);
}

void verify_async_aliases(const Subject& subject) {
  verify_output_aliases(subject, subject.attributes<AsyncAttributes>().output_to_operand_aliasing);
}

void verify_custom_call(const Subject& subject) {
  const auto& a = subject.attributes<CustomCallAttributes>();
  verify_output_aliases(subject, a.output_to_operand_aliasing);
  if (!a.operand_layout_constraints) return;
  const auto& constraints = *a.operand_layout_constraints;
  if (constraints.size() != subject.count())
    return subject.misfit(fmt::format("expected {} operand_layout_constraints, found {}",
                                      subject.count(), constraints.size()));
  for (size_t i = 0; i < constraints.size(); ++i)
    if (!fits(constraints[i], subject.operand(i)))
      subject.misfit(fmt::format("expected operand_layout_constraints {} of {}, found {}", i,
                                 shown(subject.operand(i)), shown(constraints[i])));
}

constexpr OpRule rules[] = {{Op::Call, verify_call},
                            {Op::While, verify_while},
                            {Op::Conditional, verify_conditional},
                            {Op::AsyncStart, verify_async_start},
                            {Op::AsyncUpdate, verify_async_aliases},
                            {Op::AsyncDone, verify_async_aliases},
                            {Op::CustomCall, verify_custom_call}};

}  // namespace

std::span<const OpRule> call_rules() { return rules; }

}  // namespace hilo
