#include "report/comparison_parts.h"

namespace hilo {
namespace {

double bytes_of_operands(const Module& module, InstructionId id) {
  double out = 0;
  for (const InstructionId operand : module.operands(id))
    for_each_leaf(module.shape(operand), [&](const Shape& leaf, std::span<const int64_t>) {
      if (leaf.is_array() && is_static(leaf)) out += static_cast<double>(unpadded_bytes(leaf));
    });
  return out;
}

std::string kind_of_collective(Op op) {
  std::string out(text_of(op));
  if (out.ends_with("-start")) out.resize(out.size() - std::string_view("-start").size());
  return out;
}

}  // namespace

int64_t bytes_of_result(const Module& module, InstructionId id) {
  int64_t out = 0;
  for_each_leaf(module.shape(id), [&](const Shape& leaf, std::span<const int64_t>) {
    if (leaf.is_array() && is_static(leaf)) out = add_bytes(out, padded_bytes(leaf));
  });
  return out;
}

ModuleTotals totals_of(const Module& module) {
  ModuleTotals out;
  out.computations = std::ssize(module.computations);
  out.parameters = std::ssize(module[module.entry].parameters);
  out.results = leaf_count(module.shape(module[module.entry].root));
  const std::vector<Cost> costs = count_cost(module);
  for (uint32_t i = 0; i < costs.size(); ++i) {
    const Instruction& instruction = module.instructions[i];
    if (instruction.removed) continue;
    ++out.instructions;
    const Cost& cost = costs[i];
    out.flops += cost.flops * cost.runs;
    out.transcendentals += cost.transcendentals * cost.runs;
    out.bytes += (cost.bytes_read + cost.bytes_written) * cost.runs;
    out.is_known = out.is_known && cost.flops_known && cost.runs_known;
    if (!has_trait(instruction.op, TraitCollective)) continue;
    auto& collective = out.collectives[kind_of_collective(instruction.op)];
    ++collective.count;
    collective.bytes += bytes_of_operands(module, {i}) * cost.runs;
  }
  return out;
}

}  // namespace hilo
