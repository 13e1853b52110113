// A run as one of several processes: what it may ask for, what must be the same on all. Private to
// `tools`.
#pragma once

#include "tools/run_options.h"
#include "tools/run_processes.h"

namespace hilo::tools {

// Of several ranks the first speaks for all, but for errors; others save what they have only where
// the name of the file has {rank}. Usage for options that one process alone can have.
Result<void> prepare_rank(const RunProcesses& processes, RunOptions& options, Session& session);
// Others hear how this one has ended.
void end_rank(RunProcesses& processes, Session& session);

// Input where ranks differ in the version, the module or the options that change values.
Result<void> compare_programs(RunProcesses& processes, const Module& module,
                              const RunOptions& options, const std::atomic<bool>* interrupt);
// Input where ranks differ in what was compiled (null: it is evaluated), or devices, of one process
// or of several, in bytes of a parameter that its sharding says are the same on them.
Result<void> compare_runs(RunProcesses& processes, const Module& module, const Inputs& inputs,
                          const Module* compiled, const EvalOptions& eval);

}  // namespace hilo::tools
