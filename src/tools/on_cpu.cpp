#include "tools/on_cpu.h"

#include <nlohmann/json.hpp>

#include "report/report.h"
#include "text/text.h"
#include "tools/diagnostics.h"
#include "tools/machine_record.h"

namespace hilo::tools {
namespace {

// "dot of f32[4,4]" -> how many steps.
std::map<std::string, int64_t> evaluated_steps(const Executable& executable) {
  std::map<std::string, int64_t> out;
  for (const EvaluatedStep& step : executable.report().evaluated)
    ++out[described(executable.module(), step)];
  return out;
}

// "dot: why there is no code for it" -> how many steps.
std::map<std::string, int64_t> reasons(const Executable& executable) {
  std::map<std::string, int64_t> out;
  for (const EvaluatedStep& step : executable.report().evaluated)
    ++out[fmt::format("{}: {}", text_of(executable.module()[step.instruction].op), step.reason)];
  return out;
}

std::vector<Estimate> estimates_here(const Module& module, const Plan& plan, int threads,
                                     const Session& session) {
  MachineRecord record =
      known_host_record([&](const Error& error) { warn(session, error.message, error.place); });
  if (threads > 0) record.cores.count = threads;
  return estimate_commands(module, plan, record.machine());
}

}  // namespace

Result<Executable> compile_for_cpu(Module module, const OnCpu& options, Session& session) {
  HILO_TRY(CompileOptions compiling, compile_options(options.compiler, session));
  compiling.threads = options.threads;
  compiling.eval = options.eval;
  compiling.is_verified = true;  // by who read the module
  compiling.emit.tell_steps = options.tell_steps;
  compiling.emit.interrupt = options.interrupt;
  if (options.dump_ir)
    compiling.emit.see_ir = [dump = compiling.emit.see_ir](std::string_view text) {
      fmt::print(stderr, "{}", text);
      if (dump) dump(text);
    };
  if (options.estimates)
    compiling.see_plan = [&, dump = compiling.see_plan](const Module& compiled,
                                                        const Machine& machine, const Plan& plan) {
      if (dump) dump(compiled, machine, plan);
      *options.estimates = estimates_here(compiled, plan, options.threads, session);
    };
  auto out = compile(std::move(module), cpu_target(), compiling);
  if (!out && out.error().kind == ErrorKind::Unsupported && out.error().place.op != "custom-call")
    out.error().message += "; --device=eval runs it";
  if (out) show_compilation(options.compiler, out->report(), session);
  if (out && options.dump_ir) fmt::print(stderr, "{}", print(out->module()));
  return out;
}

nlohmann::ordered_json report_json(const Executable& executable) {
  const CompileReport& report = executable.report();
  nlohmann::ordered_json out = {{"prepare_s", report.prepare_seconds},
                                {"plan_s", report.plan_seconds},
                                {"lower_s", report.lower_seconds},
                                {"optimise_s", report.optimise_seconds},
                                {"machine_s", report.machine_seconds},
                                {"kernels", report.kernels},
                                {"joined", report.joined},
                                {"routines", report.routines},
                                {"evaluated_steps", report.evaluated.size()},
                                {"evaluated", evaluated_steps(executable)},
                                {"reasons", reasons(executable)}};
  if (const CacheReport& cache = report.cache; !cache.folder.empty())
    out["cache"] = {{"folder", cache.folder},
                    {"seconds", report.cache_seconds},
                    {"hits", cache.hits},
                    {"misses", cache.misses},
                    {"problems", cache.problems}};
  return out;
}

std::string report_text(const Executable& executable) {
  const CompileReport& report = executable.report();
  const auto evaluated = std::ssize(report.evaluated);
  std::string out = fmt::format(
      "compiled in {:.1f} ms (prepare {:.1f}, plan {:.1f}, lower {:.1f}, optimise {:.1f}, machine "
      "code {:.1f}): {}, {}, {} in the evaluator\n",
      1e3 * report.total_seconds(), 1e3 * report.prepare_seconds, 1e3 * report.plan_seconds,
      1e3 * report.lower_seconds, 1e3 * report.optimise_seconds, 1e3 * report.machine_seconds,
      counted(report.kernels, "kernel"), counted(report.routines, "routine"),
      counted(evaluated, "step"));
  const int64_t steps = report.kernels + report.routines + evaluated;
  for (const auto& [what, count] : evaluated_steps(executable))
    out +=
        fmt::format("  {} runs in the evaluator ({} of {})\n", what, count, counted(steps, "step"));
  return out;
}

}  // namespace hilo::tools
