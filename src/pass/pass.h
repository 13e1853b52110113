// Front door of `pass`: one file a pass, every pass of one type. A pass returns whether it changed
// the module; what it needs beyond the module stands in PassOptions. Passes promise that a module
// computes the same values as before, to the bit where PassOptions::rewrite.keeps says so, that
// layouts stay, and that effects and control dependences are kept.
#pragma once

#include "analysis/analysis.h"
#include "pass/fuse/fusion_decision.h"
#include "pass/loop_limits.h"
#include "rewrite/rewrite.h"

namespace hilo {

#define PASS(function, name, summary) \
  Result<bool> function(Module& module, const PassOptions& options);
#include "pass/passes.def"
#undef PASS

// passes.def and pipelines.def.
std::span<const Pass> all_passes();
std::span<const NamedPipeline> all_pipelines();
// All rewrite rules, and the pass that applies each table of them.
struct RuleFamily {
  std::string_view name;
  PassFunction pass;
  RuleTable rules;
};
std::span<const RuleFamily> all_rules();

// How sharding-propagation shards an array, and who said so.
struct PropagatedSharding {
  InstructionId instruction;
  Dims index;  // of the array in its tuple
  Shape shape;
  AxisSharding sharding;
  std::vector<std::vector<InstructionId>> said_by;  // of each dimension: parameters, constraints
};
// The module is left as that pass leaves it; annotations that are gone are marked as removed. Empty
// where the module is for one device.
Result<std::vector<PropagatedSharding>> explain_shardings(Module& module,
                                                          const PassOptions& options);

}  // namespace hilo
