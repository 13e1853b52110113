// Front door of `target`: what compiling for a kind of device means.
#pragma once

#include "emit/emit.h"
#include "pass/pass.h"

namespace hilo {

// Told of each pass before planning, in their order, and shown the module after it. An error ends
// the preparation.
using PassObserver = std::function<Result<void>(const PassRun& run, const Module& module)>;

struct PrepareOptions {
  PassObserver observer = {};
  std::vector<std::string> supplied_calls = {};  // PassOptions
};

// A pass or a pipeline by its name, and why it stands where it does.
struct TargetStep {
  std::string_view pass, reason;
};

struct Target {
  std::string_view name, description;
  // By the name that EmitOptions::cpu has: the chip whole, however many cores this process may use,
  // so that code is the same for all of these.
  Machine (*machine)(std::string_view cpu);
  // What prepare() runs, also in the language of parse_pipeline, and what it is told.
  std::span<const TargetStep> steps;
  std::string_view pipeline;
  PassOptions (*pass_options)(const Machine& machine);
  // The passes before planning. The module verifies; afterwards it is in the form that plan() and
  // emit() take.
  Result<void> (*prepare)(Module& module, const Machine& machine, const PrepareOptions& options);
  // Opens what emit() needs, as its first call would, and gives the same error. Any thread may call
  // it while others prepare.
  Result<void> (*open)();
  // Opens it and makes what the first emit() else makes besides: half of its time for a small
  // module. Errors are left to who emits. Any thread, as open().
  void (*get_ready)();
  // What of the chip that the options name decides the commands of a plan. The emitter is opened
  // where another chip than this machine's is named.
  Result<KernelChip> (*kernel_chip)(const EmitOptions& options);
  // Unsupported where the machine-code generator is not installed.
  Result<Code> (*emit)(const Module& module, const Plan& plan, const EmitOptions& options);
};

const Target& cpu_target();

// Those of pass/pipelines.def and the target's, which has the target's name.
std::vector<NamedPipeline> pipelines_of(const Target& target);

}  // namespace hilo
