#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "target/target.h"
#include "text/text.h"
#include "tools/explain_fusion.h"
#include "tools/keeps.h"
#include "tools/module_file.h"
#include "tools/module_form.h"
#include "tools/target_machine.h"

namespace hilo::tools {
namespace {

struct OptOptions {
  std::string file, passes, pipeline, output, dump_to, target, topology, keeps = "reals";
  std::vector<std::string> disabled;
  int64_t stop_after = -1;
  bool time = false, verify = false, statistics = false, explain_fusion = false;
  StageChoice stage;
};

Result<Pipeline> wanted_pipeline(const OptOptions& options, std::span<const Pass> passes) {
  const std::vector<NamedPipeline> pipelines = pipelines_of(cpu_target());
  if (options.pipeline.empty()) return parse_pipeline(options.passes, passes, pipelines);
  Pipeline out;
  for (std::string_view rest = options.pipeline; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const auto known = std::ranges::find(pipelines, name, &NamedPipeline::name);
    if (known == pipelines.end())
      return fail(ErrorKind::Usage, "--pipeline={}: no such pipeline; see hilo list pipelines",
                  name);
    HILO_TRY(const Pipeline steps, parse_pipeline(known->text, passes, pipelines));
    out.insert(out.end(), steps.begin(), steps.end());
  }
  return out;
}

// Whether passes decide as those of the compiler for this processor do: where passes are named one
// by one, or one of the pipelines is the compiler's, but for another chip by --target.
bool is_for_cpu(const OptOptions& options, const std::optional<Machine>& machine) {
  const Target& cpu = cpu_target();
  if (machine && machine->family != MachineFamily::Cpu) return false;
  if (options.pipeline.empty()) return true;
  const std::string named = "," + options.pipeline + ",";
  return named.find(fmt::format(",{},", cpu.name)) != named.npos;
}

Result<void> check_names(const std::vector<std::string>& names, std::span<const Pass> passes) {
  for (const std::string& name : names) HILO_DO(parse_pipeline(name, passes));
  return {};
}

// XLA's form: module_0000.NAME.NUMBER.after_PASS.txt
std::string dump_name(const Module& module, const PassRun& run) {
  std::string name = module.header.name;
  for (char& c : name)
    if (c == '/' || c == '\\' || c == '\0') c = '_';
  return fmt::format("module_0000.{}.{:04}.after_{}.txt", name, run.number, run.name);
}

void show_times(const PipelineReport& report) {
  double total = 0;
  fmt::print(stderr, "{:>4}  {:>10}  {:>12}  pass\n", "run", "ms", "instructions");
  for (const PassRun& run : report.runs) {
    fmt::print(stderr, "{:>4}  {:>10.3f}  {:>12}  {}{}\n", run.number, 1e3 * run.seconds,
               run.instructions, run.name, run.changed ? "" : " (no change)");
    total += run.seconds;
  }
  fmt::print(stderr, "      {:>10.3f}                all\n", 1e3 * total);
}

std::string json_of(const Module& module, const PipelineReport& report,
                    const FusionExplanation* fusion) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const PassRun& run : report.runs)
    runs.push_back({{"number", run.number},
                    {"pass", run.name},
                    {"seconds", run.seconds},
                    {"changed", run.changed},
                    {"instructions", run.instructions}});
  nlohmann::ordered_json rules = nlohmann::ordered_json::object();
  for (const auto& [name, count] : report.fired) rules[std::string(name)] = count;
  nlohmann::ordered_json out = {{"schema", "hilo.opt.1"},
                                {"module", module.header.name},
                                {"changed", report.changed},
                                {"runs", runs},
                                {"rules", rules}};
  if (fusion) out["fusion"] = fusion->json();
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<PipelineReport> optimize(Module& module, const OptOptions& options,
                                FusionExplanation& fusion, Session& session) {
  const std::span<const Pass> passes = all_passes();
  HILO_TRY(const Pipeline pipeline, wanted_pipeline(options, passes));
  HILO_DO(check_names(options.disabled, passes));
  PipelineOptions run;
  run.verify = options.verify;
  run.disabled = options.disabled;
  if (options.stop_after >= 0) run.stop_after = options.stop_after;
  run.pass.rewrite.keeps = keeps_named(options.keeps);
  HILO_TRY(const std::optional<Machine> machine, find_target(options.target, options.topology));
  const Machine here = cpu_target().machine("native");
  if (is_for_cpu(options, machine)) {
    const PassOptions cpu = cpu_target().pass_options(here);
    run.pass.fusion = cpu.fusion;
    run.pass.machine = cpu.machine;
  }
  if (options.explain_fusion)
    run.pass.fusion_decided = [&](const Module& now, const FusionPair& pair) {
      fusion.add(now, pair);
    };
  if (machine) {
    HILO_DO(check_torus(*machine, module));
    run.pass.machine = &*machine;
  }
  if (!options.dump_to.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.dump_to, error);
    if (error) return fail(ErrorKind::Io, "{}: {}", options.dump_to, error.message());
  }
  run.observer = [&](const PassRun& pass, const Module& now) -> Result<void> {
    fusion.end_run(pass);
    if (pass.changed && !options.dump_to.empty())
      write_text(options.dump_to + "/" + dump_name(now, pass), print(now), session);
    if (session.status != success) return fail(ErrorKind::Io, "stopped");
    return {};
  };
  HILO_TRY(PipelineReport report, run_pipeline(module, pipeline, run));
  const auto is_fusion = [](const PassRun& ran) { return ran.name == "fusion"; };
  if (options.explain_fusion && std::ranges::none_of(report.runs, is_fusion))
    return fail(ErrorKind::Usage,
                "--explain-fusion: the pass fusion did not run; --pipeline=cpu has it");
  return report;
}

