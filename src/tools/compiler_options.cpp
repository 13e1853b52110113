#include "tools/compiler_options.h"

#include <charconv>
#include <cstdlib>

#include "report/report.h"
#include "tools/dump.h"
#include "tools/run_options.h"

namespace hilo::tools {
namespace {

// Of the environment; empty where it is not set.
std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

std::string time_row(std::string_view name, double seconds, double total, std::string_view note) {
  return fmt::format("{:>10.3f}  {:>5.1f}  {}{}\n", 1e3 * seconds,
                     total > 0 ? 100 * seconds / total : 0, name, note);
}

std::string times_text(const CompileReport& report) {
  const double total = report.total_seconds();
  double passes = 0;
  std::string out = "        ms      %  stage\n";
  for (const PassTime& pass : report.passes) {
    passes += pass.seconds;
    out += time_row(pass.name, pass.seconds, total,
                    fmt::format(" ({}, {} with changes)", counted(pass.runs, "run"), pass.changes));
  }
  const std::pair<std::string_view, double> stages[] = {
      {"between the passes", report.prepare_seconds - passes},
      {"plan", report.plan_seconds},
      {"LLVM IR", report.lower_seconds},
      {"code cache", report.cache_seconds},
      {"LLVM's passes", report.optimise_seconds},
      {"LLVM's code generator", report.machine_seconds - report.link_seconds},
      {"linking", report.link_seconds},
      {"all", total}};
  for (const auto& [name, seconds] : stages) out += time_row(name, seconds, total, "");
  if (report.cache.folder.empty()) return out;
  out += fmt::format("cache {}: {} hits\n", report.cache.folder, report.cache.hits);
  for (const auto& [why, count] : report.cache.misses)
    out += fmt::format("cache: {} compiled: {}\n", count, why);
  return out;
}

}  // namespace

void add_compiler_options(Arguments& arguments, CompilerOptions& options) {
  arguments.add_option("--target-cpu", options.target_cpu,
                       "native, or a processor as LLVM names it: x86-64-v3, znver4, ...");
  arguments.add_flag("--time-passes", options.time_passes,
                     "what each pass and stage of compiling took, and why the cache (HILO_CACHE) "
                     "had no code");
  arguments.add_option("--dump-to", options.dump_to,
                       "a folder for the module before and after each pass, the plan, LLVM IR "
                       "before and after optimisation, and assembly");
}

Result<CompileOptions> compile_options(const CompilerOptions& options, Session& session) {
  CompileOptions out;
  out.emit.cpu = options.target_cpu;
  HILO_TRY(out.emit.cache, cache_of_environment());
  if (!options.dump_to.empty()) HILO_DO(dump_stages(options.dump_to, out, session));
  return out;
}

Result<int> thread_count(int given) {
  if (given > max_threads || given < 0)
    return fail(ErrorKind::Usage, "--threads={}: 0 to {} threads", given, max_threads);
  const std::string text = variable("HILO_THREADS");
  if (given > 0 || text.empty()) return given;
  int out = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0 || out > max_threads)
    return fail(ErrorKind::Usage, "HILO_THREADS={}: a number from 0 to {} was expected", text,
                max_threads);
  return out;
}

void show_compilation(const CompilerOptions& options, const CompileReport& report,
                      Session& session) {
  if (options.time_passes) fmt::print(stderr, "{}", times_text(report));
  for (const std::string& problem : report.cache.problems)
    warn(session, fmt::format("HILO_CACHE={}: {}", report.cache.folder, problem));
}

}  // namespace hilo::tools
