// What the inputs of a run tell of its module: whether it is a program of whole arrays. Private to
// `tools`.
#pragma once

#include "eval/eval.h"
#include "tools/run_options.h"

namespace hilo::tools {

// One device's values for each device, or global values, settle what the module leaves open.
Result<void> settle_partitioning(const RunOptions& options, const Module& module,
                                 EvalOptions& eval);
// A program of whole arrays is partitioned where each device has inputs of its own. Errors as of
// partition().
Result<void> partition_for_inputs(const RunOptions& options, Module& module);

}  // namespace hilo::tools