void run(const OptOptions& options, Session& session) {
  if (lists_stages(options.file, options.stage, session)) return;
  if (const auto text = expect_text_file(options.output); !text)
    return fail_with(session, text.error());
  auto loaded = load_module(options.file, {.stage = options.stage}, session);
  if (!loaded) return;
  Module& module = loaded->module;
  if (!is_sound(module, session)) return;
  FusionExplanation fusion;
  const auto done = optimize(module, options, fusion, session);
  if (!done) {
    if (session.status == success) fail_with(session, done.error(), module.source);
    if (done.error().kind == ErrorKind::Usage) session.status = wrong_usage;
    return;
  }
  if (options.time) show_times(*done);
  if (options.statistics)
    for (const auto& [name, count] : done->fired) fmt::print(stderr, "{:>8}  {}\n", count, name);
  const bool explains = options.explain_fusion;
  if (session.json) set_document(session, json_of(module, *done, explains ? &fusion : nullptr));
  else if (explains) write_text("", fusion.text(), session);
  if ((!session.json && !explains) || !is_standard_output(options.output))
    write_text(options.output, print(module), session);
}

}  // namespace

void add_opt(Arguments& arguments, Session& session) {
  auto options = std::make_shared<OptOptions>();
  arguments.add_option("FILE", options->file, "a module, a dump folder, or - for standard input")
      .required();
  add_stage_options(arguments, options->stage);
  const Option passes =
      arguments.add_option("--passes", options->passes,
                           "passes in order, as in a,b,(c,d)*: the last two until they change "
                           "nothing (hilo list passes)");
  Option pipeline = arguments.add_option("--pipeline", options->pipeline,
                                         "a named pipeline (hilo list pipelines)");
  pipeline.excludes(passes);
  options->pipeline = "";
  arguments.add_option("--disable", options->disabled, "passes to leave out").separated_by(',');
  arguments.add_option("--stop-after", options->stop_after, "stop after so many runs of passes")
      .between(0, std::numeric_limits<int>::max());
  arguments.add_option("--keep", options->keeps, "what must stay of floats: bits, values or reals")
      .one_of({"bits", "values", "reals"});
  arguments.add_option("--target", options->target, "the machine that passes are told of");
  arguments.add_option("--topology", options->topology,
                       "devices along each axis of its torus, as in 4x2");
  arguments.add_option("--dump-to", options->dump_to, "a folder for the module after each pass");
  arguments.add_flag("--verify", options->verify, "verify the module after each pass");
  arguments.add_flag("--time", options->time, "seconds of each pass on standard error");
  arguments.add_flag("--statistics", options->statistics, "how often each rule fired");
  arguments.add_flag("--explain-fusion", options->explain_fusion,
                     "of each producer and consumer whether they became one loop, or why not, in "
                     "place of the module");
  arguments.add_flag("--json", session.json,
                     "what was run as one JSON document on standard output");
  arguments.add_option("-o,--output", options->output, "write to a file");
  arguments.footer(
      "Examples:\n"
      "  hilo opt module.txt                                  # --pipeline=simplify\n"
      "  hilo opt module.txt --passes='dce, (algebraic-simplifier, cse)*' --statistics\n"
      "  hilo opt module.txt --pipeline=cpu --time --dump-to=stages -o optimised.txt\n"
      "  hilo opt module.txt --pipeline=cpu --stop-after=12 --disable=fusion\n"
      "  hilo opt module.txt --pipeline=cpu --explain-fusion\n"
      "hilo bisect finds the pass and the rule that change what a module computes.");
  arguments.callback([options, &session] {
    if (options->passes.empty() && options->pipeline.empty()) options->pipeline = "simplify";
    run(*options, session);
  });
}

}  // namespace hilo::tools
