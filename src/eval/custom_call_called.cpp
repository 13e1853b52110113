// Custom calls of TPU modules whose meaning is a computation that they call.
#include "eval/backend_config.h"
#include "eval/custom_call.h"

namespace hilo {
namespace {

Result<ComputationId> called(const Call& call) {
  const auto& computations = call.attributes<CustomCallAttributes>().called_computations;
  if (computations.size() == 1) return computations[0];
  return call.error(ErrorKind::Structure,
                    fmt::format("expected one called computation, found {}", computations.size()));
}

// What sort asks of its comparator.
bool compares(const Module& module, ComputationId comparator, std::span<const Shape> rows) {
  const auto& parameters = module[comparator].parameters;
  bool fits = parameters.size() == 2 * rows.size() &&
              same_dims(module.shape(module[comparator].root), Shape::scalar(ElementType::Pred));
  for (size_t i = 0; fits && i < parameters.size(); ++i)
    fits = same_dims(module.shape(parameters[i]), Shape::scalar(rows[i / 2].type)) &&
           rows[i / 2].dims == rows[0].dims;
  return fits;
}

// The first of a result along `dim`: cut, or filled with a number.
StepValue resized(Steps& steps, StepValue row, StepValue fill, int64_t dim, int64_t size) {
  Shape shape = row.shape;
  const int64_t now = shape.dims[static_cast<size_t>(dim)];
  shape.dims[static_cast<size_t>(dim)] = size;
  if (size > now) {
    PadAttributes pad;
    pad.padding.dims.resize(shape.dims.size());
    pad.padding.dims[static_cast<size_t>(dim)].high = size - now;
    return steps.op(Op::Pad, shape, {std::move(row), std::move(fill)}, std::move(pad));
  }
  SliceAttributes slice;
  for (int64_t d : shape.dims) slice.slice.dims.push_back({0, d, 1});
  return steps.op(Op::Slice, shape, {std::move(row)}, std::move(slice));
}

}  // namespace

// What another core of the chip runs.
Result<Literal> call_called_computation(Call& call) {
  HILO_TRY(const ComputationId callee, called(call));
  const auto& parameters = call.module[callee].parameters;
  bool fits = parameters.size() == call.operands.size() &&
              same_dims(call.module.shape(call.module[callee].root), call.shape());
  for (size_t i = 0; fits && i < parameters.size(); ++i)
    fits = same_dims(call.module.shape(parameters[i]),
                     call.module.shape(call.module.operand(call.id, i)));
  if (!fits)
    return call.error(ErrorKind::Shape,
                      fmt::format("operands and result are not those of the called computation {}",
                                  call.module[callee].name));
  return call.apply(callee, {call.operands.begin(), call.operands.end()});
}

// Arrays and as many initial numbers. Which elements a result is the best of is the chip's choice;
// here the results of a row are its best elements in order, then initial numbers: the rest of the
// row goes to any of them.
Result<Literal> call_partial_reduce(Call& call) {
  HILO_TRY(const BackendConfig config, BackendConfig::parse(call));
  HILO_TRY(const ComputationId comparator, called(call));
  const size_t count = call.operands.size() / 2;
  const int64_t dim = config.whole("reduction_dim", -1);
  const Shape stated = call.shape().is_tuple() ? call.shape() : Shape::tuple({call.shape()});
  if (config.text("to_apply_type", "comparator") != "comparator")
    return call.error(ErrorKind::Unsupported, "is known with a comparator only");
  if (count == 0 || call.operands.size() % 2 != 0 || stated.elements.size() != count)
    return call.error(ErrorKind::Shape, "expected arrays and as many initial numbers and results");
  Steps steps(call);
  Module module = call.module;
  module.entry = module.add_computation("rows");
  std::vector<InstructionId> ids;
  std::vector<Shape> shapes;
  std::vector<Literal> operands;
  for (size_t i = 0; i < count; ++i) {
    StepValue operand = steps.operand(i);
    if (dim < 0 || dim >= operand.shape.rank() || stated.elements[i].rank() != operand.shape.rank())
      return call.error(ErrorKind::Shape, fmt::format("has no dimension {} to reduce", dim));
    ids.push_back(module.add_instruction(module.entry, Op::Parameter, operand.shape, {},
                                         ParameterAttributes{static_cast<int64_t>(i)}));
    shapes.push_back(operand.shape);
    operands.push_back(std::move(operand.literal));
  }
  if (!compares(module, comparator, shapes))
    return call.error(
        ErrorKind::Shape,
        fmt::format("{} does not compare two elements of each operand", module[comparator].name));
  const Shape sorted = count == 1 ? shapes[0] : Shape::tuple(shapes);
  const InstructionId sort = module.add_instruction(module.entry, Op::Sort, sorted, ids,
                                                    SortAttributes{{dim}, true, comparator});
  module[module.entry].root = sort;
  Call inner{call.device, module, sort, module[sort], operands};
  HILO_TRY(const Literal out, op_function(Op::Sort)(inner));
  std::vector<StepValue> results;
  for (size_t i = 0; i < count; ++i)
    results.push_back(resized(steps, {count == 1 ? out : out.elements()[i], shapes[i]},
                              steps.operand(count + i), dim,
                              stated.elements[i].dims[static_cast<size_t>(dim)]));
  return steps.finish(std::move(results));
}

}  // namespace hilo
