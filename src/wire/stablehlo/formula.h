// Formulas of elementwise functions that HLO has no op for. Private to to_module_*.cpp.
#pragma once

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {

// Arithmetic on arrays of one shape. The first error stays.
class Formula {
 public:
  Formula(Step& step, InstructionId x) : step_(step), shape_(step.module().shape(x)) {}
  InstructionId constant(double value) {
    const auto wide = step_.constant(Literal::scalar(value));
    const auto typed = wide ? step_.convert(*wide, shape_.type) : wide;
    return keep(typed ? step_.like(*typed, shape_) : typed);
  }
  template <class... Ids>
  InstructionId op(Op op, Ids... operands) {
    if (error_) return {0};
    return keep(step_.add(op, {operands...}));
  }
  InstructionId compare(ComparisonDirection direction, InstructionId a, InstructionId b) {
    if (error_) return {0};
    return keep(step_.add(Op::Compare, {a, b}, CompareAttributes{direction, {}, {}}));
  }
  InstructionId add(InstructionId a, InstructionId b) { return op(Op::Add, a, b); }
  InstructionId add(InstructionId a, double b) { return add(a, constant(b)); }
  InstructionId subtract(InstructionId a, InstructionId b) { return op(Op::Subtract, a, b); }
  InstructionId multiply(InstructionId a, InstructionId b) { return op(Op::Multiply, a, b); }
  InstructionId multiply(InstructionId a, double b) { return multiply(a, constant(b)); }
  InstructionId divide(InstructionId a, InstructionId b) { return op(Op::Divide, a, b); }
  InstructionId less(InstructionId a, double b) {
    return compare(ComparisonDirection::Lt, a, constant(b));
  }
  InstructionId not_above(InstructionId a, double b) {
    return compare(ComparisonDirection::Le, a, constant(b));
  }
  InstructionId equal(InstructionId a, InstructionId b) {
    return compare(ComparisonDirection::Eq, a, b);
  }
  InstructionId is_whole(InstructionId a) { return equal(a, op(Op::Floor, a)); }
  InstructionId select(InstructionId choice, InstructionId a, InstructionId b) {
    return op(Op::Select, choice, a, b);
  }
  // Coefficients from the highest power down.
  InstructionId polynomial(InstructionId x, std::span<const double> coefficients) {
    InstructionId out = constant(coefficients[0]);
    for (const double one : coefficients.subspan(1)) out = add(multiply(out, x), one);
    return out;
  }
  // The value, unless there was an error on the way.
  Result<InstructionId> done(InstructionId value) const {
    if (error_) return std::unexpected(*error_);
    return value;
  }
  // The result in the type of the op's operand.
  Result<void> give(InstructionId value, ElementType type) {
    if (error_) return std::unexpected(*error_);
    HILO_TRY(const InstructionId typed, step_.convert(value, type));
    return step_.give(typed);
  }

 private:
  InstructionId keep(const Result<InstructionId>& made) {
    if (made) return *made;
    if (!error_) error_ = made.error();
    return {0};
  }
  Step& step_;
  Shape shape_;
  std::optional<Error> error_;
};

// Operand i of a step, narrow floats as f32.
Result<InstructionId> wide_operand(Step& step, size_t i = 0);
// log(|gamma(x)|), and its derivative.
InstructionId lgamma(Formula& f, InstructionId x);
InstructionId digamma(Formula& f, InstructionId x);

}  // namespace hilo::mlir
