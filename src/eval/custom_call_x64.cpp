// 64-bit numbers of TPU modules as pairs of 32-bit ones, and c128 as pairs of f64.
#include "eval/custom_call.h"

namespace hilo {
namespace {

// Of the type that holds half of a number: words, the numbers of a sum, or the parts of a complex
// number. Invalid: there is none.
ElementType half_of(ElementType type) {
  switch (type) {
    case ElementType::S64:
    case ElementType::U64: return ElementType::U32;
    case ElementType::F64:
    case ElementType::C64: return ElementType::F32;
    case ElementType::C128: return ElementType::F64;
    default: return ElementType::Invalid;
  }
}

Result<void> need_pair(const Call& call, const Shape& whole, const Shape& half) {
  if (half_of(whole.type) == half.type && whole.dims == half.dims) return {};
  return call.error(ErrorKind::Shape,
                    fmt::format("{} is no half of {}", to_string_without_layout(half),
                                to_string_without_layout(whole)));
}

StepValue same_bits(Steps& steps, StepValue a, ElementType type) {
  const Shape shape = with_type(a.shape, type);
  return steps.op(Op::BitcastConvert, shape, {std::move(a)});
}

Result<Literal> combine(Call& call) {
  if (call.operands.size() != 2) return call.error(ErrorKind::Shape, "expected two operands");
  Steps steps(call);
  StepValue low = steps.operand(0), high = steps.operand(1);
  for (const StepValue* half : {&low, &high}) HILO_DO(need_pair(call, call.shape(), half->shape));
  const ElementType type = call.shape().type;
  const Shape shape = with_type(low.shape, type);
  if (is_complex(type))
    return steps.finish({steps.op(Op::Complex, shape, {std::move(low), std::move(high)})});
  if (type == ElementType::F64) {
    StepValue none = steps.op(Op::Compare, with_type(shape, ElementType::Pred),
                              {high, steps.scalar(0, high.shape)}, CompareAttributes{});
    StepValue first = steps.convert(std::move(low), type);
    StepValue sum = steps.binary(Op::Add, first, steps.convert(std::move(high), type));
    return steps.finish(  // -0 stays
        {steps.op(Op::Select, shape, {std::move(none), std::move(first), std::move(sum)})});
  }
  StepValue lower = steps.convert(std::move(low), ElementType::U64);
  StepValue upper = steps.convert(std::move(high), ElementType::U64);
  StepValue by = steps.scalar(32, upper.shape);
  StepValue shifted = steps.binary(Op::ShiftLeft, std::move(upper), std::move(by));
  StepValue words = steps.binary(Op::Or, std::move(lower), std::move(shifted));
  return steps.finish({same_bits(steps, std::move(words), type)});
}

// What rounding f64 to f32 leaves, rounded; 0 where the rounded number is no number.
StepValue remainder(Steps& steps, const StepValue& whole) {
  const Shape half = with_type(whole.shape, ElementType::F32);
  StepValue rounded = steps.convert(whole, half.type);
  StepValue finite =
      steps.op(Op::IsFinite, with_type(half, ElementType::Pred), std::vector{rounded});
  StepValue rest =
      steps.binary(Op::Subtract, whole, steps.convert(std::move(rounded), whole.shape.type));
  return steps.op(
      Op::Select, half,
      {std::move(finite), steps.convert(std::move(rest), half.type), steps.scalar(0, half)});
}

Result<Literal> split(Call& call, bool low) {
  if (call.operands.size() != 1) return call.error(ErrorKind::Shape, "expected one operand");
  Steps steps(call);
  StepValue whole = steps.operand(0);
  HILO_DO(need_pair(call, whole.shape, call.shape()));
  const ElementType type = whole.shape.type, half = call.shape().type;
  const Shape shape = with_type(whole.shape, half);
  if (is_complex(type))
    return steps.finish({steps.op(low ? Op::Real : Op::Imag, shape, {std::move(whole)})});
  if (type == ElementType::F64)
    return steps.finish({low ? steps.convert(std::move(whole), half) : remainder(steps, whole)});
  StepValue words = same_bits(steps, std::move(whole), ElementType::U64);
  if (!low) {
    StepValue by = steps.scalar(32, words.shape);
    words = steps.binary(Op::ShiftRightLogical, std::move(words), std::move(by));
  }
  return steps.finish({steps.convert(std::move(words), half)});
}

}  // namespace

Result<Literal> call_x64_combine(Call& call) { return combine(call); }
Result<Literal> call_x64_split_low(Call& call) { return split(call, true); }
Result<Literal> call_x64_split_high(Call& call) { return split(call, false); }
Result<Literal> call_x128_combine(Call& call) { return combine(call); }
Result<Literal> call_x128_split_low(Call& call) { return split(call, true); }
Result<Literal> call_x128_split_high(Call& call) { return split(call, false); }

}  // namespace hilo
