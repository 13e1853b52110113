// Branches and loops. What their regions use of the values around them is copied into them where it
// is constant, and handed over where it is not.
#include <algorithm>

#include "wire/stablehlo/op_rules.h"

namespace hilo::mlir {
namespace {

// A constant, or one op over constants, as that which broadcasts one.
bool is_copied(const Module& module, InstructionId value) {
  const Instruction& from = module[value];
  const auto is_constant = [&](InstructionId id) { return module[id].op == Op::Constant; };
  return from.op == Op::Constant || from.op == Op::Iota ||
         (from.op == Op::Broadcast && is_constant(module.operand(value, 0)));
}

// Of the values that regions use: those that are handed over, each once.
Result<std::vector<ValueId>> passed_to(Step& step, std::span<const RegionId> regions) {
  std::vector<ValueId> out;
  std::unordered_set<ValueId> seen;
  for (RegionId region : regions)
    for (ValueId value : step.converter.captured(region)) {
      HILO_TRY(const InstructionId outer, step.converter.find_value(step.scope, value));
      if (!is_copied(step.module(), outer) && seen.insert(value).second) out.push_back(value);
    }
  return out;
}

std::vector<InstructionId> values_of(const Step& step, std::span<const ValueId> values) {
  std::vector<InstructionId> out;
  for (ValueId value : values) out.push_back(step.scope.values.at(value));
  return out;
}

struct Inside {
  Scope scope;
  InstructionId parameter;
  std::vector<InstructionId> values;
};

// A computation of one parameter that holds `values`; its scope has what is copied.
Result<Inside> begin(Step& step, std::string_view name, RegionId region,
                     std::span<const InstructionId> values, InstructionId whole) {
  Converter& converter = step.converter;
  Inside out{Scope{converter.begin_computation(name)}, {}, {}};
  Origin origin = step.origin;
  origin.name = "arg";
  out.parameter = converter.add_parameter(out.scope, step.module().shape(whole), origin);
  HILO_TRY(out.values, converter.untuple(out.scope, out.parameter, values.size(), step.origin));
  for (ValueId value : converter.captured(region)) {
    const InstructionId outer = step.scope.values.at(value);
    if (!is_copied(step.module(), outer)) continue;
    const auto copy = converter.sink(out.scope, outer, 1);
    if (copy) out.scope.values[value] = *copy;
  }
  return out;
}

void pass(Step& step, Inside& inside, std::span<const ValueId> passed, size_t first) {
  for (size_t i = 0; i < passed.size(); ++i) {
    inside.scope.values[passed[i]] = inside.values[first + i];
    if (const auto* known = step.converter.known.find(step.scope.values.at(passed[i])))
      step.converter.known.set(inside.values[first + i], KnownValues::Values(*known));
  }
}

Result<std::vector<InstructionId>> finish(Step& step, Inside& inside, const Block& block,
                                          std::span<const InstructionId> more) {
  Converter& converter = step.converter;
  HILO_DO(converter.enter());
  HILO_TRY(auto results, converter.convert_block(inside.scope, block));
  converter.leave();
  results.insert(results.end(), more.begin(), more.end());
  HILO_TRY(step.module()[inside.scope.computation].root,
           converter.tuple(inside.scope, results, {}));
  return results;
}

struct Branch {
  ComputationId computation;
  InstructionId operand;
};

Result<Branch> branch(Step& step, RegionId region, std::string_view name) {
  Converter& converter = step.converter;
  HILO_TRY(const Block* block, converter.only_block(region));
  if (!block->arguments.empty()) return step.misfit("a branch takes no arguments");
  HILO_TRY(const std::vector<ValueId> passed, passed_to(step, std::array{region}));
  const std::vector<InstructionId> values = values_of(step, passed);
  HILO_TRY(const InstructionId operand, converter.tuple(step.scope, values, step.origin));
  HILO_TRY(Inside inside, begin(step, name, region, values, operand));
  pass(step, inside, passed, 0);
  HILO_DO(finish(step, inside, *block, {}));
  return Branch{inside.scope.computation, operand};
}

}  // namespace

static Result<void> give_conditional(Step& step, std::span<const std::string> names,
                                     std::span<const RegionId> regions) {
  const ElementType index = step.row.name == "stablehlo.if" ? ElementType::Pred : ElementType::S32;
  if (!fits(step.shape(0), Shape::scalar(index)))
    return step.misfit("expected {} as operand 0, found {}",
                       to_string_without_layout(Shape::scalar(index)),
                       to_string_without_layout(step.shape(0)));
  ConditionalAttributes attributes;
  std::vector<InstructionId> operands = {step.operands[0]};
  std::vector<ComputationId> branches;
  for (size_t i = 0; i < regions.size(); ++i) {
    HILO_TRY(const Branch one, branch(step, regions[i], names[i]));
    branches.push_back(one.computation);
    operands.push_back(one.operand);
    if (!same_dims(step.module().shape(step.module()[one.computation].root),
                   step.module().shape(step.module()[branches[0]].root)))
      return step.misfit(
          "branch {} gives {}, the first {}", i,
          to_string_without_layout(step.module().shape(step.module()[one.computation].root)),
          to_string_without_layout(step.module().shape(step.module()[branches[0]].root)));
  }
  if (step.row.name == "stablehlo.if") {
    attributes.true_computation = branches[0];
    attributes.false_computation = branches[1];
  } else {
    attributes.branch_computations = branches;
  }
  HILO_TRY(const InstructionId value, step.add(Op::Conditional, operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_if(Step& step) {
  HILO_DO(step.need_regions(2));
  const std::string names[] = {"true_branch", "false_branch"};
  return give_conditional(step, names, step.operation.regions);
}

// An index outside of the branches takes the last one, as HLO has it.
Result<void> convert_case(Step& step) {
  if (step.operation.regions.empty()) return step.misfit("a case without branches");
  const std::vector<std::string> names(step.operation.regions.size(), "branch");
  return give_conditional(step, names, step.operation.regions);
}

Result<void> convert_while(Step& step) {
  HILO_DO(step.need_regions(2));
  Converter& converter = step.converter;
  const RegionId condition = step.operation.regions[0], body = step.operation.regions[1];
  HILO_TRY(const Block* condition_block, converter.only_block(condition));
  HILO_TRY(const Block* body_block, converter.only_block(body));
  const size_t n = step.count();
  HILO_DO(need_arguments(step, *condition_block, step.operands));
  HILO_DO(need_arguments(step, *body_block, step.operands));
  HILO_TRY(const std::vector<ValueId> passed, passed_to(step, step.operation.regions));
  std::vector<InstructionId> state = step.operands;
  for (InstructionId value : values_of(step, passed)) state.push_back(value);
  HILO_TRY(const InstructionId whole, converter.tuple(step.scope, state, step.origin));
  WhileAttributes attributes;
  for (const auto& [region, block, name, of] :
       {std::tuple(condition, condition_block, "while_condition", &attributes.condition),
        std::tuple(body, body_block, "while_body", &attributes.body)}) {
    HILO_TRY(Inside inside, begin(step, name, region, state, whole));
    for (size_t i = 0; i < n; ++i) inside.scope.values[block->arguments[i]] = inside.values[i];
    pass(step, inside, passed, n);
    const bool is_body = region == body;
    const std::span<const InstructionId> carried = std::span(inside.values).subspan(n);
    HILO_DO(finish(step, inside, *block, is_body ? carried : carried.first(0)));
    *of = inside.scope.computation;
  }
  const InstructionId root = step.module()[attributes.body].root;
  if (!same_dims(step.module().shape(root), step.module().shape(whole)))
    return step.misfit("the body gives {}, the loop holds {}",
                       to_string_without_layout(step.module().shape(root)),
                       to_string_without_layout(step.module().shape(whole)));
  HILO_TRY(const InstructionId value, step.add(Op::While, {whole}, attributes));
  HILO_DO(step.annotate(value));
  HILO_TRY(const auto results, converter.untuple(step.scope, value, state.size(), step.origin));
  for (size_t i = 0; i < n; ++i) HILO_DO(step.give(i, results[i]));
  return {};
}

}  // namespace hilo::mlir
