#include "report/comparison_parts.h"
#include "report/dump_reading.h"

namespace hilo {

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
  }
  for (const PictureCollective& one : find_collectives(module, costs)) {
    auto& collective = out.collectives[one.kind];
    ++collective.count;
    collective.bytes += one.link_bytes * one.runs;
  }
  return out;
}

}  // namespace hilo
