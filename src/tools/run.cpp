#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "report/report.h"
#include "tools/array_file.h"
#include "tools/choose_device.h"
#include "tools/device_inputs.h"
#include "tools/gathered_outputs.h"
#include "tools/in_plan.h"
#include "tools/inputs.h"
#include "tools/interrupts.h"
#include "tools/machine_memory.h"
#include "tools/module_file.h"
#include "tools/named.h"
#include "tools/observe.h"
#include "tools/on_cpu.h"
#include "tools/only.h"
#include "tools/outputs.h"
#include "tools/progress.h"
#include "tools/run_of_rank.h"
#include "tools/run_options.h"
#include "tools/run_times.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

// Options that are words become what the evaluator takes.
Result<EvalOptions> eval_options(const RunOptions& options) {
  EvalOptions out;
  out.threads = options.threads;
  out.is_verified = true;  // by run()
  if (options.partitioned) out.partitioning = Partitioning::Partitioned;
  if (options.unpartitioned) out.partitioning = Partitioning::Unpartitioned;
  if (options.devices > 0) out.devices = options.devices;
  out.reference = options.device == "reference";
  out.ideal_floats = options.float_type == "f64";
  out.matmul_precision = options.matmul_precision == "bf16"   ? MatmulPrecision::Bf16
                         : options.matmul_precision == "tf32" ? MatmulPrecision::Tf32
                                                              : MatmulPrecision::F32;
  if (options.max_steps > 0) out.max_steps = options.max_steps;
  HILO_TRY(out.memory_limit, parse_bytes(options.memory_limit));
  HILO_TRY(out.custom_calls, load_custom_calls(options.custom_calls));
  return out;
}

void show_comparisons(const std::vector<LeafComparison>& comparisons, const Tolerance& tolerance) {
  fmt::print("tolerance: {}; integers must be equal\n", describe(tolerance));
  for (const LeafComparison& one : comparisons)
    fmt::print("out_{} device {} {} {}: {}", one.leaf->leaf, one.leaf->device,
               to_string_without_layout(one.leaf->declared),
               one.comparison.agrees() ? "agrees" : "DIFFERS",
               describe(one.comparison, one.leaf->declared));
}

nlohmann::ordered_json comparisons_json(const std::vector<LeafComparison>& comparisons) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const LeafComparison& one : comparisons)
    out.push_back({{"output", one.leaf->leaf},
                   {"device", one.leaf->device},
                   {"shape", to_string_without_layout(one.leaf->declared)},
                   {"agrees", one.comparison.agrees()},
                   {"elements", one.comparison.elements},
                   {"differing", one.comparison.differing},
                   {"non_finite", one.comparison.non_finite},
                   {"largest_absolute", one.comparison.largest_absolute},
                   {"largest_relative", one.comparison.largest_relative},
                   {"largest_ulp", one.comparison.largest_ulp}});
  return out;
}

// As many as the module is for, or some times that.
Result<void> check_devices(const RunOptions& options, const Module& module) {
  const int64_t partitions = std::max<int64_t>(1, module.header.num_partitions);
  if (options.devices <= 0 || options.unpartitioned || options.devices % partitions == 0) return {};
  return fail(ErrorKind::Usage, "--devices={}: {} is for {} devices", options.devices,
              module.header.name, partitions);
}

// The inputs of a run: `given` ones, or what the options say; with warnings of arrays for nobody.
Result<Inputs> inputs_of_run(const Module& module, const RunOptions& options,
                             const EvalOptions& eval, std::optional<Inputs>& given,
                             Session& session) {
  const int64_t devices = device_count(module, eval);
  const bool from_file = !given && !options.inputs.file.empty();
  const auto leaves = std::ssize(parameter_leaves(module));
  if (from_file) {
    HILO_TRY(const auto unused, unused_arrays(options.inputs.file, "in", leaves, devices));
    if (unused) warn(session, *unused);
  }
  if (given) return std::move(*given);
  HILO_TRY(const std::vector<int64_t> local, local_devices(module, eval));
  return make_inputs(module, local, devices, options.inputs);
}

