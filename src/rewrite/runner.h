// Passes and pipelines, and the one runner of both. Shown through rewrite.h.
#pragma once

#include <map>

#include "machine/machine.h"
#include "rewrite/rule.h"

namespace hilo {

// What one loop may compute on the target.
struct FusionOptions {
  bool products = true;          // matrix products with what follows them
  bool gathers = false;          // elements at places that are computed
  bool scalars = false;          // also of single numbers alone, conditions of loops included
  bool complex = true;           // arithmetic on complex numbers
  bool several_reduced = false;  // reductions of several arrays at once
  bool windows = false;          // into reductions of windows that read each element once
  bool slabs = false;            // what works on the same lines of slabs, as on the same rows
  bool scheduled = false;        // in modules with a schedule too
};

struct FusionPair;  // pass/fuse/fusion_decision.h
// What a pass needs beyond the module.
struct PassOptions {
  const Machine* machine = nullptr;
  RewriteOptions rewrite;
  FusionOptions fusion;
  // Constant folding: results of more bytes are made only when their operands have as many, and no
  // more than so many elementary steps are taken in one run of the pass.
  int64_t fold_bytes = 1024, fold_steps = 50'000'000;
  // Loops are unrolled when the instructions of all rounds are no more than this; the second is of
  // few rounds that only compute and move elements.
  int64_t unroll_instructions = 64, unroll_by_element = 1024;
  // Inlining and unrolling stop where the module would get this many times larger, or as large as
  // grow_instructions if that is more.
  int64_t grow_times = 8, grow_instructions = 100'000;
  // Custom-call targets whose meaning is not that of eval/custom_call.def but the user's.
  std::vector<std::string> supplied_calls = {};
  bool is_supplied(std::string_view target) const;
  // Told by `fusion` of each producer and consumer before they are fused, if given.
  std::function<void(const Module& module, const FusionPair& pair)> fusion_decided = {};
};

// Returns whether it changed the module, which verifies before and after it. A pass may leave
// removed instructions and new ones out of order behind; the runner cleans up.
using PassFunction = Result<bool> (*)(Module&, const PassOptions&);
struct Pass {
  std::string_view name, summary;
  PassFunction run;
};

// A pass, or steps that are run again until none of them changes anything.
struct PipelineStep {
  const Pass* pass = nullptr;
  std::vector<PipelineStep> repeated;
};
using Pipeline = std::vector<PipelineStep>;
struct NamedPipeline {
  std::string_view name, summary, text;
};
// Reads "a, b, (c, d)*, e": names of passes, or of pipelines, which stand for their text.
// An error of kind Usage names what is unknown and the nearest name.
Result<Pipeline> parse_pipeline(std::string_view text, std::span<const Pass> passes,
                                std::span<const NamedPipeline> pipelines = {});

struct PassRun {
  int64_t number = 0;  // from 1, in the order of running
  std::string_view name;
  double seconds = 0;
  bool changed = false;
  size_t instructions = 0;  // of the module afterwards
};
struct PipelineOptions {
  PassOptions pass;
  bool verify = false;                // the module after each pass that changed it
  std::optional<int64_t> stop_after;  // that many runs of passes
  std::vector<std::string> disabled;  // names of passes that are left out
  int max_rounds = 16;                // of repeated steps
  std::function<Result<void>(const PassRun&, const Module&)> observer;  // after each run
};
struct PipelineReport {
  std::vector<PassRun> runs;
  bool changed = false;
  std::map<std::string_view, int64_t> fired;  // how often each rule did
};
// Runs a pipeline on a module that verifies. A repeated pass whose last run changed nothing is left
// out until something else has changed the module.
Result<PipelineReport> run_pipeline(Module& module, const Pipeline& pipeline,
                                    const PipelineOptions& options = {});
// One pass, cleaned up after.
Result<bool> run_pass(Module& module, PassFunction pass, const PassOptions& options = {});

}  // namespace hilo
