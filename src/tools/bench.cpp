#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "tools/choose_device.h"
#include "tools/inputs.h"
#include "tools/interrupts.h"
#include "tools/machine_memory.h"
#include "tools/measure_machine.h"
#include "tools/module_file.h"
#include "tools/on_cpu.h"
#include "tools/run_options.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

struct Options {
  std::string file, device;
  bool parse_only = false, machine = false;
  int runs = 10, threads = 0;
  double max_seconds = 20, timeout = 0;
  std::string memory_limit;
  int64_t max_bytes = 0;  // of memory_limit; 0: what the machine has
  const std::atomic<bool>* interrupt = nullptr;
  InputOptions inputs;
  CompilerOptions compiler;
  StageChoice stage;
};

// Times of `runs` calls, of more until min_seconds have passed, and of as many as fit in
// max_seconds; at least one, and no more after an interrupt. What a call returns is given to `keep`
// after its time was taken, so that destroying the one before does not count.
template <class Body, class Keep>
std::vector<double> repeat(const Options& options, double min_seconds, Body&& body, Keep&& keep) {
  std::vector<double> times;
  double total = 0;
  const auto goes_on = [&] {
    if (options.interrupt->load()) return false;
    return total < std::min(min_seconds, options.max_seconds) ||
           (static_cast<int>(times.size()) < options.runs && total < options.max_seconds);
  };
  while (times.empty() || goes_on()) {
    const auto start = std::chrono::steady_clock::now();
    auto result = body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    times.push_back(taken.count());
    total += times.back();
    keep(result);
  }
  std::sort(times.begin(), times.end());
  return times;
}

int64_t leaves_bytes(const std::vector<Literal>& values) {
  int64_t bytes = 0;
  for (const Literal& value : values) bytes += literal_bytes(value.shape());
  return bytes;
}

Result<void> bench_running(const Module& module, const Options& options,
                           nlohmann::ordered_json& out) {
  EvalOptions eval;
  eval.threads = options.threads;
  eval.is_verified = true;  // by bench()
  eval.interrupt = options.interrupt;
  eval.memory_limit = options.max_bytes;
  HILO_DO(check_memory(estimate_memory(module, eval), options.max_bytes));
  HILO_TRY(const Inputs inputs, make_inputs(module, device_count(module, eval), options.inputs));
  std::optional<Error> error;
  int64_t output_bytes = 0;
  const auto times = repeat(
      options, 0, [&] { return evaluate(module, inputs, eval); },
      [&](Result<Outputs>& result) {
        if (result) output_bytes = literal_bytes(result->devices[0].shape());
        else error = result.error();
      });
  if (error) return std::unexpected(*error);
  out["compile_s"] = 0.0;  // the evaluator compiles nothing
  out["exec_s"] = times[times.size() / 2];
  out["exec_min_s"] = times.front();
  out["runs"] = times.size();
  out["temp_bytes"] = estimate_memory(module, eval);
  out["argument_bytes"] = leaves_bytes(inputs.devices[0]);
  out["output_bytes"] = output_bytes;
  out["devices"] = inputs.devices.size();
  return {};
}

Result<void> bench_compiled(const Module& module, const Options& options,
                            nlohmann::ordered_json& out, Session& session) {
  OnCpu on_cpu;
  on_cpu.compiler = options.compiler;
  on_cpu.threads = options.threads;
  on_cpu.interrupt = options.interrupt;
  const int64_t devices = device_count(module, {});
  std::optional<Inputs> given;
  if (!options.inputs.are_random()) {
    HILO_DO(check_memory(parameter_bytes(module, devices), options.max_bytes));
    HILO_TRY(given, make_inputs(module, devices, options.inputs));
  }
  const auto start = std::chrono::steady_clock::now();
  HILO_TRY(const Executable executable, compile_for_cpu(module, on_cpu, session));
  const std::chrono::duration<double> compiling = std::chrono::steady_clock::now() - start;
  HILO_DO(check_memory(executable.report().run_bytes, options.max_bytes));
  if (!given) {
    HILO_TRY(given, make_inputs(module, executable.devices(), options.inputs));
  }
  const Inputs& inputs = *given;
  const hilo::RunOptions running = {.interrupt = options.interrupt};
  std::optional<Error> error;
  // The first run finds memory that was never touched; it is not counted. The others write where it
  // did: no outputs are kept.
  HILO_DO(executable.run_devices(inputs, running));
  int64_t output_bytes = 0;
  const auto times = repeat(
      options, 0.05, [&] { return executable.run_devices(inputs, running); },
      [&](Result<Outputs>& result) {
        if (result) output_bytes = literal_bytes(result->devices[0].shape());
        else error = result.error();
      });
  if (error) return std::unexpected(*error);
  out["compile_s"] = compiling.count();
  out["stages"] = report_json(executable);
  out["exec_s"] = times[times.size() / 2];
  out["exec_min_s"] = times.front();
  out["runs"] = times.size();
  out["temp_bytes"] = executable.report().temp_bytes;
  out["argument_bytes"] = leaves_bytes(inputs.devices[0]);
  out["output_bytes"] = output_bytes;
  out["devices"] = inputs.devices.size();
  return {};
}

