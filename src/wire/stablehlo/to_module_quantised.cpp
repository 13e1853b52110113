// Quantised numbers: real = (stored - zero_point) * scale. By StableHLO's specification an op on
// them is the op on the real numbers, quantised again.
#include <algorithm>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

// Numbers of the expressed type, one for the whole array or one for each index of the axis.
Result<InstructionId> numbers(Step& step, std::span<const double> values, const Quantization& type,
                              const Shape& like) {
  const bool is_one = values.size() == 1;
  if (!is_one && (!type.axis || *type.axis < 0 || *type.axis >= like.rank() ||
                  like.dims[*type.axis] != std::ssize(values)))
    return step.misfit("{} scales do not fit {}", values.size(), to_string_without_layout(like));
  Dims dims = is_one ? Dims() : Dims{std::ssize(values)};
  HILO_TRY(const InstructionId wide, step.constant(Literal::from<double>(std::move(dims), values)));
  HILO_TRY(const InstructionId typed, step.convert(wide, type.expressed));
  if (like.is_scalar()) return typed;
  return step.broadcast(typed, is_one ? Dims() : Dims{*type.axis}, like.dims);
}

Result<InstructionId> zero_points(Step& step, const Quantization& type, const Shape& like) {
  const std::vector<double> values(type.zero_points.begin(), type.zero_points.end());
  return numbers(step, values, type, like);
}

}  // namespace

Result<InstructionId> dequantise(Step& step, InstructionId value, const Quantization& type) {
  const Shape shape = step.module().shape(value);
  HILO_TRY(const InstructionId real, step.convert(value, type.expressed));
  HILO_TRY(const InstructionId zero, zero_points(step, type, shape));
  HILO_TRY(const InstructionId scale, numbers(step, type.scales, type, shape));
  HILO_TRY(const InstructionId moved, step.add(Op::Subtract, {real, zero}));
  return step.add(Op::Multiply, {moved, scale});
}

Result<InstructionId> quantise(Step& step, InstructionId value, const Quantization& type) {
  const Shape shape = step.module().shape(value);
  if (shape.type != type.expressed)
    return step.misfit("{} cannot be quantised as {}", to_string_without_layout(shape),
                       text_of(type.expressed));
  HILO_TRY(const InstructionId zero, zero_points(step, type, shape));
  HILO_TRY(const InstructionId scale, numbers(step, type.scales, type, shape));
  HILO_TRY(const InstructionId scaled, step.add(Op::Divide, {value, scale}));
  HILO_TRY(const InstructionId moved, step.add(Op::Add, {scaled, zero}));
  const double min = static_cast<double>(type.min), max = static_cast<double>(type.max);
  const Quantization whole{type.storage, type.expressed, 0, 1, {}, {}, {}};
  HILO_TRY(const InstructionId low, numbers(step, std::span(&min, 1), whole, shape));
  HILO_TRY(const InstructionId high, numbers(step, std::span(&max, 1), whole, shape));
  HILO_TRY(const InstructionId clamped, step.add(Op::Clamp, {low, moved, high}));
  HILO_TRY(const InstructionId rounded, step.add(Op::RoundNearestEven, {clamped}));
  return step.convert(rounded, type.storage);
}

}  // namespace hilo::mlir
