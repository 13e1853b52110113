// Front door of `compile`: a module becomes a program that runs. The whole system in one call:
// passes, plan, machine code.
#pragma once

#include "device/device.h"
#include "eval/eval.h"
#include "target/target.h"

namespace hilo {

// Of HILO_CACHE and HILO_CACHE_SIZE in the environment. Usage where the size is none.
Result<CacheOptions> cache_of_environment();
Result<int64_t> parse_bytes(const std::string& text);  // "16GiB", "512MB", "1000"; empty: 0

// Where a user's transformation sees a module: behind the passes of the target, and again in the
// order of its plan.
enum class TransformStage : uint8_t { Prepared, Ordered };
constexpr size_t transform_stages = 2;
// Whether it has changed the module. What it has changed must verify and take and give the same
// arrays; it goes through the passes of the target again, which keep an order that it has.
using ModuleTransform = std::function<Result<bool>(TransformStage stage, Module& module)>;

struct CompileOptions {
  int threads = 0;  // of the device; 0: usable_cores()
  // Whose memory and threads runs take, with others that it has been given to; null: one of the
  // executable's own, with `threads`.
  std::shared_ptr<HostDevice> device;
  bool is_verified = false;  // verify() has found nothing, and need not look again
  EmitOptions emit;  // the cache of machine code, the processor, what is shown of LLVM's stages;
                     // its flag `interrupt` is asked after each pass and before planning, too
  // Shown on the way: the module as it was read, with no pass's name, and after each pass that
  // changed it; and the plan.
  std::function<void(std::string_view pass, const Module&)> see_module;
  std::function<void(const Module&, const Machine&, const Plan&)> see_plan;
  ModuleTransform transform;  // of the user's; may be empty
  EvalOptions eval;  // of library steps: custom calls, precision of matrix products; how many
                     // devices there are, and what is fed to them
};

// A step that the evaluator does, and why.
struct EvaluatedStep {
  InstructionId instruction;
  std::string reason;  // that it has no code
};
// The step as its program has it: "all-gather of f32[16,256]", "custom call `mine`".
std::string described(const Module& module, const EvaluatedStep& step);
// What all runs of a pass before planning took.
struct PassTime {
  std::string name;
  double seconds = 0;
  int64_t runs = 0, changes = 0;  // runs that changed the module
};
struct CompileReport {
  // As in Code; prepare_seconds is all passes before planning and what is between them.
  double prepare_seconds = 0, plan_seconds = 0, lower_seconds = 0, optimise_seconds = 0,
         machine_seconds = 0, link_seconds = 0, cache_seconds = 0;
  double total_seconds() const {
    return prepare_seconds + plan_seconds + lower_seconds + optimise_seconds + machine_seconds +
           cache_seconds;
  }
  std::vector<PassTime> passes;  // in the order of their first runs
  CacheReport cache;
  int64_t kernels = 0;   // loops in machine code
  int64_t joined = 0;    // steps done part by part with the product or convolution before
  int64_t routines = 0;  // steps that functions of the evaluator do on addresses
  std::vector<EvaluatedStep> evaluated;
  int64_t temp_bytes = 0;  // that a run takes besides arguments, results and 4 KiB of its frame
  // With arguments and results, on all devices; INT64_MAX: more than can be counted.
  int64_t run_bytes = 0;
};

struct RunOptions {
  const std::atomic<bool>* interrupt = nullptr;
  // Called after each step that has code, callees' steps first, on the thread of its device, so
  // that several devices call at once: the large ones, and with CompileOptions::emit.tell_steps
  // all.
  std::function<void(InstructionId step, int64_t device)> after_step;
  uint64_t run = 0;  // where devices are in several processes: EvalOptions::processes's
  // Instead of CompileOptions::eval's, of this run: functions for the same targets.
  const std::map<std::string, CustomCallFunction>* custom_calls = nullptr;
};

struct ExecutableState;  // executable.h

class Executable {
 public:
  const Module& module() const;  // as it was compiled
  const CompileReport& report() const;
  // One value for each entry parameter. Arguments that the module may write over and that nobody
  // else holds are written over; others are copied first. The results have the same bits for any
  // number of threads. Callable from several threads at once. Input where an argument is not what
  // its parameter takes; Memory where the machine has too little.
  Result<Literal> run(std::vector<Literal> arguments, const RunOptions& options = {}) const;
  // As run(), of one device: the leaves of the result in order, dense and row-major also by their
  // layouts. An argument that only `arguments` holds is one that nobody else holds.
  Result<std::vector<Literal>> run_leaves(std::span<const Literal> arguments,
                                          const RunOptions& options = {}) const;
  // On devices() virtual devices and those of other processes, each with a memory and a thread of
  // its own, which meet in the module's collectives; one that waits for what can never come is an
  // error.
  Result<Outputs> run_devices(Inputs inputs, const RunOptions& options = {}) const;
  int64_t devices() const;  // in this process

 private:
  friend Result<Executable> compile(Module module, const Target& target,
                                    const CompileOptions& options);
  std::shared_ptr<const ExecutableState> state_;
};

// A program for others to link, which needs nothing of LLVM, and where it says so libhilo_run.
struct ObjectFile {
  std::string object;  // a relocatable file of the system's format
  std::string header;  // C and C++: the function, its parameters and results, a small C++ wrapper
  bool needs_run_time = false;  // libhilo_run: for report.routines, for `evaluated`, for threads
  std::map<std::string, int64_t> evaluated;  // as described() -> steps
  CompileReport report;
  std::string link_flags;  // behind the object, where it is linked on this machine
};
struct ObjectOptions {
  bool stands_alone = false;  // libhilo_run is not needed, and every step must have code
  int threads = 1;            // in all, that a call works on; 0: usable_cores() where it runs
};
// One C function `name`, for one device; the header says what it takes. Constants are part of the
// object. Errors are those of compile(); Unsupported, with names and a place, also for steps that
// need more than the object can have; Usage where the name is no name in C, or options.emit.cpu
// none that is known.
Result<ObjectFile> compile_object(Module module, const std::string& name,
                                  const Target& target = cpu_target(),
                                  const CompileOptions& options = {},
                                  const ObjectOptions& object_options = {});

// A program of whole arrays with shardings becomes that of one device each, by the pipeline `spmd`,
// or, where every array says its sharding, by the rest of it: parameters and results are tiles from
// then on. The module must verify. Errors name the instruction.
enum class PartitionFrom : uint8_t { Annotations, Shardings };
Result<void> partition(Module& module, PartitionFrom from = PartitionFrom::Annotations);

// A program as it stands before there is code: the module after all passes, its plan and commands.
struct PlannedProgram {
  Module module;
  Plan plan;
};
// What compile() makes code of. Errors are its own, but that unknown custom calls are none.
Result<PlannedProgram> plan_program(Module module, const Target& target = cpu_target(),
                                    const CompileOptions& options = {});

// verify()'s first error where there is one; Unsupported, with a place, for what the target cannot
// run; Interrupted; Memory where the machine has too little.
Result<Executable> compile(Module module, const Target& target = cpu_target(),
                           const CompileOptions& options = {});

}  // namespace hilo
