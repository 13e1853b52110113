// Costs of modules given as text.
#pragma once

#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo::test {

struct Counted {
  Module module;
  std::vector<Cost> costs;

  const Cost& of(std::string_view name) const {
    for (size_t i = 0; i < costs.size(); ++i)
      if (module.instructions[i].name == name) return costs[i];
    ADD_FAILURE() << "no instruction " << name;
    return costs.front();
  }
  // Loops once, as XLA sums; what is called from many places as often as it is called.
  Cost sum() const {
    std::vector<double> calls(module.computations.size());
    calls[module.entry.value] = 1;
    const std::vector<ComputationId> order = module.post_order();
    Cost sum;
    for (size_t n = order.size(); n-- > 0;)
      for (InstructionId id : module[order[n]].instructions) {
        const double times = calls[order[n].value];
        const Cost& c = costs[id.value];
        sum.flops += times * c.flops, sum.transcendentals += times * c.transcendentals;
        sum.bytes_read += times * c.bytes_read, sum.bytes_written += times * c.bytes_written;
        const Op op = module[id].op;
        if (op == Op::Call || op == Op::While || op == Op::Conditional || op == Op::AsyncStart)
          for (ComputationId callee : module.called(module[id])) calls[callee.value] += times;
      }
    return sum;
  }
};

inline Counted count(const std::string& text) {
  Result<Module> module = parse(text);
  if (!module) {
    ADD_FAILURE() << to_string(module.error());
    return {.costs = {Cost()}};
  }
  for (const Error& error : verify(*module)) ADD_FAILURE() << to_string(error);
  std::vector<Cost> costs = count_cost(*module);
  return {*std::move(module), std::move(costs)};
}

}  // namespace hilo::test
