// `hilo bisect`: which step of the way changes what a module computes.
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "report/report.h"
#include "text/text.h"
#include "tools/inputs.h"
#include "tools/interrupts.h"
#include "tools/keeps.h"
#include "tools/machine_memory.h"
#include "tools/module_file.h"
#include "tools/run_options.h"
#include "tools/stages.h"
#include "tools/step_check.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

struct BisectOptions {
  std::vector<std::string> files;
  InputOptions inputs;
  std::optional<double> rtol, atol;
  std::string passes, keeps = "reals", device, memory_limit, dump_to;
  std::vector<std::string> custom_calls;
  int threads = 0;
  double timeout = 0;
  StageChoice stage;
};

// What was found: two neighbouring stages, or more closely a rule or an instruction.
struct Finding {
  std::string kind;  // "", "stage", "rule", "machine code"
  std::string before, after, rule, instruction, difference;
  int64_t firing = 0;              // of the rules in that pass, from 1
  std::vector<std::string> lines;  // that only one of the two has, after '-' and '+'
};

// Lines of both texts that the other has not, those of `before` first; at most `most` of each.
std::vector<std::string> other_lines(const Module& before, const Module& after, size_t most) {
  const auto lines = [](const Module& module) {
    std::vector<std::string> out;
    const std::string text = print(module, PrintStyle::compact());
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return out;
  };
  const std::vector<std::string> old_lines = lines(before), new_lines = lines(after);
  std::vector<std::string> out;
  const auto add = [&](char sign, const auto& from, const auto& other) {
    std::multiset<std::string> left(other.begin(), other.end());
    size_t count = 0;
    for (const std::string& line : from)
      if (const auto same = left.find(line); same != left.end()) left.erase(same);
      else if (count++ < most) out.push_back(fmt::format("{} {}", sign, line));
    if (count > most)
      out.push_back(fmt::format("{} ... {} more", sign, counted(count - most, "line")));
  };
  add('-', old_lines, new_lines);
  add('+', new_lines, old_lines);
  return out;
}

class Bisection {
 public:
  Bisection(const BisectOptions& options, EvalOptions eval, Session& session)
      : options_(options), eval_(std::move(eval)), session_(session) {}

  Result<Finding> run() {
    HILO_DO(check_tolerances(options_.rtol, options_.atol));
    HILO_TRY(stages_, find_stages());
    HILO_TRY(const Module first, stages_.make(0));
    HILO_DO(set_out(first));
    const size_t last = stages_.names.size() - 1;
    HILO_TRY(const std::optional<bool> same, agrees(last));
    if (!same)
      return fail(ErrorKind::Input, "{}: the last stage must run with the inputs of the first: {}",
                  stages_.names[last], why_not_);
    if (*same) return last_of_all(last);
    return between(0, last);
  }

  nlohmann::ordered_json tried = nlohmann::ordered_json::array();
  const Tolerance& tolerance() const { return tolerance_; }

 private:
  Result<Stages> find_stages() {
    const std::string& first = options_.files.front();
    HILO_DO(check_choice(first, options_.stage));
    if (options_.files.size() > 1 || (is_folder(first) && options_.stage.stage.empty()))
      return stages_of_files(options_.files, options_.stage);
    auto loaded =
        load_module(first,
                    {.stage = options_.stage,
                     .argument_shapes = [&] { return shapes_of_inputs(options_.inputs); }},
                    session_);
    if (!loaded || !is_sound(loaded->module, session_)) return fail(ErrorKind::Input, "no module");
    eval_.partitioning = find_partitioning(loaded->module, eval_);  // passes may remove what tells
    eval_.devices = device_count(loaded->module, eval_);
    HILO_TRY(RunPasses run, passes_to_run());
    return stages_of_passes(std::make_shared<const Module>(std::move(loaded->module)),
                            std::move(run));
  }

  Result<RunPasses> passes_to_run() const {
    if (options_.passes.empty())
      return RunPasses([supplied = supplied_calls(), &machine = machine_](
                           Module& module, const PassObserver& observer) {
        return cpu_target().prepare(module, machine, {observer, supplied});
      });
    HILO_TRY(Pipeline pipeline,
             parse_pipeline(options_.passes, all_passes(), pipelines_of(cpu_target())));
    return RunPasses([pipeline = std::move(pipeline), pass = pass_options()](
                         Module& module, const PassObserver& observer) -> Result<void> {
      HILO_DO(run_pipeline(module, pipeline, {.pass = pass, .observer = observer}));
      return {};
    });
  }

  std::vector<std::string> supplied_calls() const {
    std::vector<std::string> out;
    for (const auto& supplied : eval_.custom_calls) out.push_back(supplied.first);
    return out;
  }

