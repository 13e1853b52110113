// Elementwise ops: HLO has each of them; bounds and predicates that are scalars are broadcast.
#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {

Result<void> convert_elementwise(Step& step) {
  HILO_TRY(const Shape stated, step.stated());
  HILO_TRY(const InstructionId value, step.add(step.row.op, step.operands, &stated));
  return step.give(value);
}

Result<void> convert_compare(Step& step) {
  CompareAttributes attributes;
  HILO_TRY(attributes.direction, step.enumeration<ComparisonDirection>("comparison_direction"));
  HILO_TRY(const std::string type, step.text("compare_type", "NOTYPE"));
  // The other types are those of the elements.
  if (type == "TOTALORDER" && is_floating(step.shape(0).type))
    attributes.type = ComparisonType::TotalOrder;
  HILO_TRY(const InstructionId value, step.add(Op::Compare, step.operands, attributes));
  return step.give(value);
}

Result<void> convert_clamp(Step& step) {
  HILO_DO(step.need_array(1));
  HILO_TRY(const InstructionId low, step.like(step.operands[0], step.shape(1)));
  HILO_TRY(const InstructionId high, step.like(step.operands[2], step.shape(1)));
  HILO_TRY(const InstructionId value, step.add(Op::Clamp, {low, step.operands[1], high}));
  return step.give(value);
}

Result<void> convert_select(Step& step) {
  HILO_DO(step.need_array(1));
  HILO_TRY(const InstructionId choice, step.like(step.operands[0], step.shape(1)));
  HILO_TRY(const InstructionId value,
           step.add(Op::Select, {choice, step.operands[1], step.operands[2]}));
  return step.give(value);
}

Result<void> convert_reduce_precision(Step& step) {
  ReducePrecisionAttributes attributes;
  HILO_TRY(attributes.exponent_bits, step.integer("exponent_bits"));
  HILO_TRY(attributes.mantissa_bits, step.integer("mantissa_bits"));
  HILO_TRY(const InstructionId value, step.add(Op::ReducePrecision, step.operands, attributes));
  return step.give(value);
}

// What the bits of one element become stands in the result's type.
Result<void> convert_bitcast_convert(Step& step) {
  HILO_DO(step.need_array(0));
  HILO_TRY(Shape stated, step.stated());
  if (stated.rank() == step.shape(0).rank() && bits_of(stated.type) == bits_of(step.shape(0).type))
    stated = Shape::array(stated.type, step.shape(0).dims);
  HILO_TRY(const InstructionId value, step.add(Op::BitcastConvert, step.operands, &stated));
  return step.give(value);
}

// The value itself, quantised and dequantised as types ask for it.
Result<void> convert_identity(Step& step) {
  HILO_DO(step.need_operands(step.result_count()));
  for (size_t i = 0; i < step.result_count(); ++i) HILO_DO(step.give(i, step.operands[i]));
  return {};
}

// atan(x) = atan2(x, 1)
Result<void> convert_atan(Step& step) {
  HILO_DO(step.need_array(0));
  HILO_TRY(const InstructionId one, step.constant(Literal::scalar(1.0f)));
  HILO_TRY(const InstructionId typed, step.convert(one, step.shape(0).type));
  HILO_TRY(const InstructionId ones, step.like(typed, step.shape(0)));
  HILO_TRY(const InstructionId value, step.add(Op::Atan2, {step.operands[0], ones}));
  return step.give(value);
}

Result<void> convert_square(Step& step) {
  HILO_TRY(const InstructionId value, step.add(Op::Multiply, {step.operands[0], step.operands[0]}));
  return step.give(value);
}

}  // namespace hilo::mlir
