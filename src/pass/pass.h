// Front door of `pass`: one file a pass, every pass of one type. A pass returns whether it changed
// the module; what it needs beyond the module stands in PassOptions. Passes promise that a module
// computes the same values as before, to the bit where PassOptions::rewrite.keeps says so, that
// layouts stay, and that effects and control dependences are kept.
#pragma once

#include "analysis/analysis.h"
#include "rewrite/rewrite.h"

namespace hilo {

#define PASS(function, name, summary) \
  Result<bool> function(Module& module, const PassOptions& options);
#include "pass/passes.def"
#undef PASS

// A caller of its own for every computation that is run. See flatten_calls.cpp.
Result<bool> flatten_calls(Module& module, const PassOptions& options);
// Copies where aliases would make one buffer hold two values at once, and nowhere else: while
// carries, donated parameters, results that must not share. Flattens calls first. See
// copy_insertion.cpp.
Result<bool> insert_copies(Module& module, const PassOptions& options);

// passes.def and pipelines.def.
std::span<const Pass> all_passes();
std::span<const NamedPipeline> all_pipelines();
// All rules, by table: "add", "reshape", ...
struct RuleFamily {
  std::string_view name;
  RuleTable rules;
};
std::span<const RuleFamily> all_rules();

}  // namespace hilo
