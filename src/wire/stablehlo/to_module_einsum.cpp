// einsum and unary_einsum, which StableHLO has from before dot_general: a letter names a dimension.
#include <algorithm>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {

Result<ComputationId> sum_of(Step& step, ElementType type) {
  Scope scope{step.converter.begin_computation("add")};
  const Shape scalar = Shape::scalar(type);
  const InstructionId a = step.converter.add_parameter(scope, scalar, {});
  const InstructionId b = step.converter.add_parameter(scope, scalar, {});
  HILO_TRY(step.module()[scope.computation].root,
           step.converter.add(scope, Op::Add, std::array{a, b},
                              step.module().default_attributes(Op::Add), nullptr, {}));
  return scope.computation;
}

namespace {

struct Labelled {
  InstructionId value;
  std::string labels;
};

// Sums over the dimensions whose letters are not in `kept`.
Result<Labelled> sum_out(Step& step, Labelled from, const std::string& kept) {
  ReduceAttributes attributes;
  std::string left;
  for (size_t i = 0; i < from.labels.size(); ++i)
    if (kept.contains(from.labels[i])) left += from.labels[i];
    else attributes.dimensions.push_back(static_cast<int64_t>(i));
  if (attributes.dimensions.empty()) return from;
  const ElementType type = step.module().shape(from.value).type;
  HILO_TRY(const InstructionId zero, step.constant(Literal::zeros(Shape::scalar(type))));
  HILO_TRY(attributes.to_apply, sum_of(step, type));
  HILO_TRY(const InstructionId value,
           step.add(Op::Reduce, {from.value, zero}, std::move(attributes)));
  return Labelled{value, left};
}

Result<InstructionId> reorder(Step& step, const Labelled& from, const std::string& labels) {
  if (from.labels == labels) return from.value;
  DimensionsAttributes order;
  for (const char label : labels)
    order.dimensions.push_back(static_cast<int64_t>(from.labels.find(label)));
  return step.add(Op::Transpose, {from.value}, std::move(order));
}

// "ab,bc->ac" in its parts; each letter once in each.
Result<std::vector<std::string>> parts_of(const Step& step, size_t inputs) {
  HILO_TRY(std::string config, step.text("einsum_config"));
  std::erase(config, ' ');
  std::vector<std::string> out(1);
  for (size_t i = 0; i < config.size(); ++i) {
    const bool is_arrow = config[i] == '-' && i + 1 < config.size() && config[i + 1] == '>';
    if (config[i] == ',' || is_arrow) out.emplace_back(), i += is_arrow;
    else out.back() += config[i];
  }
  if (out.size() != inputs + 1) return step.misfit("einsum_config \"{}\"", config);
  for (size_t i = 0; i < out.size(); ++i) {
    for (const char label : out[i])
      if (std::ranges::count(out[i], label) > 1 || !std::isalpha(static_cast<unsigned char>(label)))
        return fail(ErrorKind::Unsupported, "einsum_config \"{}\": a letter twice, or none",
                    config);
    if (i < inputs && (!step.shape(i).is_array() || step.shape(i).rank() != std::ssize(out[i])))
      return step.misfit("\"{}\" does not fit {}", out[i], to_string_without_layout(step.shape(i)));
  }
  for (const char label : out[inputs])
    if (!std::ranges::any_of(out.begin(), out.end() - 1,
                             [&](const std::string& one) { return one.contains(label); }))
      return step.misfit("no operand has the letter {}", label);
  return out;
}

}  // namespace

Result<void> convert_unary_einsum(Step& step) {
  HILO_TRY(const auto parts, parts_of(step, 1));
  HILO_TRY(const Labelled summed, sum_out(step, {step.operands[0], parts[0]}, parts[1]));
  HILO_TRY(const InstructionId value, reorder(step, summed, parts[1]));
  return step.give(value);
}

Result<void> convert_einsum(Step& step) {
  HILO_TRY(const auto parts, parts_of(step, 2));
  HILO_TRY(const Shape stated, step.stated());
  for (InstructionId& operand : step.operands) {
    const bool are_integers =
        is_integral(stated.type) && is_integral(step.module().shape(operand).type);
    if (!are_integers) continue;
    HILO_TRY(operand, step.convert(operand, stated.type));
  }
  HILO_TRY(const Labelled left, sum_out(step, {step.operands[0], parts[0]}, parts[1] + parts[2]));
  HILO_TRY(const Labelled right, sum_out(step, {step.operands[1], parts[1]}, parts[0] + parts[2]));
  DotAttributes a;
  std::string batch, left_free, right_free;
  for (size_t i = 0; i < left.labels.size(); ++i) {
    const char label = left.labels[i];
    const size_t other = right.labels.find(label);
    if (other == std::string::npos) {
      left_free += label;
      continue;
    }
    const bool is_batch = parts[2].contains(label);
    if (is_batch) batch += label;
    (is_batch ? a.lhs_batch_dims : a.lhs_contracting_dims).push_back(static_cast<int64_t>(i));
    (is_batch ? a.rhs_batch_dims : a.rhs_contracting_dims).push_back(static_cast<int64_t>(other));
  }
  for (const char label : right.labels)
    if (!left.labels.contains(label)) right_free += label;
  HILO_TRY(a.operand_precision, precisions_of(step));
  HILO_TRY(const InstructionId product, step.add(Op::Dot, {left.value, right.value}, std::move(a)));
  HILO_TRY(const InstructionId value,
           reorder(step, {product, batch + left_free + right_free}, parts[2]));
  return step.give(value);
}

}  // namespace hilo::mlir
