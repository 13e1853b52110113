// Blocks, op by op, and what regions use of the values around them.
#include <algorithm>

#include "wire/stablehlo/op_rules.h"

namespace hilo::mlir {
namespace {

constexpr int max_sunk_steps = 64;

bool is_terminator(const Operation& operation) {
  return operation.name == "stablehlo.return" || operation.name == "func.return" ||
         operation.name == "sdy.return";
}

}  // namespace

Result<const Block*> Converter::only_block(RegionId region) const {
  const Region& found = program[region];
  if (found.blocks.size() == 1) return &program[found.blocks[0]];
  return fail(ErrorKind::Unsupported, "a region of {} blocks; one was expected",
              found.blocks.size());
}

const std::vector<ValueId>& Converter::captured(RegionId region) {
  const auto known_before = captured_.find(region);
  if (known_before != captured_.end()) return known_before->second;
  std::vector<ValueId> out;
  std::unordered_set<ValueId> defined, seen;
  const auto use = [&](ValueId value) {
    if (!defined.contains(value) && seen.insert(value).second) out.push_back(value);
  };
  for (BlockId id : program[region].blocks) {
    const Block& block = program[id];
    defined.insert(block.arguments.begin(), block.arguments.end());
    for (OpId op : block.operations) {
      for (ValueId value : program[op].operands) use(value);
      for (RegionId inner : program[op].regions)
        for (ValueId value : captured(inner)) use(value);
      defined.insert(program[op].results.begin(), program[op].results.end());
    }
  }
  return captured_.emplace(region, std::move(out)).first->second;
}

Result<InstructionId> Converter::find_value(const Scope& scope, ValueId value) const {
  const auto found = scope.values.find(value);
  if (found != scope.values.end()) return found->second;
  return fail(ErrorKind::Structure, "a value %{} that is not defined here", program[value].name);
}

std::optional<InstructionId> Converter::sink(Scope& scope, InstructionId value, int steps) {
  const auto before = scope.sunk.find(value);
  if (before != scope.sunk.end()) return before->second;
  const Instruction from = module[value];
  constexpr uint16_t fixed = TraitEffect | TraitCollective | TraitNotFolded;
  if ((has_trait(from.op, fixed) && from.op != Op::Parameter) || from.op == Op::Parameter ||
      from.op == Op::GetTupleElement || from.op == Op::Tuple || !module.called(from).empty())
    return std::nullopt;
  if (from.operand_count > 0 && steps == 0) return std::nullopt;
  std::vector<InstructionId> operands;
  for (uint32_t i = 0; i < from.operand_count; ++i) {
    const auto operand = sink(scope, module.operand(value, i), steps - 1);
    if (!operand) return std::nullopt;
    operands.push_back(*operand);
  }
  const AttributesId attributes = module.copy_attributes(from.op, from.attributes);
  const Shape shape = module.shape(from);
  const InstructionId copy = append(scope, from.op, operands, attributes, shape, {});
  module[copy].metadata = from.metadata;
  if (const auto* values = known.find(value)) known.set(copy, KnownValues::Values(*values));
  scope.sunk.emplace(value, copy);
  return copy;
}

Result<InstructionId> Converter::unquantised(Step& step, size_t i) {
  const TypeId type = program[step.operation.operands[i]].type;
  const Quantization* quantised = quantization_of(program, type);
  const InstructionId value = step.operands[i];
  if (!quantised || module.shape(value).type != quantised->storage) return value;
  return dequantise(step, value, *quantised);
}

Result<void> Converter::convert_operation(Scope& scope, const Operation& operation) {
  const Row* row = find_row(operation.name);
  if (!row) return fail(ErrorKind::Unsupported, "the op is not known");
  if (row->operands >= 0 && operation.operands.size() != static_cast<size_t>(row->operands))
    return fail(ErrorKind::Shape, "expected {} operands, found {}", row->operands,
                operation.operands.size());
  if (row->results >= 0 && operation.results.size() != static_cast<size_t>(row->results))
    return fail(ErrorKind::Shape, "expected {} results, found {}", row->results,
                operation.results.size());
  Step step{*this, scope, operation, *row, origins.of(operation.location)};
  if (step.origin.name.empty() && !operation.results.empty()) {
    const std::string& name = program[operation.results[0]].name;
    if (!name.empty() && (name[0] < '0' || name[0] > '9')) step.origin.name = legal_name(name);
  }
  for (ValueId value : operation.operands) {
    HILO_TRY(step.operands.emplace_back(), find_value(scope, value));
  }
  HILO_DO(check_quantised(step));
  for (size_t i = 0; row->takes_numbers() && i < step.operands.size(); ++i) {
    HILO_TRY(step.operands[i], unquantised(step, i));
  }
  HILO_DO(row->handler(step));
  for (ValueId result : operation.results)
    if (!scope.values.contains(result)) return fail(ErrorKind::Shape, "a result without a value");
  return {};
}

Result<std::vector<InstructionId>> Converter::convert_block(Scope& scope, const Block& block) {
  std::vector<InstructionId> out;
  for (OpId id : block.operations) {
    const Operation& operation = program[id];
    const bool is_last = id == block.operations.back();
    if (is_terminator(operation) != is_last)
      return std::unexpected(at(operation, {ErrorKind::Structure,
                                            is_last ? "a block ends without a return"
                                                    : "a return before the end of its block",
                                            {}}));
    if (!is_last) {
      if (auto done = convert_operation(scope, operation); !done)
        return std::unexpected(at(operation, done.error()));
      continue;
    }
    for (ValueId value : operation.operands) {
      auto found = find_value(scope, value);
      if (!found) return std::unexpected(at(operation, found.error()));
      out.push_back(*found);
    }
  }
  if (block.operations.empty()) return fail(ErrorKind::Structure, "a block without a return");
  return out;
}

Result<void> need_arguments(Step& step, const Block& block, std::span<const InstructionId> values) {
  if (block.arguments.size() != values.size())
    return step.misfit("expected a region of {} arguments, found {}", values.size(),
                       block.arguments.size());
  for (size_t i = 0; i < values.size(); ++i) {
    HILO_TRY(const Shape taken, step.converter.shape_of(step.program()[block.arguments[i]].type));
    const Shape& given = step.module().shape(values[i]);
    if (!fits(given, taken))
      return step.misfit("argument {} of a region is {}, and {} is given", i,
                         to_string_without_layout(taken), to_string_without_layout(given));
  }
  return {};
}

// Where numbers are asked for, what a region returns is dequantised.
static Result<void> express(Step& step, Scope& inner, const Block& block,
                            std::vector<InstructionId>& results) {
  const Operation& last = step.program()[block.operations.back()];
  for (size_t i = 0; i < results.size(); ++i) {
    const Quantization* quantised =
        quantization_of(step.program(), step.program()[last.operands[i]].type);
    if (!quantised || step.module().shape(results[i]).type != quantised->storage) continue;
    Step in_region{step.converter, inner, step.operation, step.row, step.origin};
    HILO_TRY(results[i], dequantise(in_region, results[i], *quantised));
  }
  return {};
}

Result<ComputationId> Step::scalars(size_t region) {
  if (region >= operation.regions.size()) return misfit("expected {} regions", region + 1);
  const RegionId id = operation.regions[region];
  HILO_TRY(const Block* block, converter.only_block(id));
  Scope inner{converter.begin_computation(
      fmt::format("{}_body", legal_name(row.name.substr(row.name.find('.') + 1))))};
  for (ValueId argument : block->arguments) {
    const TypeId type = program()[argument].type;
    HILO_TRY(Shape shape, converter.shape_of(type));
    if (const Quantization* quantised = quantization_of(program(), type))
      shape.type = quantised->expressed;
    Origin from = converter.origins.of(program()[argument].location);
    if (from.name.empty()) from.name = legal_name(program()[argument].name);
    inner.values[argument] = converter.add_parameter(inner, shape, from);
  }
  for (ValueId value : converter.captured(id)) {
    HILO_TRY(const InstructionId outer, converter.find_value(scope, value));
    const auto sunk = converter.sink(inner, outer, max_sunk_steps);
    if (!sunk)
      return fail(ErrorKind::Unsupported,
                  "its region uses %{} from outside, which is not computed from constants",
                  program()[value].name);
    inner.values[value] = *sunk;
  }
  HILO_DO(converter.enter());
  HILO_TRY(auto results, converter.convert_block(inner, *block));
  converter.leave();
  HILO_DO(express(*this, inner, *block, results));
  HILO_TRY(module()[inner.computation].root, converter.tuple(inner, results, {}));
  return inner.computation;
}

}  // namespace hilo::mlir