  PassOptions pass_options() const {
    PassOptions out;
    out.supplied_calls = supplied_calls();
    out.machine = &machine_;
    out.rewrite.keeps = keeps_named(options_.keeps);
    return out;
  }

  // The values of the first stage, with which all others are to agree.
  Result<void> set_out(const Module& first) {
    HILO_DO(check_memory(estimate_memory(first, eval_), eval_.memory_limit));
    HILO_TRY(inputs_, make_inputs(first, device_count(first, eval_), options_.inputs));
    shapes_ = shapes_of(first);
    tolerance_ = tolerance_for(first, options_.rtol, options_.atol);
    if (!session_.json) fmt::print("tolerance: {}; integers must be equal\n", describe(tolerance_));
    HILO_TRY(want_, values_of(first));
    say(0, "the values to agree with");
    return {};
  }

  Result<Outputs> values_of(const Module& module) const {
    HILO_DO(check_memory(estimate_memory(module, eval_), eval_.memory_limit));
    return evaluate(module, inputs_, eval_);
  }

  // Where outputs differ from the first stage's.
  std::optional<std::string> difference(const Outputs& got, const Module& module) const {
    const Shape& declared = module.shape(module[module.entry].root);
    for (size_t device = 0; device < want_.devices.size(); ++device)
      if (auto out =
              difference_of(got.devices[device], want_.devices[device], declared, tolerance_))
        return want_.devices.size() > 1 ? fmt::format("device {} {}", device, *out)
                                        : std::move(*out);
    return {};
  }
  Result<std::optional<std::string>> difference(const Module& module) const {
    HILO_TRY(const Outputs got, values_of(module));
    return difference(got, module);
  }

  static std::string shapes_of(const Module& module) {
    std::string out;
    for (const ParameterLeaf& leaf : parameter_leaves(module))
      out += to_string_without_layout(leaf.shape) + " ";
    return out + "-> " + to_string_without_layout(module.shape(module[module.entry].root));
  }

  // Whether the module can be run on the first one's inputs and its outputs be compared; why_not_.
  bool is_comparable(const Module& module) {
    if (shapes_of(module) == shapes_ &&
        device_count(module, eval_) == static_cast<int64_t>(inputs_.devices.size()))
      return true;
    why_not_ =
        "its parameters, results or devices are others than the first stage's; bisect the "
        "files before and behind that change apart";
    return false;
  }

  // Nothing where the stage cannot be run, as why_not_ then says.
  Result<std::optional<bool>> agrees(size_t stage) {
    auto module = stages_.make(stage);
    if (module && !is_comparable(*module)) {
      say(stage, why_not_);
      return std::optional<bool>();
    }
    const auto found = module ? difference(*module) : std::unexpected(module.error());
    if (!found && found.error().kind == ErrorKind::Interrupted)
      return std::unexpected(found.error());
    if (!found) {
      why_not_ = to_string(found.error());
      say(stage, "cannot be run: " + why_not_);
      return std::optional<bool>();
    }
    if (*found) difference_ = **found;
    say(stage, *found ? "DIFFERS: " + (*found)->substr(0, (*found)->find('\n')) : "agrees");
    return std::optional(!*found);
  }

  // `good` agrees and `bad` does not. Stages that cannot be run lie between the two in the end.
  Result<Finding> between(size_t good, size_t bad) {
    std::string shown = difference_;
    std::set<size_t> unknown;
    while (bad - good > 1 + unknown.size()) {
      size_t middle = good + (bad - good) / 2;
      while (unknown.contains(middle)) ++middle;
      if (middle == bad)
        for (middle = good + (bad - good) / 2; unknown.contains(middle);) --middle;
      HILO_TRY(const std::optional<bool> same, agrees(middle));
      if (!same) {
        unknown.insert(middle);
        continue;
      }
      if (*same) {
        good = middle;
      } else {
        bad = middle;
        shown = difference_;
      }
      std::erase_if(unknown, [&](size_t i) { return i < good || i > bad; });
    }
    HILO_TRY(const Module before, stages_.make(good));
    HILO_TRY(const Module after, stages_.make(bad));
    Finding out{.kind = "stage",
                .before = stages_.names[good],
                .after = stages_.names[bad],
                .difference = std::move(shown),
                .lines = other_lines(before, after, 12)};
    HILO_DO(dump(before, after));
    if (!stages_.are_files) HILO_DO(look_for_rule(before, out));
    return out;
  }

