#include "eval/custom_call_pairs.h"

namespace hilo {
namespace {

StepValue combined(Steps& steps, ElementType type) {
  StepValue low = steps.operand(0), high = steps.operand(1);
  const Shape shape = with_type(low.shape, type);
  CustomCallAttributes attributes;
  attributes.custom_call_target = "X64Combine";
  return steps.op(Op::CustomCall, shape, {std::move(low), std::move(high)}, std::move(attributes));
}

void add_halves(Steps& steps, const StepValue& whole, std::vector<StepValue>& out) {
  const Shape half = with_type(whole.shape, ElementType::F32);
  for (const char* target : {"X64SplitLow", "X64SplitHigh"}) {
    CustomCallAttributes attributes;
    attributes.custom_call_target = target;
    out.push_back(steps.op(Op::CustomCall, half, std::vector{whole}, std::move(attributes)));
  }
}

}  // namespace

Result<void> need_matrices(const Call& call) {
  const size_t results = call.shape().is_tuple() ? call.shape().elements.size() : 1;
  if (call.operands.size() == results && (results == 1 || results == 2)) return {};
  return call.error(
      ErrorKind::Shape,
      fmt::format("expected one operand and result, or two of both for the parts of complex "
                  "numbers, found {} and {}",
                  call.operands.size(), results));
}

Result<Literal> call_on_pairs(Call& call, ElementType type, const std::string& target,
                              size_t halved) {
  const Shape& stated = call.shape();
  Steps steps(call);
  StepValue whole = combined(steps, type);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < stated.elements.size(); ++i) {
    if (i >= 2 * halved) shapes.push_back(stated.elements[i]);
    else if (i % 2 == 0) shapes.push_back(with_type(stated.elements[i], type));
  }
  if (shapes.size() < halved) return call.error(ErrorKind::Shape, "expected pairs of results");
  CustomCallAttributes attributes;
  attributes.custom_call_target = target;
  const Shape inner = shapes.size() == 1 ? shapes[0] : Shape::tuple(shapes);
  const StepValue parts =
      steps.op(Op::CustomCall, inner, {std::move(whole)}, std::move(attributes));
  if (steps.failed()) return steps.finish({});
  std::vector<StepValue> out;
  for (size_t i = 0; i < shapes.size(); ++i) {
    StepValue part{inner.is_tuple() ? parts.literal.elements()[i] : parts.literal, shapes[i]};
    if (i < halved) add_halves(steps, part, out);
    else out.push_back(std::move(part));
  }
  return steps.finish(std::move(out));
}

}  // namespace hilo