// Calls run() once, or so many times after a first one that does not count; the median and the
// least of its seconds, and the outputs of the last.
template <class Run, class BeforeRun>
Result<Outputs> run_often(int runs, RunTimes& seconds, Run&& run, BeforeRun&& before_run) {
  std::vector<double> times;
  std::optional<Outputs> out;
  if (runs > 0) HILO_DO(run());
  for (int i = 0; i < std::max(runs, 1); ++i) {
    before_run();
    Laps laps;
    HILO_TRY(out, run());
    times.push_back(laps.lap());
  }
  std::ranges::sort(times);
  seconds.run = times[times.size() / 2];
  seconds.min_run = times.front();
  return std::move(*out);
}

struct Ran {
  std::optional<GatheredOutputs> outputs;
  std::optional<Tolerance> tolerance;  // where outputs are compared
  std::vector<LeafComparison> comparisons;
  RunTimes times;
  nlohmann::ordered_json compiled;  // empty where it was evaluated
  std::string profile_text;         // of --profile
  nlohmann::ordered_json profile;
};

Result<void> use_profile(const Profile& profile, const RunOptions& options,
                         const std::optional<Roofline>& roofline, Ran& ran) {
  if (!options.observe.trace.empty()) HILO_DO(write_file(options.observe.trace, profile.trace()));
  if (!options.observe.profile) return {};
  ran.profile_text = profile.text(roofline);
  ran.profile = profile.json(roofline);
  return {};
}

// Several runs, and several devices, may say the same.
void warn_once(const std::vector<std::string>& warnings, Session& session) {
  for (auto it = warnings.begin(); it != warnings.end(); ++it)
    if (std::find(warnings.begin(), it, *it) == it) warn(session, *it);
}

// After a run: what is saved and compared.
Result<void> use_outputs(const Module& module, const RunOptions& options, const EvalOptions& eval,
                         const Outputs& outputs, Ran& ran, RunProcesses& processes,
                         Session& session) {
  HILO_TRY(ran.outputs,
           GatheredOutputs::from(module, outputs, eval, processes, !options.saves_by_rank));
  const auto whole = [&](const OutputLeaf& leaf) { return ran.outputs->whole(leaf); };
  if (!options.save.empty()) HILO_DO(save(options.save, ran.outputs->leaves(), whole));
  if (options.expected.empty()) return {};
  ran.tolerance = tolerance_for(module, options.rtol, options.atol);
  HILO_TRY(ran.comparisons,
           compare_with(options.expected, ran.outputs->leaves(), whole, *ran.tolerance));
  const int64_t devices = device_count(module, eval);
  const int64_t leaves = std::ssize(ran.outputs->leaves()) / std::max<int64_t>(1, devices);
  HILO_TRY(const auto unused, unused_arrays(options.expected, "out", leaves, devices));
  if (unused) warn(session, *unused);
  return {};
}

