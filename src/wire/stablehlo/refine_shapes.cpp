// Ops whose shapes are values: they become those of known shapes, where the values follow from the
// shapes of main's arguments.
#include <algorithm>

#include "wire/stablehlo/op_rules.h"

namespace hilo::mlir {
namespace {

// The integers that an operand holds.
Result<Dims> known_operand(const Step& step, size_t operand) {
  const auto* values = step.converter.known.look(step.converter.module, step.operands[operand]);
  if (values) return *values;
  return fail(ErrorKind::Unsupported,
              "operand {}, a size, is not known before the program runs: only what follows from "
              "the shapes of arguments and from constants is",
              operand);
}

// The same as dimensions of a result.
Result<Shape> known_shape(Step& step, size_t operand) {
  HILO_TRY(Shape shape, step.stated());
  HILO_TRY(Dims dims, known_operand(step, operand));
  for (int64_t dim : dims)
    if (dim < 0) return step.misfit("a dimension of {} elements", dim);
  if (dims.size() != shape.dims.size())
    return step.misfit("{} sizes for {}", dims.size(), to_string_without_layout(shape));
  Shape out = Shape::array(shape.type, std::move(dims));
  if (element_count(out) == INT64_MAX)
    return fail(ErrorKind::Limit, "the result {} has more than 2^63-2 elements",
                to_string_without_layout(out));
  return out;
}

}  // namespace

Result<void> convert_dynamic_broadcast_in_dim(Step& step) {
  HILO_TRY(const Shape to, known_shape(step, 1));
  return broadcast_to(step, to.dims);
}

Result<void> convert_dynamic_reshape(Step& step) {
  HILO_TRY(const Shape to, known_shape(step, 1));
  HILO_TRY(const InstructionId value, step.add(Op::Reshape, {step.operands[0]}, &to));
  return step.give(value);
}

Result<void> convert_dynamic_iota(Step& step) {
  HILO_TRY(const Shape to, known_shape(step, 0));
  IotaAttributes attributes;
  HILO_TRY(attributes.iota_dimension, step.integer("iota_dimension"));
  HILO_TRY(const InstructionId value, step.add(Op::Iota, {}, attributes, &to));
  return step.give(value);
}

Result<void> convert_dynamic_pad(Step& step) {
  HILO_TRY(const Dims low, known_operand(step, 2));
  HILO_TRY(const Dims high, known_operand(step, 3));
  HILO_TRY(const Dims interior, known_operand(step, 4));
  HILO_TRY(PadAttributes attributes, pad_attributes(step, low, high, interior));
  HILO_TRY(const InstructionId value,
           step.add(Op::Pad, {step.operands[0], step.operands[1]}, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_real_dynamic_slice(Step& step) {
  HILO_TRY(const Dims starts, known_operand(step, 1));
  HILO_TRY(const Dims limits, known_operand(step, 2));
  HILO_TRY(const Dims strides, known_operand(step, 3));
  HILO_TRY(SliceAttributes attributes, slice_attributes(step, starts, limits, strides));
  HILO_TRY(const InstructionId value,
           step.add(Op::Slice, {step.operands[0]}, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_dynamic_gather(Step& step) {
  HILO_TRY(Dims sizes, known_operand(step, 2));
  return gather_with(step, std::move(sizes));
}

Result<void> convert_dynamic_conv(Step& step) {
  HILO_TRY(const Dims padding, known_operand(step, 2));
  HILO_TRY(Window window, convolution_window(step));
  if (padding.size() != 2 * window.dims.size())
    return step.misfit("{} paddings for {} dimensions", padding.size(), window.dims.size());
  for (size_t i = 0; i < window.dims.size(); ++i) {
    window.dims[i].padding_low = padding[2 * i];
    window.dims[i].padding_high = padding[2 * i + 1];
  }
  return convolve(step, window);
}

Result<void> convert_rng(Step& step) {
  RngAttributes attributes;
  HILO_TRY(const std::string distribution, step.text("rng_distribution"));
  if (distribution != "UNIFORM" && distribution != "NORMAL")
    return step.misfit("rng_distribution has no value '{}'", distribution);
  attributes.distribution =
      distribution == "UNIFORM" ? RngDistribution::Uniform : RngDistribution::Normal;
  HILO_TRY(Shape to, step.stated());
  const bool is_open = std::ranges::count(to.dims, Shape::unbounded) > 0;
  if (step.shape(2).rank() != 1)
    return step.misfit("expected a shape of one dimension, found {}",
                       to_string_without_layout(step.shape(2)));
  const auto* sizes = step.converter.known.look(step.module(), step.operands[2]);
  if (is_open || sizes) {
    HILO_TRY(const Shape known, known_shape(step, 2));
    if (!fits(known, to))
      return step.misfit("the shape is {}, the result {}", to_string_without_layout(known),
                         to_string_without_layout(to));
    to = known;
  }
  HILO_TRY(const InstructionId value,
           step.add(Op::Rng, {step.operands[0], step.operands[1]}, attributes, &to));
  return step.give(value);
}

Result<void> convert_get_dimension_size(Step& step) {
  HILO_DO(step.need_array(0));
  HILO_TRY(const int64_t dim, step.integer("dimension"));
  const Shape& of = step.shape(0);
  if (dim < 0 || dim >= of.rank())
    return step.misfit("dimension {} is not in [0, {})", dim, of.rank());
  if (of.is_dynamic(static_cast<size_t>(dim)) || of.dims[dim] > INT32_MAX) {
    HILO_TRY(const InstructionId value,
             step.add(Op::GetDimensionSize, step.operands, DimensionsAttributes{{dim}}));
    return step.give(value);
  }
  HILO_TRY(const InstructionId value,
           step.constant(Literal::scalar(static_cast<int32_t>(of.dims[dim]))));
  return step.give(value);
}

Result<void> convert_set_dimension_size(Step& step) {
  HILO_TRY(const int64_t dim, step.integer("dimension"));
  HILO_TRY(const InstructionId value,
           step.add(Op::SetDimensionSize, step.operands, DimensionsAttributes{{dim}}));
  return step.give(value);
}

// custom_call @shape_assertion(holds, sizes...) {error_message}: {0} is the first size.
Result<void> check_shape_assertion(Step& step) {
  HILO_DO(step.need_operands(1));
  HILO_TRY(const Dims holds, known_operand(step, 0));
  if (holds.size() != 1) return step.misfit("expected a pred as operand 0");
  if (holds[0] != 0) return {};
  HILO_TRY(std::string message, step.text("error_message", "a shape assertion does not hold"));
  for (size_t i = 1; i < step.count(); ++i) {
    const auto* size = step.converter.known.look(step.module(), step.operands[i]);
    const std::string mark = fmt::format("{{{}}}", i - 1);
    const std::string shown = size && size->size() == 1 ? std::to_string(size->front()) : "?";
    for (size_t at = message.find(mark); at != std::string::npos; at = message.find(mark, at + 1))
      message.replace(at, mark.size(), shown);
  }
  return fail(ErrorKind::Input, "{}", message);
}

}  // namespace hilo::mlir