double time_opening() {
  const auto start = std::chrono::steady_clock::now();
  cpu_target().get_ready();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// All other options are of a module.
void bench_machine(const std::vector<std::string>& given, Session& session) {
  for (const std::string& name : given)
    if (name != "--machine" && name != "--json")
      return fail_with(session, {ErrorKind::Usage,
                                 fmt::format("--machine measures the processor; {} says nothing of "
                                             "that",
                                             name)});
  const auto record = measure_machine();
  if (!record) return fail_with(session, record.error());
  if (const auto kept = keep_host_record(*record); !kept) warn(session, kept.error().message);
  fmt::print("{}\n", session.json ? json_of(*record).dump(2) : record_text(*record));
}

void bench(Options& options, Session& session) {
  if (options.file.empty())
    return fail_with(session, {ErrorKind::Usage, "FILE is required, or --machine"});
  if (lists_stages(options.file, options.stage, session)) return;
  const auto threads = thread_count(options.threads);
  if (!threads) return fail_with(session, threads.error());
  options.threads = *threads;
  const auto max_bytes = parse_bytes(options.memory_limit);
  if (!max_bytes) return fail_with(session, max_bytes.error());
  options.max_bytes = *max_bytes;
  if (const auto sound = check_choice(options.file, options.stage); !sound)
    return fail_with(session, sound.error());
  if (is_folder(options.file)) {
    const auto chosen = choose_stage(options.file, options.stage);
    if (!chosen) return fail_with(session, chosen.error());
    options.file = chosen->path;
  }
  auto bytes = read_input_file(options.file);
  if (!bytes) return fail_with(session, bytes.error());
  const auto text = std::make_shared<const std::string>(std::move(*bytes));
  auto device = choose_device(options.device, {});
  if (!device) return fail_with(session, device.error());
  // What opens a back end is not compiling, and other compilers are open when theirs is measured.
  double open_seconds = 0;
  std::jthread opening;
  if (*device == RunDevice::Cpu) opening = std::jthread([&] { open_seconds = time_opening(); });
  const auto interrupt = listen_for_interrupts(options.timeout, session);
  if (!interrupt) return fail_with(session, interrupt.error());
  options.interrupt = *interrupt;
  Result<Module> module = fail(ErrorKind::Io, "not read");
  const auto shapes = argument_shapes(*text, {.stage = options.stage, .argument_shapes = [&] {
                                                return shapes_of_inputs(options.inputs);
                                              }});
  if (!shapes) return fail_with(session, shapes.error());
  const auto read = [&] {
    return read_module(text, Format::Detect, {.file = options.file}, *shapes);
  };
  const auto parse_times =
      repeat(options, 0.25, read, [&](auto& read_one) { module = std::move(read_one); });
  if (!module)
    if (const auto dump = dump_instead_of_module(*text, options.file))
      return fail_with(session, *dump);
  if (!module) return fail_with(session, module.error(), *text);
  if (!options.parse_only && !is_sound(*module, session)) return;
  if (!is_here(*device, options.device, session)) device = RunDevice::Eval;
  nlohmann::ordered_json out = {{"schema", "hilo.bench.1"},
                                {"file", options.file},
                                {"bytes", text->size()},
                                {"instructions", module->instructions.size()},
                                {"parse_s", parse_times.front()},
                                {"parse_median_s", parse_times[parse_times.size() / 2]},
                                {"parse_mb_per_s", text->size() / parse_times.front() / 1e6}};
  if (!options.parse_only) {
    if (opening.joinable()) opening.join();
    if (*device == RunDevice::Cpu) out["open_s"] = open_seconds;
    const auto done = *device == RunDevice::Cpu ? bench_compiled(*module, options, out, session)
                                                : bench_running(*module, options, out);
    if (!done) return fail_with(session, name_timeout(done.error(), options.timeout), *text);
  }
  stop_listening();
  if (options.interrupt->load())
    return fail_with(
        session, name_timeout({ErrorKind::Interrupted, "stopped by the user"}, options.timeout));
  out["threads"] = options.threads > 0 ? options.threads : usable_cores();
  fmt::print("{}\n", out.dump());
}

}  // namespace

void add_bench(Arguments& arguments, Session& session) {
  auto options = std::make_shared<Options>();
  arguments.add_option("FILE", options->file, "a module, a dump folder, or -");
  arguments.add_flag("--machine", options->machine,
                     "measure the processor instead, for a few seconds; HILO_CACHE keeps the "
                     "record; no other options but --json");
  add_stage_options(arguments, options->stage);
  arguments.add_flag("--parse-only", options->parse_only, "measure reading alone");
  arguments
      .add_option("--device", options->device,
                  "cpu: machine code, which is the default; eval: the evaluator")
      .one_of({"cpu", "eval"});
  arguments.add_option("--runs", options->runs, "so many; reading is repeated for 0.25 s at least")
      .between(1, std::numeric_limits<int>::max());
  arguments.add_option("--max-seconds", options->max_seconds, "stop repeating after so long");
  arguments.add_option("--timeout", options->timeout, "stop, with an error, after so many seconds");
  arguments.add_option("--memory-limit", options->memory_limit,
                       "refuse to need more: 16GiB, 512MB");
  arguments.add_option("--threads", options->threads,
                       "threads; 0: HILO_THREADS, or all usable cores");
  arguments.add_option("--inputs", options->inputs.file, "arrays in_I or in_I_devD");
  arguments.add_option("--seed", options->inputs.seed, "of random inputs");
  arguments.add_flag("--json", session.json, "errors as JSON too; figures always are");
  add_compiler_options(arguments, options->compiler);
  arguments.footer(
      fmt::format("{}"
                  "One line of JSON: bytes, parse_s, exec_s (median), exec_min_s, runs, ... "
                  "(parse_s and exec_min_s are minima)\n"
                  "Examples:\n"
                  "  hilo bench module.txt\n"
                  "  hilo bench module.txt --device=eval --runs=3\n"
                  "  hilo bench module.txt --time-passes --target-cpu=x86-64-v3\n"
                  "  hilo bench module.txt --parse-only\n"
                  "  hilo bench --machine --json > machine.json",
                  environment_help));
  arguments.callback([options, &arguments, &session] {
    if (options->machine) bench_machine(arguments.given(), session);
    else bench(*options, session);
  });
}

}  // namespace hilo::tools
