// Instructions and computations of the module, each with an inferred shape that fits what the file
// states.
#include <algorithm>

#include "wire/stablehlo/op_rules.h"
#include "wire/stablehlo/result_accuracy.h"

namespace hilo::mlir {

bool fits(const Shape& found, const Shape& stated) {
  if (found.type != stated.type || found.dims.size() != stated.dims.size() ||
      found.elements.size() != stated.elements.size())
    return false;
  for (size_t i = 0; i < found.dims.size(); ++i)
    if (stated.dims[i] != Shape::unbounded && stated.dims[i] != found.dims[i]) return false;
  for (size_t i = 0; i < found.elements.size(); ++i)
    if (!fits(found.elements[i], stated.elements[i])) return false;
  return true;
}

namespace {

bool is_open(const Shape& shape) {
  return std::ranges::count(shape.dims, Shape::unbounded) > 0 ||
         std::ranges::any_of(shape.elements, is_open);
}

// Layouts are stated by custom calls, and by who takes their tuples apart.
bool keeps_layout(Op op) {
  return op == Op::CustomCall || op == Op::GetTupleElement || op == Op::Tuple || op == Op::Call;
}

void use_descending(Shape& shape) {
  if (shape.is_array())
    shape.has_layout = true, shape.layout = Layout::descending(shape.dims.size());
  for (Shape& element : shape.elements) use_descending(element);
}

}  // namespace

std::string Converter::unique_computation(std::string_view name) {
  const std::string legal = legal_name(name.empty() ? "computation" : name);
  std::string out = legal;
  for (size_t i = computation_names_.size(); !computation_names_.insert(out).second; ++i)
    out = fmt::format("{}.{}", legal, i);
  return out;
}

ComputationId Converter::begin_computation(std::string_view name) {
  const std::string unique = unique_computation(name);
  module.computations.emplace_back().name = module.strings.copy(unique);
  return {static_cast<uint32_t>(module.computations.size() - 1)};
}

InstructionId Converter::append(Scope& scope, Op op, std::span<const InstructionId> operands,
                                AttributesId attributes, const Shape& shape, const Origin& origin) {
  Instruction instruction;
  instruction.op = op;
  instruction.computation = scope.computation;
  instruction.attributes = attributes;
  instruction.metadata = origin.metadata;
  instruction.shape = module.shapes.intern(shape);
  // No other name ends in this number.
  const std::string_view begin = origin.name.empty() ? text_of(op) : std::string_view(origin.name);
  instruction.name = module.strings.copy(fmt::format("{}.{}", begin, module.instructions.size()));
  const InstructionId id = module.append_raw(instruction, operands);
  module[scope.computation].instructions.push_back(id);
  return id;
}

InstructionId Converter::add_parameter(Scope& scope, const Shape& shape, const Origin& origin) {
  const auto number = static_cast<int64_t>(module[scope.computation].parameters.size());
  const InstructionId id = append(
      scope, Op::Parameter, {}, module.add_attributes(ParameterAttributes{number}), shape, origin);
  module[scope.computation].parameters.push_back(id);
  return id;
}

Result<InstructionId> Converter::add(Scope& scope, Op op, std::span<const InstructionId> operands,
                                     AttributesId attributes, const Shape* stated,
                                     const Origin& origin) {
  const int expected = info(op).operands;
  if (expected >= 0 && operands.size() != static_cast<size_t>(expected))
    return fail(ErrorKind::Shape, "expected {} operands, found {}", expected, operands.size());
  // Inference wants the instruction; what it knows of shapes comes after.
  const InstructionId id =
      append(scope, op, operands, attributes, stated ? *stated : Shape(), origin);
  if (!stated) module[id].shape = {};
  HILO_TRY(Shape shape, infer_shape(module, module[id]));
  if (stated && !fits(shape, *stated))
    return fail(ErrorKind::Shape, "the result is {}, not {}", to_string_without_layout(shape),
                to_string_without_layout(*stated));
  if (is_open(shape))
    return fail(ErrorKind::Unsupported, "nothing says how large the result {} is",
                to_string_without_layout(shape));
  if (!keeps_layout(op)) use_descending(shape);
  module[id].shape = module.shapes.intern(std::move(shape));
  if (known.is_wanted) known.see(module, id);
  return id;
}

Result<InstructionId> Converter::tuple(Scope& scope, std::span<const InstructionId> values,
                                       const Origin& origin) {
  if (values.size() == 1) return values[0];
  return add(scope, Op::Tuple, values, module.default_attributes(Op::Tuple), nullptr, origin);
}

Result<std::vector<InstructionId>> Converter::untuple(Scope& scope, InstructionId value, size_t n,
                                                      const Origin& origin) {
  if (n == 1) return std::vector{value};
  if (module.shape(value).elements.size() != n)
    return fail(ErrorKind::Shape, "expected {} results, found {}", n,
                to_string_without_layout(module.shape(value)));
  std::vector<InstructionId> out;
  for (size_t i = 0; i < n; ++i) {
    const AttributesId index =
        module.add_attributes(GetTupleElementAttributes{static_cast<int64_t>(i)});
    HILO_TRY(out.emplace_back(),
             add(scope, Op::GetTupleElement, std::array{value}, index, nullptr, origin));
  }
  return out;
}

Result<InstructionId> Step::add(Op op, std::span<const InstructionId> from, const Shape* stated) {
  return converter.add(scope, op, from, module().default_attributes(op), stated, origin);
}

Result<InstructionId> Step::constant(Literal literal) {
  const Shape shape = literal.shape();
  ConstantAttributes attributes;
  attributes.literal.literal = std::make_shared<const Literal>(std::move(literal));
  return add(Op::Constant, {}, std::move(attributes), &shape);
}

Result<InstructionId> Step::reshape(InstructionId value, Dims dims) {
  if (module().shape(value).dims == dims) return value;
  const Shape to = Shape::array(module().shape(value).type, std::move(dims));
  return add(Op::Reshape, {value}, &to);
}

Result<InstructionId> Step::broadcast(InstructionId value, Dims dims, Dims result) {
  const Shape to = Shape::array(module().shape(value).type, std::move(result));
  return add(Op::Broadcast, {value}, DimensionsAttributes{std::move(dims)}, &to);
}

Result<InstructionId> Step::convert(InstructionId value, ElementType type) {
  Shape to = module().shape(value);
  if (to.type == type) return value;
  to.type = type;
  return add(Op::Convert, {value}, &to);
}

Result<InstructionId> Step::like(InstructionId scalar, const Shape& shape) {
  if (!module().shape(scalar).is_scalar() || shape.is_scalar()) return scalar;
  return broadcast(scalar, {}, shape.dims);
}

Result<void> Step::give(size_t result, InstructionId value) {
  if (result >= result_count()) return misfit("expected more than {} results", result);
  const TypeId type = program()[operation.results[result]].type;
  const Quantization* quantised = quantization_of(program(), type);
  if (quantised && row.takes_numbers() && module().shape(value).type != quantised->storage) {
    HILO_TRY(value, quantise(*this, value, *quantised));
  }
  HILO_TRY(const Shape shape, converter.shape_of(type));
  if (!fits(module().shape(value), shape))
    return misfit("result {} is {}, not {}", result,
                  to_string_without_layout(module().shape(value)), to_string_without_layout(shape));
  scope.values[operation.results[result]] = value;
  return {};
}

Result<void> Step::annotate(InstructionId value) {
  const Operation& of = operation;
  if (const Attribute* dictionary = program().find(of, "mhlo.frontend_attributes")) {
    HILO_TRY(FrontendAttributes all, frontend_attributes_of(program(), *dictionary));
    module().mutable_extra(value).frontend_attributes.merge(all);
  }
  if (const Attribute* rule = program().find(of, "sdy.sharding_rule");
      rule && rule->text == "sdy.op_sharding_rule") {
    const std::string text = "#sdy.op_sharding_rule" + program().find(*rule, "rule")->text;
    module().mutable_extra(value).frontend_attributes["xla.sdy.sharding_rule"] = {text, false};
  }
  if (const Attribute* accuracy = program().find(of, "result_accuracy")) {
    HILO_TRY(std::string text, text_of_accuracy(program(), *accuracy));
    if (!text.empty()) module().mutable_extra(value).result_accuracy = std::move(text);
  }
  HILO_TRY(const auto sharding, converter.sharding_in(program().find(of, "sdy.sharding"),
                                                      program().find(of, "mhlo.sharding")));
  if (sharding &&
      (sharding->tiles.kind != Sharding::Kind::Tuple || module().shape(value).is_tuple()))
    converter.set_sharding(value, *sharding);
  return {};
}

Result<void> Step::give(InstructionId value) {
  HILO_DO(annotate(value));
  HILO_TRY(const auto values, converter.untuple(scope, value, result_count(), origin));
  for (size_t i = 0; i < values.size() && i < result_count(); ++i) HILO_DO(give(i, values[i]));
  return {};
}

}  // namespace hilo::mlir
