#include "compile/compile.h"

#include <algorithm>
#include <chrono>

#include "compile/executable.h"
#include "compile/object_header.h"
#include "compile/object_steps.h"
#include "compile/transform.h"
#include "verify/verify.h"

namespace hilo {
namespace {

// Of PlanOptions: ten times as much takes some 2 % off the temporaries of one module in 100, and
// many modules then take longer to plan than to make code of.
constexpr double packing_seconds = 0.05;

template <class Body>
auto timed(double& seconds, Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  auto out = body();
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

void count_memory(ExecutableState& state) {
  CompileReport& report = state.report;
  const auto add = [](int64_t& sum, int64_t bytes) {
    if (__builtin_add_overflow(sum, bytes, &sum)) sum = INT64_MAX;
  };
  RunFrame frame;
  for (const MemoryPiece& piece : state.code.memory) {
    if (piece.source == MemorySource::None || piece.source == MemorySource::Constant ||
        frame.place(piece))
      continue;
    add(report.run_bytes, piece.bytes);
    if (piece.source != MemorySource::Argument) add(state.taken_bytes, piece.bytes);
    if (piece.source == MemorySource::Temporary) report.temp_bytes += piece.bytes;
  }
  for (int64_t* bytes : {&report.run_bytes, &state.taken_bytes})
    if (__builtin_mul_overflow(*bytes, state.devices, bytes)) *bytes = INT64_MAX;
}

void note_leaves(ExecutableState& state) {
  const Module& module = state.module;
  for_each_leaf(module.shape(module[module.entry].root), [&](const Shape& leaf, auto) {
    const bool is_fixed = leaf.is_array() && !leaf.has_dynamic_dims();
    state.leaves.push_back(
        std::make_shared<Shape>(is_fixed ? Shape::array(leaf.type, leaf.dims) : leaf));
  });
}

constexpr int64_t threads_pay_bytes = 1 << 18;

// Of operands and results of the largest step that is evaluated.
int64_t work_bytes(const Module& module, const Code& code) {
  int64_t out = 0;
  for (const LibraryStep& step : code.library_steps) {
    int64_t bytes = literal_bytes(module.shape(step.instruction));
    for (InstructionId operand : module.operands(step.instruction))
      bytes += literal_bytes(module.shape(operand));
    out = std::max(out, bytes);
  }
  return out;
}

void count_pass(const PassRun& run, std::vector<PassTime>& passes) {
  auto found = std::ranges::find(passes, run.name, &PassTime::name);
  if (found == passes.end()) found = passes.insert(found, {.name = std::string(run.name)});
  found->seconds += run.seconds;
  ++found->runs;
  found->changes += run.changed;
}

void count_steps(std::span<const LibraryStep> steps, std::span<const RoutineStep> routines,
                 CompileReport& report) {
  for (size_t i = 0; i < steps.size(); ++i) {
    if (routines[i].routine) ++report.routines;
    else report.evaluated.push_back({steps[i].instruction, steps[i].reason});
  }
}

Result<Plan> plan_with_commands(const Module& module, const Machine& machine,
                                const CommandOptions& options) {
  HILO_TRY(Plan out, plan(module, machine, {.packing_seconds = packing_seconds}));
  HILO_TRY(out.commands, find_commands(module, out, options));
  return out;
}

// The passes, the plan and its commands; the module is changed.
class PlanMaker {
 public:
  PlanMaker(Module& module, const Target& target, const CompileOptions& options,
            const EmitOptions& emit, CompileReport& report)
      : module_(module),
        target_(target),
        options_(options),
        emit_(emit),
        report_(report),
        machine_(target.machine(emit.cpu)) {}

  Result<Plan> run() {
    if (options_.see_module) options_.see_module("", module_);
    HILO_DO(prepare());
    HILO_TRY(bool is_changed, transform(module_, TransformStage::Prepared, options_.transform));
    if (is_changed) HILO_DO(prepare());
    HILO_TRY(Plan out, plan());
    if (options_.transform) {
      Module ordered = in_order_of(out, module_);
      HILO_TRY(is_changed, transform(ordered, TransformStage::Ordered, options_.transform));
      if (is_changed) {
        module_ = std::move(ordered);
        HILO_DO(prepare());
        HILO_TRY(out, plan());
      }
    }
    if (options_.see_plan) options_.see_plan(module_, machine_, out);
    HILO_DO(may_go_on(emit_.interrupt));
    return out;
  }

 private:
  Result<void> prepare() {
    const auto see = [&](const PassRun& run, const Module& now) {
      count_pass(run, report_.passes);
      if (options_.see_module && run.changed) options_.see_module(run.name, now);
      return may_go_on(emit_.interrupt);
    };
    PrepareOptions prepare{see};
    for (const auto& supplied : options_.eval.custom_calls)
      prepare.supplied_calls.push_back(supplied.first);
    return timed(report_.prepare_seconds,
                 [&] { return target_.prepare(module_, machine_, prepare); });
  }

  Result<Plan> plan() {
    HILO_TRY(const KernelChip chip, target_.kernel_chip(emit_));
    const CommandOptions deciding = {chip, machine_, &options_.eval};
    return timed(report_.plan_seconds,
                 [&] { return plan_with_commands(module_, machine_, deciding); });
  }

  Module& module_;
  const Target& target_;
  const CompileOptions& options_;
  const EmitOptions& emit_;
  CompileReport& report_;
  const Machine machine_;
};

Result<Plan> make_plan(Module& module, const Target& target, const CompileOptions& options,
                       const EmitOptions& emit, CompileReport& report) {
  return PlanMaker(module, target, options, emit, report).run();
}

// An object by itself has nobody to leave a step to: the first by its place, and all by their
// names.
Result<void> check_all_have_code(const Module& module, const Plan& plan) {
  std::vector<const Command*> without;
  for (const std::vector<Command>& commands : plan.commands.orders)
    for (const Command& command : commands)
      if (command.refusal) without.push_back(&command);
  if (without.empty()) return {};
  std::ranges::sort(without, {}, [&](const Command* command) {
    return plan.liveness.moments[command->instruction.value];
  });
  constexpr size_t max_named = 8;
  std::string names;
  for (size_t i = 0; i < std::min(max_named, without.size()); ++i) {
    const Instruction& instruction = module[without[i]->instruction];
    names += fmt::format("{}{} '{}' ({})", i ? ", " : "", text_of(instruction.op), instruction.name,
                         describe(module, *without[i]));
  }
  if (without.size() > max_named) names += ", ...";
  return std::unexpected(
      Error{ErrorKind::Unsupported,
            fmt::format("an object file needs code for every step, and {} would be evaluated: {}",
                        without.size(), names),
            module.place(without[0]->instruction)});
}

// The whole way from a module to code, which refers to the module.
Result<Code> translate(Module& module, const Target& target, const CompileOptions& options,
                       const EmitOptions& emit, CompileReport& report) {
  HILO_TRY(const Plan planned, make_plan(module, target, options, emit, report));
  if (emit.is_alone()) HILO_DO(check_all_have_code(module, planned));
  HILO_TRY(Code code, target.emit(module, planned, emit));
  report.lower_seconds = code.lower_seconds;
  report.optimise_seconds = code.optimise_seconds;
  report.machine_seconds = code.machine_seconds;
  report.link_seconds = code.link_seconds;
  report.cache_seconds = code.cache_seconds;
  report.cache = std::move(code.cache);
  report.kernels = code.kernels;
  report.joined = code.joined;
  return code;
}

Result<std::shared_ptr<const ExecutableState>> make_state(Module module, const Target& target,
                                                          const CompileOptions& options) {
  if (!options.is_verified) HILO_DO(check_module(module));
  CompileReport report;
  EvalOptions eval = options.eval;
  eval.partitioning = find_partitioning(module, eval);  // passes may remove what tells it
  auto state = std::make_shared<ExecutableState>(
      std::move(module),
      options.device ? options.device : std::make_shared<HostDevice>(options.threads));
  EmitOptions emit = options.emit;
  if (emit.threads == 0) emit.threads = state->device->threads().threads();
  HILO_TRY(state->code, translate(state->module, target, options, emit, report));
  HILO_DO(check_custom_calls(state->module, state->code.library_steps, eval));
  eval.threads = work_bytes(state->module, state->code) < threads_pay_bytes ? 1 : emit.threads;
  HILO_TRY(const std::vector<int64_t> local, local_devices(state->module, eval));
  state->devices = std::ssize(local);
  state->routines = find_routines(state->module, state->code.library_steps, eval);
  state->eval = std::move(eval);
  count_steps(state->code.library_steps, state->routines, report);
  // The system is asked here and not in each run: the answer comes from files.
  if (!report.evaluated.empty() && state->eval.memory_limit == 0)
    state->eval.memory_limit = available_memory();
  state->runs_alone =
      state->devices == 1 &&
      (report.evaluated.empty() || (!state->eval.processes.communicator &&
                                    VirtualDevices(state->module, state->eval).count() == 1));
  state->report = std::move(report);
  count_memory(*state);
  note_leaves(*state);
  return state;
}

Result<ObjectFile> make_object(Module module, const std::string& name, const Target& target,
                               const CompileOptions& options, const ObjectOptions& object_options) {
  if (!options.is_verified) HILO_DO(check_module(module));
  ObjectFile out;
  EvalOptions eval = options.eval;
  eval.partitioning = find_partitioning(module, eval);  // passes may remove what tells it
  EmitOptions emit = options.emit;
  emit.object_name = name;
  if (!object_options.stands_alone)
    emit.text_of_steps = [&](std::span<const LibraryStep> steps) -> Result<std::string> {
      HILO_DO(check_object_steps(module, steps, eval));
      out.needs_run_time = !steps.empty() || object_options.threads != 1;
      if (!out.needs_run_time) return std::string();
      count_steps(steps, find_routines(module, steps, eval), out.report);
      for (const EvaluatedStep& step : out.report.evaluated)
        ++out.evaluated[described(module, step)];
      return text_of_steps(module, steps, object_options.threads);
    };
  HILO_TRY(Code code, translate(module, target, options, emit, out.report));
  out.report.temp_bytes = code.workspace_bytes;
  out.object = std::move(code.object);
  out.link_flags = link_flags(out.needs_run_time);
  out.header =
      object_header(module, name, code.workspace_bytes, out.needs_run_time, out.link_flags);
  return out;
}

}  // namespace

std::string described(const Module& module, const EvaluatedStep& step) {
  const Instruction& instruction = module[step.instruction];
  if (instruction.op == Op::CustomCall)
    return fmt::format("custom call `{}`",
                       module.attributes<CustomCallAttributes>(instruction).custom_call_target);
  return fmt::format("{} of {}", text_of(instruction.op),
                     to_string_without_layout(module.shape(instruction)));
}

Result<PlannedProgram> plan_program(Module module, const Target& target,
                                    const CompileOptions& options) {
  if (!options.is_verified) HILO_DO(check_module(module));
  CompileReport report;
  PlannedProgram out{std::move(module), {}};
  HILO_TRY(out.plan, make_plan(out.module, target, options, options.emit, report));
  return out;
}

Result<Executable> compile(Module module, const Target& target, const CompileOptions& options) {
  if (options.eval.ideal_floats)
    return fail(ErrorKind::Unsupported, "floats held in f64 on device {}", target.name);
  Executable out;
  HILO_TRY(out.state_,
           within_memory([&] { return make_state(std::move(module), target, options); }));
  return out;
}

Result<ObjectFile> compile_object(Module module, const std::string& name, const Target& target,
                                  const CompileOptions& options,
                                  const ObjectOptions& object_options) {
  if (!is_c_name(name)) return fail(ErrorKind::Usage, "'{}' is not a name in C and C++", name);
  return within_memory(
      [&] { return make_object(std::move(module), name, target, options, object_options); });
}

}  // namespace hilo
