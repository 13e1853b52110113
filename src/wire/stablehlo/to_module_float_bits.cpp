// What looks at the bits of floats, or at one of their special values.
#include <limits>

#include "wire/stablehlo/formula.h"

namespace hilo::mlir {
namespace {

ElementType bits_type(int bits) {
  return bits == 64   ? ElementType::U64
         : bits == 32 ? ElementType::U32
         : bits == 16 ? ElementType::U16
                      : ElementType::U8;
}

Result<void> convert_is_infinite(Step& step, bool takes_size, double infinity) {
  HILO_TRY(const InstructionId x, wide_operand(step));
  Formula f(step, x);
  const InstructionId value = takes_size ? f.op(Op::Abs, x) : x;
  return f.give(f.equal(value, f.constant(infinity)), ElementType::Pred);
}

}  // namespace

Result<void> convert_is_inf(Step& step) {
  return convert_is_infinite(step, true, std::numeric_limits<double>::infinity());
}
Result<void> convert_is_pos_inf(Step& step) {
  return convert_is_infinite(step, false, std::numeric_limits<double>::infinity());
}
Result<void> convert_is_neg_inf(Step& step) {
  return convert_is_infinite(step, false, -std::numeric_limits<double>::infinity());
}

Result<void> convert_conj(Step& step) {
  HILO_DO(step.need_array(0));
  if (!is_complex(step.shape(0).type)) return step.give(step.operands[0]);
  HILO_TRY(const InstructionId real, step.add(Op::Real, step.operands));
  HILO_TRY(const InstructionId imag, step.add(Op::Imag, step.operands));
  HILO_TRY(const InstructionId minus, step.add(Op::Negate, {imag}));
  HILO_TRY(const InstructionId value, step.add(Op::Complex, {real, minus}));
  return step.give(value);
}

// The float next to x towards y: bits without the sign count up and down through all sizes.
Result<void> convert_next_after(Step& step) {
  HILO_DO(step.need_array(0));
  const Shape shape = step.shape(0);
  if (!is_floating(shape.type) || bits_of(shape.type) < 16)
    return step.misfit("expected floats of 16 bits or more, found {}", text_of(shape.type));
  const int bits = bits_of(shape.type);
  const Shape whole = Shape::array(bits_type(bits), shape.dims);
  const InstructionId x = step.operands[0], y = step.operands[1];
  HILO_TRY(const InstructionId x_bits, step.add(Op::BitcastConvert, {x}, &whole));
  HILO_TRY(const InstructionId y_bits, step.add(Op::BitcastConvert, {y}, &whole));
  Formula f(step, x_bits), of_floats(step, x);
  const InstructionId one = f.constant(1), zero = f.constant(0);
  const InstructionId sign_bit = f.op(Op::ShiftLeft, one, f.constant(bits - 1));
  const InstructionId size_bits = f.op(Op::Not, sign_bit);
  const InstructionId x_size = f.op(Op::And, x_bits, size_bits);
  const InstructionId y_size = f.op(Op::And, y_bits, size_bits);
  const InstructionId x_sign = f.op(Op::And, x_bits, sign_bit);
  const InstructionId y_sign = f.op(Op::And, y_bits, sign_bit);
  const InstructionId shrinks = f.op(Op::Or, f.compare(ComparisonDirection::Gt, x_size, y_size),
                                     f.compare(ComparisonDirection::Ne, x_sign, y_sign));
  const InstructionId moved = f.select(shrinks, f.subtract(x_bits, one), f.add(x_bits, one));
  const InstructionId smallest = f.op(Op::Or, y_sign, one);
  InstructionId out = f.select(f.equal(x_size, zero), smallest, moved);
  const InstructionId both_zero = f.equal(f.op(Op::Or, x_size, y_size), zero);
  out = f.select(f.op(Op::Or, both_zero, f.equal(x_bits, y_bits)), y_bits, out);
  HILO_TRY(out, f.done(out));
  HILO_TRY(const InstructionId floats, step.add(Op::BitcastConvert, {out}, &shape));
  const InstructionId is_nan =
      of_floats.op(Op::Or, of_floats.compare(ComparisonDirection::Ne, x, x),
                   of_floats.compare(ComparisonDirection::Ne, y, y));
  const InstructionId nan = of_floats.constant(std::numeric_limits<double>::quiet_NaN());
  return of_floats.give(of_floats.select(is_nan, nan, floats), shape.type);
}

}  // namespace hilo::mlir