  // The pass once more on what it was given, with ever fewer rules allowed.
  Result<void> look_for_rule(const Module& before, Finding& finding) {
    const auto pass = std::ranges::find(all_passes(), finding.after, &Pass::name);
    if (pass == all_passes().end()) return {};
    std::vector<std::string> fired;
    const auto with = [&](size_t allowed) -> Result<Module> {
      Module out = before;
      PassOptions options = pass_options();
      fired.clear();
      options.rewrite.may_fire = [&](std::string_view) { return fired.size() < allowed; };
      options.rewrite.fired = [&](std::string_view rule) { fired.emplace_back(rule); };
      HILO_DO(run_pass(out, pass->run, options));
      return out;
    };
    const auto differs = [&](size_t allowed) -> Result<bool> {
      HILO_TRY(const Module module, with(allowed));
      HILO_TRY(const auto found, difference(module));
      return found.has_value();
    };
    HILO_TRY(const bool all, differs(SIZE_MAX));
    size_t bad = fired.size(), good = 0;
    if (!all || bad == 0) return {};
    HILO_TRY(const bool none, differs(0));
    if (none) return {};
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      HILO_TRY(const bool now, differs(middle));
      (now ? bad : good) = middle;
    }
    HILO_TRY(const Module one_less, with(good));
    HILO_TRY(const Module one_more, with(bad));
    finding.kind = "rule";
    finding.rule = fired.back();
    finding.firing = static_cast<int64_t>(bad);
    finding.lines = other_lines(one_less, one_more, 12);
    return dump(one_less, one_more);
  }

  // All stages agree: machine code is left, where it is ours.
  Result<Finding> last_of_all(size_t last) {
    if (stages_.are_files || !options_.passes.empty() || options_.device == "eval" ||
        eval_.reference)
      return Finding{};
    HILO_TRY(const Module module, stages_.make(0));
    CompileOptions compiling;
    compiling.threads = options_.threads;
    compiling.eval = eval_;
    compiling.emit.interrupt = eval_.interrupt;
    HILO_TRY(const Executable code, compile(module, cpu_target(), compiling));
    HILO_TRY(const Outputs got, code.run_devices(inputs_, {.interrupt = eval_.interrupt}));
    std::optional<std::string> found = difference(got, module);
    say(last + 1, found ? "DIFFERS: " + found->substr(0, found->find('\n')) : "agrees");
    if (!found) return Finding{};
    Finding out{.kind = "machine code", .difference = std::move(*found)};
    HILO_DO(dump(module, code.module()));
    if (want_.devices.size() > 1) return out;
    HILO_TRY(const std::optional<StepDifference> step,
             first_differing_step(code.module(), inputs_.devices.front(),
                                  {std::move(compiling), eval_, tolerance_}));
    if (step) {
      out.instruction = step->instruction;
      out.difference = step->difference;
      out.lines = {step->text};
    }
    return out;
  }

  Result<void> dump(const Module& before, const Module& after) const {
    if (options_.dump_to.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(options_.dump_to, error);
    if (error) return fail(ErrorKind::Io, "{}: {}", options_.dump_to, error.message());
    HILO_DO(write_file(options_.dump_to + "/before.txt", print(before)));
    return write_file(options_.dump_to + "/after.txt", print(after));
  }

  void say(size_t stage, const std::string& result) {
    const std::string name = stage < stages_.names.size() ? stages_.names[stage] : "machine code";
    tried.push_back({{"stage", stage}, {"name", name}, {"result", result}});
    if (session_.json) return;
    fmt::print("{:>5}  {:<36} {}\n", stage, std::filesystem::path(name).filename().native(),
               result);
    std::fflush(stdout);
  }

  const BisectOptions& options_;
  const Machine machine_ = cpu_target().machine("native");
  EvalOptions eval_;
  Session& session_;
  Stages stages_;
  Inputs inputs_;
  Outputs want_;
  std::string shapes_;  // of the first stage's parameters and results
  Tolerance tolerance_;
  std::string why_not_, difference_;
};

void show(const Finding& finding) {
  if (finding.kind.empty()) return fmt::print("no stage changes the values\n");
  if (finding.kind == "machine code") {
    fmt::print("passes keep the values; machine code does not{}\n",
               finding.instruction.empty() ? ", though each instruction alone does"
                                           : fmt::format(", in {} (hilo run --only={})",
                                                         finding.instruction, finding.instruction));
  } else {
    fmt::print("the values change between\n  {}\n  {}\n", finding.before, finding.after);
    if (!finding.rule.empty())
      fmt::print("with the rule {}, number {} of those that fire there\n", finding.rule,
                 finding.firing);
  }
  fmt::print("{}", finding.difference);
  for (const std::string& line : finding.lines) fmt::print("{}\n", line);
}