// What cannot be compiled is said before anything runs.
Result<Ran> run_compiled(const Module& module, const RunOptions& options,
                         std::optional<Inputs> given, EvalOptions& eval, RunProcesses& processes,
                         Session& session) {
  std::vector<std::string> warnings;
  eval.warnings = &warnings;
  OnCpu on_cpu = {options.compiler,           options.threads, options.dump_ir,
                  options.observe.profiles(), eval.interrupt,  eval};
  std::vector<Estimate> estimates;
  if (options.observe.profile) on_cpu.estimates = &estimates;
  const int64_t devices = device_count(module, eval);
  HILO_DO(check_save(options.save, module, devices));
  Ran out;
  Laps laps;
  if (!given && !options.inputs.are_random()) {  // they may be wrong, and compiling takes long
    const int64_t here = (devices + processes.size() - 1) / processes.size();
    HILO_DO(check_memory(parameter_bytes(module, here), eval.memory_limit));
    HILO_TRY(given, inputs_of_run(module, options, eval, given, session));
    out.times.inputs = laps.lap();
  }
  HILO_TRY(const Executable executable, compile_for_cpu(module, on_cpu, session));
  out.times.compile = laps.lap();
  if (!session.json && !session.quiet) fmt::print(stderr, "{}", report_text(executable));
  HILO_DO(check_memory(executable.report().run_bytes, eval.memory_limit));
  HILO_TRY(Inputs inputs, inputs_of_run(module, options, eval, given, session));
  HILO_DO(compare_runs(processes, module, inputs, &executable.module(), eval));
  out.times.inputs += laps.lap();
  hilo::RunOptions running = {.interrupt = eval.interrupt};
  std::optional<Profile> profile;
  std::optional<Roofline> roofline;
  std::optional<WorkProgress> progress;
  if (on_cpu.tell_steps) {
    if (options.observe.profile) {
      HILO_TRY(roofline, measure_roofline(options.threads));
    }
    profile.emplace(executable.module(), std::move(estimates));
  } else if (!session.json && !session.quiet) {
    progress = work_progress(executable.module());
    if (progress)
      running.after_step = [&](InstructionId step, int64_t device) {
        if (device == 0) progress->add(step);
      };
  }
  const auto run = [&] {
    return options.runs > 0 ? executable.run_devices(inputs, running)
                            : executable.run_devices(std::move(inputs), running);
  };
  const auto before_run = [&] {
    if (!profile) return;
    running.after_step = [&](InstructionId step, int64_t device) {
      profile->add_step(step, device);
    };
    profile->start_run();
  };
  HILO_TRY(const Outputs outputs, run_often(options.runs, out.times, run, before_run));
  stop_listening();
  progress.reset();
  if (profile) HILO_DO(use_profile(*profile, options, roofline, out));
  out.compiled = report_json(executable);
  warn_once(warnings, session);
  laps.lap();
  HILO_DO(use_outputs(module, options, eval, outputs, out, processes, session));
  out.times.output = laps.lap();
  return out;
}

// planned: where values lie, or null.
Result<Ran> run_module(const Module& module, const RunOptions& options, std::optional<Inputs> given,
                       const Plan* planned, EvalOptions& eval, Observer& observer,
                       RunProcesses& processes, Session& session) {
  const int64_t devices = device_count(module, eval);
  if (planned) eval.place = bind_in_arena(module, *planned, devices, eval.ideal_floats);
  const int64_t needed = estimate_memory(module, eval);
  if (!session.json && !session.quiet)
    fmt::print(stderr, "{}: {}, needs {}\n", module.header.name, counted(devices, "device"),
               needed_text(needed));
  HILO_DO(check_memory(needed, eval.memory_limit));
  HILO_DO(check_save(options.save, module, devices));
  Ran out;
  Laps laps;
  HILO_TRY(Inputs inputs, inputs_of_run(module, options, eval, given, session));
  HILO_DO(compare_runs(processes, module, inputs, nullptr, eval));
  for (auto& parameters : inputs.devices)
    for (Literal& value : parameters) value = to_held(value, eval.ideal_floats);
  out.times.inputs = laps.lap();
  std::vector<std::string> warnings;
  eval.warnings = &warnings;
  if (!session.json && !session.quiet) eval.progress = instruction_progress();
  const auto run = [&] {
    return options.runs > 0 ? evaluate(module, inputs, eval)
                            : evaluate(module, std::move(inputs), eval);
  };
  const auto before_run = [&] {
    if (observer.wanted()) eval.observer = [&](const ValueEvent& event) { observer.see(event); };
    observer.start_run();
  };
  HILO_TRY(Outputs outputs, run_often(options.runs, out.times, run, before_run));
  stop_listening();
  warn_once(warnings, session);
  if (observer.profile()) HILO_DO(use_profile(*observer.profile(), options, {}, out));
  laps.lap();
  HILO_DO(use_outputs(module, options, eval, outputs, out, processes, session));
  out.times.output = laps.lap();
  return out;
}

nlohmann::ordered_json values_json(const Observer& observer) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  std::vector<Observer::Printed> values = observer.values();
  std::ranges::stable_sort(values, {}, &Observer::Printed::device);  // whichever came first
  for (const Observer::Printed& value : values)
    out.push_back({{"device", value.device},
                   {"instruction", value.instruction},
                   {"shape", value.shape},
                   {"value", value.value}});
  return out;
}

