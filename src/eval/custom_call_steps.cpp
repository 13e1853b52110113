#include "eval/custom_call.h"
#include "eval/storage.h"
#include "verify/verify.h"

namespace hilo {

Shape with_type(Shape shape, ElementType type) {
  shape.type = type;
  return shape;
}

Result<void> need_output_array(const Call& call) {
  const Shape& stated = call.shape();
  if (stated.is_array() || (!stated.elements.empty() && stated.elements[0].is_array())) return {};
  return call.error(ErrorKind::Shape, "expected an array as result, or as its first part");
}

const Shape& output_shape(const Call& call) {
  return call.shape().is_tuple() ? call.shape().elements[0] : call.shape();
}

Shape with_dims(const Shape& shape, Dims dims) { return Shape::array(shape.type, std::move(dims)); }

StepValue Steps::operand(size_t i) {
  if (i < call_.operands.size() && call_.operands[i].shape().is_array()) {
    Shape shape = call_.module.shape(call_.module.operand(call_.id, i));
    shape.has_layout = true;
    shape.layout = Layout::descending(shape.dims.size());
    return {call_.operands[i], std::move(shape)};
  }
  fail(ErrorKind::Shape, fmt::format("expected an array as operand {}", i));
  return {{}, Shape::scalar(ElementType::F32)};
}

InstructionId Steps::state(Module& module, Op op, const Shape& shape,
                           std::span<const StepValue> operands) {
  const ComputationId entry = module.add_computation("step");
  module.entry = entry;
  std::vector<InstructionId> ids;
  for (const StepValue& operand : operands)
    ids.push_back(module.add_instruction(entry, Op::Parameter, operand.shape, {},
                                         ParameterAttributes{static_cast<int64_t>(ids.size())}));
  const InstructionId id = module.add_instruction(entry, op, shape, ids);
  module[entry].root = id;
  return id;
}

StepValue Steps::run(const Module& module, InstructionId id, std::vector<StepValue> operands) {
  const Shape& shape = module.shape(id);
  if (error_) return {{}, shape};
  if (const std::vector<Error> faults = verify(module, {.max_errors = 1}); !faults.empty()) {
    fail(faults[0].kind, fmt::format("{} in it: {}", text_of(module[id].op), faults[0].message));
    return {{}, shape};
  }
  std::vector<Literal> literals;
  for (StepValue& operand : operands) literals.push_back(std::move(operand.literal));
  operands.clear();
  Call call{call_.device, module, id, module[id], literals};
  Result<Literal> out = op_function(module[id].op)(call);
  if (!out) {
    error_ = std::move(out).error();
    error_->place = call_.module.place(call_.id);
    return {{}, shape};
  }
  return {std::move(*out), shape};
}

StepValue Steps::op(Op op, const Shape& shape, std::vector<StepValue> operands) {
  Module module;
  const InstructionId id = state(module, op, shape, operands);
  return run(module, id, std::move(operands));
}

StepValue Steps::unary(Op op, StepValue a) {
  const Shape shape = a.shape;
  return this->op(op, shape, {std::move(a)});
}

StepValue Steps::binary(Op op, StepValue a, StepValue b) {
  const Shape shape = a.shape;
  return this->op(op, shape, {std::move(a), std::move(b)});
}

StepValue Steps::convert(StepValue a, ElementType type) {
  if (a.shape.type == type) return a;
  const Shape shape = with_type(a.shape, type);
  return op(Op::Convert, shape, {std::move(a)});
}

StepValue Steps::scalar(double value, const Shape& like) {
  StepValue f64{Literal::scalar(value), Shape::scalar(ElementType::F64)};
  return broadcast(convert(std::move(f64), like.type), like, {});
}

StepValue Steps::broadcast(StepValue a, const Shape& shape, Dims dims) {
  return op(Op::Broadcast, with_dims(shape, shape.dims), {std::move(a)},
            DimensionsAttributes{std::move(dims)});
}

StepValue Steps::reshape(StepValue a, Dims dims) {
  const Shape shape = with_dims(a.shape, std::move(dims));
  return op(Op::Reshape, shape, {std::move(a)});
}

StepValue Steps::transpose(StepValue a, Dims permutation) {
  Dims dims;
  for (int64_t d : permutation) dims.push_back(d >= 0 && d < a.shape.rank() ? a.shape.dims[d] : 0);
  const Shape shape = with_dims(a.shape, std::move(dims));
  return op(Op::Transpose, shape, {std::move(a)}, DimensionsAttributes{std::move(permutation)});
}

void Steps::fail(ErrorKind kind, std::string message) {
  if (!error_) error_ = call_.error(kind, std::move(message)).error();
}

Result<Literal> Steps::finish(std::vector<StepValue> values) {
  if (error_) return std::unexpected(*error_);
  const Shape& stated = call_.shape();
  const std::span<const Shape> shapes =
      stated.is_tuple() ? std::span<const Shape>(stated.elements) : std::span(&stated, 1);
  std::vector<Literal> out;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (i >= values.size()) {
      out.push_back(make_zeros(call_, call_.held(shapes[i])));
      continue;
    }
    const Shape held = call_.held(shapes[i]);
    if (!same_dims(values[i].literal.shape(), held))
      return call_.error(ErrorKind::Shape,
                         fmt::format("result {} is {}; the custom call states {}", i,
                                     to_string_without_layout(values[i].literal.shape()),
                                     to_string_without_layout(held)));
    out.push_back(values[i].literal.with_shape(held));
  }
  if (stated.is_tuple()) return Literal::tuple(std::move(out));
  return std::move(out[0]);
}

}  // namespace hilo