std::string json_of(const Finding& finding, const Bisection& bisection) {
  const nlohmann::ordered_json out = {{"schema", "hilo.bisect.1"},
                                      {"tolerance", json_of(bisection.tolerance())},
                                      {"tried", bisection.tried},
                                      {"found", finding.kind},
                                      {"before", finding.before},
                                      {"after", finding.after},
                                      {"rule", finding.rule},
                                      {"firing", finding.firing},
                                      {"instruction", finding.instruction},
                                      {"difference", finding.difference},
                                      {"lines", finding.lines}};
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

void run(const BisectOptions& options, Session& session) {
  if (lists_stages(options.files.front(), options.stage, session)) return;
  EvalOptions eval;
  const auto interrupt = listen_for_interrupts(options.timeout, session);
  if (!interrupt) return fail_with(session, interrupt.error());
  eval.interrupt = *interrupt;
  const auto threads = thread_count(options.threads);
  if (!threads) return fail_with(session, threads.error());
  eval.threads = *threads;
  const auto limit = parse_bytes(options.memory_limit);
  if (!limit) return fail_with(session, limit.error());
  eval.memory_limit = *limit;
  auto calls = load_custom_calls(options.custom_calls);
  if (!calls) return fail_with(session, calls.error());
  eval.custom_calls = std::move(*calls);
  eval.reference = options.device == "reference";
  Bisection bisection(options, std::move(eval), session);
  const auto found = bisection.run();
  stop_listening();
  if (!found) {
    if (session.status == success) fail_with(session, name_timeout(found.error(), options.timeout));
    if (found.error().kind == ErrorKind::Usage) session.status = wrong_usage;
    return;
  }
  if (session.json) set_document(session, json_of(*found, bisection));
  else show(*found);
  if (!found->kind.empty()) session.status = values_differ;
}

}  // namespace

void add_bisect(Arguments& arguments, Session& session) {
  auto options = std::make_shared<BisectOptions>();
  arguments
      .add_option("FILE", options->files,
                  "a module, to go through our passes; or XLA's dumps of one module, in order, or "
                  "their folder")
      .required();
  add_stage_options(arguments, options->stage);
  arguments.add_option("--inputs", options->inputs.file,
                       "arrays in_I or in_I_devD: .npz or .safetensors");
  arguments.add_option("--input", options->inputs.specs, "one parameter leaf, as for hilo run");
  arguments.add_option("--seed", options->inputs.seed,
                       "of the random values for what is not given");
  arguments.add_option("--rtol", options->rtol, "allowed |difference| / |expected|");
  arguments.add_option("--atol", options->atol, "allowed |difference|");
  arguments.add_option("--passes", options->passes,
                       "passes or a pipeline, as for hilo opt, instead of those of device cpu");
  arguments
      .add_option("--keep", options->keeps,
                  "with --passes, what must stay of floats: bits, values or reals")
      .one_of({"bits", "values", "reals"});
  arguments
      .add_option("--device", options->device,
                  "cpu: machine code too, at the end; eval: passes alone; reference: these by "
                  "obvious loops for every op")
      .one_of({"cpu", "eval", "reference"});
  arguments.add_option("--threads", options->threads,
                       "threads; 0: HILO_THREADS, or all usable cores");
  arguments.add_option("--timeout", options->timeout, "stop after so many seconds");
  arguments.add_option("--memory-limit", options->memory_limit,
                       "refuse to need more: 16GiB, 512MB");
  arguments.add_option(
      "--custom-call", options->custom_calls,
      "TARGET=lib.so (see custom_call_abi.h), TARGET=operand (its operand, as of a "
      "marker) or TARGET=zeros");
  arguments.add_option("--dump-to", options->dump_to,
                       "a folder for before.txt and after.txt, the modules around what is found");
  arguments.add_flag("--json", session.json, "one JSON document on standard output");
  arguments.footer(
      "Each stage is evaluated on the same inputs and compared with the first one.\n"
      "Exit status 0: all agree; 1: an error; 2: wrong usage; 3: what changes the values is "
      "found.\n"
      "Examples:\n"
      "  hilo bisect module.txt --seed=1\n"
      "  hilo bisect module.txt --inputs io.npz --rtol=1e-3 --dump-to=found\n"
      "  hilo bisect module.txt --passes=simplify --rtol=0   # what changes a bit\n"
      "  hilo bisect dump_folder/                            # --xla_dump_hlo_pass_re=.*\n"
      "  hilo bisect dump_folder/module_0001.*.txt");
  arguments.callback([options, &session] { run(*options, session); });
}

}  // namespace hilo::tools