Result<std::string> document_of(const Module& module, const Ran& ran, const RunOptions& options,
                                const Observer& observer) {
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  for (const OutputLeaf& leaf : ran.outputs->leaves()) {
    HILO_TRY(const OutputLeaf whole, ran.outputs->whole(leaf));
    outputs.push_back(json_of(whole));
  }
  nlohmann::ordered_json out = {{"schema", "hilo.run.1"},
                                {"module", module.header.name},
                                {"seconds", ran.times.run},
                                {"times", ran.times.json()},
                                {"outputs", outputs}};
  if (!ran.compiled.is_null()) out["compiled"] = ran.compiled;
  if (options.runs > 0) {
    out["runs"] = options.runs;
    out["times"]["least_run_s"] = ran.times.min_run;
  }
  if (ran.tolerance) {
    out["tolerance"] = json_of(*ran.tolerance);
    out["comparisons"] = comparisons_json(ran.comparisons);
  }
  if (options.observe.profile) out["profile"] = ran.profile;
  if (!options.observe.print_values.empty()) out["values"] = values_json(observer);
  if (const auto& bad = observer.first_non_finite())
    out["errors"] = nlohmann::ordered_json::parse(errors_json(module.file, {*bad}))["errors"];
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

// What --only runs on: its operands in a run of the whole module, where that has inputs; else
// nothing, and options.inputs become those of --operands.
Result<std::optional<Inputs>> inputs_of_only(const std::optional<Module>& whole,
                                             RunOptions& options, EvalOptions& eval,
                                             Session& session) {
  if (!whole) return std::optional<Inputs>();
  eval.partitioning = find_partitioning(*whole, eval);
  if (options.inputs.file.empty() && options.inputs.specs.empty()) {
    options.operands.seed = options.inputs.seed;
    options.inputs = options.operands;
    return std::optional<Inputs>();
  }
  std::optional<Inputs> none;
  HILO_TRY(Inputs inputs, inputs_of_run(*whole, options, eval, none, session));
  return inputs_in_run(*whole, options.only, std::move(inputs), eval);
}

// What is wrong before any work is done; it is reported.
bool are_sound(RunOptions& options, Session& session) {
  const auto threads = thread_count(options.threads);
  if (!threads) return fail_with(session, threads.error()), false;
  options.threads = *threads;
  for (const std::string& place : {options.save, options.observe.trace})
    if (!can_write(place, session)) return false;
  if (const auto known = check_save_ending(options.save); !known)
    return fail_with(session, known.error()), false;
  if (const auto sound = check_tolerances(options.rtol, options.atol); !sound)
    return fail_with(session, sound.error()), false;
  for (const std::string& file : {options.inputs.file, options.operands.file, options.expected}) {
    const auto arrays = file.empty() ? ArrayFile() : ArrayFile::open(file);
    if (!arrays) return fail_with(session, arrays.error()), false;
  }
  return true;
}

Result<void> show_outputs(const Ran& ran) {
  if (ran.tolerance) return show_comparisons(ran.comparisons, *ran.tolerance), Result<void>();
  for (const OutputLeaf& leaf : ran.outputs->leaves()) {
    HILO_TRY(const OutputLeaf whole, ran.outputs->whole(leaf));
    fmt::print("{}\n", show(whole));
  }
  return {};
}

// What is asked for of a run that went well, and the status that it has.
void show_run(const Module& module, const Ran& ran, const RunOptions& options,
              const Observer& observer, Session& session) {
  if (session.json) {
    auto document = document_of(module, ran, options, observer);
    if (!document) return fail_with(session, document.error());
    set_document(session, std::move(*document));
  } else if (const auto shown = show_outputs(ran); !shown) {
    return fail_with(session, shown.error());
  }
  if (!session.json && options.runs > 0 && !session.quiet)
    fmt::print("{}", ran.times.text_of_runs(options.runs));
  if (!session.json && options.observe.profile)
    fmt::print("{}{}", ran.times.text(), ran.profile_text);
  for (const std::string& name : observer.unseen_names())
    warn(session, fmt::format("--print-values: {} was never computed", name));
  for (const LeafComparison& one : ran.comparisons)
    if (!one.comparison.agrees()) session.status = values_differ;
  if (const auto& bad = observer.first_non_finite()) {
    report(session, *bad, module.source);
    session.status = failure;
  }
}

// One of the processes of a run, or the only one.
void run_here(RunOptions& options, RunProcesses& processes, Session& session) {
  if (!are_sound(options, session)) return;
  auto device = choose_device(options.device, option_of_evaluator(options));
  if (!device) return fail_with(session, device.error());
  std::jthread opening;  // while the module is read
  if (*device == RunDevice::Cpu) opening = std::jthread(cpu_target().get_ready);
  Laps laps;
  const auto shapes = [&] { return shapes_of_inputs(options.inputs); };
  auto loaded =
      load_module(options.file, {.stage = options.stage, .argument_shapes = shapes}, session);
  if (!loaded) return;
  Module& module = loaded->module;
  if (!is_sound(module, session, {.only_to_run = options.no_verify})) return;
  const double read_seconds = laps.lap();
  if (const auto done = partition_for_inputs(options, module); !done)
    return fail_with(session, done.error(), module.source);
  std::optional<Module> whole;  // of --only
  if (!options.only.empty()) {
    auto isolated = isolate(module, options.only);
    if (!isolated) return fail_with(session, isolated.error());
    whole = std::exchange(module, std::move(*isolated));
  }
  for (const std::string& name : options.observe.print_values)
    if (!find_instruction(module, name))
      return fail_with(session, no_such_name(module, "--print-values", "instruction", name));
  auto eval = eval_options(options);
  if (!eval) return fail_with(session, eval.error());
  eval->processes = processes.processes();
  std::shared_ptr<const Plan> planned;
  if (options.in_plan) {
    auto made = plan_to_run(module, options.target);
    if (!made) return fail_with(session, made.error(), module.source);
    planned = std::move(*made);
  }
  Observer observer(module, options.observe, session.json);
  const auto interrupt = listen_for_interrupts(options.timeout, session);
  if (!interrupt) return fail_with(session, interrupt.error());
  eval->interrupt = *interrupt;
  if (const auto settled = settle_partitioning(options, whole ? *whole : module, *eval); !settled)
    return fail_with(session, settled.error());
  if (const auto fits = check_devices(options, module); !fits)
    return fail_with(session, fits.error());
  if (const auto same = compare_programs(processes, module, options, *interrupt); !same)
    return fail_with(session, name_timeout(same.error(), options.timeout));
  auto given = inputs_of_only(whole, options, *eval, session);
  if (!given) return fail_with(session, name_timeout(given.error(), options.timeout));
  if (!is_here(*device, options.device, session)) device = RunDevice::Eval;
  auto ran = *device == RunDevice::Cpu
                 ? run_compiled(module, options, std::move(*given), *eval, processes, session)
                 : run_module(module, options, std::move(*given), planned.get(), *eval, observer,
                              processes, session);
  if (!ran) return fail_with(session, name_timeout(ran.error(), options.timeout), module.source);
  ran->times.read = read_seconds;
  if (processes.is_first()) return show_run(module, *ran, options, observer, session);
  const auto status = ran->outputs->answer_others();
  if (!status) return fail_with(session, status.error());
  session.status = *status;
}

void run(RunOptions& options, Session& session) {
  if (lists_stages(options.file, options.stage, session)) return;
  auto processes = RunProcesses::join(options.processes, options.timeout);
  if (!processes) return fail_with(session, processes.error());
  if (processes->are_several()) {
    if (const auto possible = prepare_rank(*processes, options, session); possible)
      run_here(options, *processes, session);
    else fail_with(session, possible.error());
    return end_rank(*processes, session);
  }
  run_here(options, *processes, session);
}

}  // namespace

void add_run(Arguments& arguments, Session& session) {
  auto options = std::make_shared<RunOptions>();
  add_run_options(arguments, *options, session);
  arguments.callback([options, &session] { run(*options, session); });
}

}  // namespace hilo::tools
