// `hilo diff`: what changed between two modules, stages or dump folders of one program.

#include <climits>
#include <future>

#include "pass/pass.h"
#include "tools/explain_input.h"
#include "tools/terminal.h"

namespace hilo::tools {
namespace {

constexpr int width_in_pipes = 200;

struct Options {
  std::vector<std::string> files, stages;
  std::string target;
  bool no_memory = false;
  ComparisonStyle style;
  StageChoice stage;
};

struct Side {
  std::string path;
  ExplainInput input;
  std::optional<MemoryPicture> memory;
  std::string why_not;  // memory is not known
  const Module& module() const { return input.module->module; }
};

Result<MemoryPicture> plan_memory(const Module& module, const Machine* named) {
  const AssumedMachine machine = named ? AssumedMachine{named, "named"} : assume_machine(module);
  Module copied = module;
  HILO_DO(insert_copies(copied, {.machine = machine.machine}));
  HILO_TRY(const Plan planned, plan(copied, *machine.machine));
  return picture_of(copied, *machine.machine, planned, {.costs = false});
}

// As explain would say: XLA's own where its dumps are there.
void find_memory(Side& side, const Machine* machine) {
  std::vector<DumpText> dumps;
  for (const auto& [file, text] : side.input.dumps) dumps.push_back({file, text});
  auto found = dumps.empty() ? plan_memory(side.module(), machine)
                             : read_dumps(dumps, {&side.module(), machine});
  if (found) side.memory = std::move(*found);
  else side.why_not = found.error().message;
}

std::optional<Side> load_side(const std::string& path, const StageChoice& stage, Session& session) {
  auto input = load_explain_input({path}, stage, session);
  if (!input) return std::nullopt;
  Side out{path, std::move(*input), {}, {}};
  if (!out.input.module)
    return fail_with(session, {ErrorKind::Input, fmt::format("{} holds no module", path), {}}),
           std::nullopt;
  if (!is_sound(out.module(), session)) return std::nullopt;
  out.path = out.input.module->path;
  return out;
}

// Of one folder two stages, or of each argument one.
Result<std::pair<StageChoice, StageChoice>> choices_of(const Options& options) {
  StageChoice first = options.stage, second = options.stage;
  if (options.stages.empty()) {
    if (options.files.size() != 2)
      return fail(ErrorKind::Usage,
                  "diff takes two modules or folders, or one folder with --stages=A,B; found {}",
                  options.files.size());
    // The other side may be a file.
    for (StageChoice* choice : {&first, &second})
      if (!is_folder(options.files[choice == &first ? 0 : 1])) *choice = {};
    return std::pair(first, second);
  }
  if (options.stages.size() != 2 || options.files.size() != 1 || !options.stage.stage.empty())
    return fail(ErrorKind::Usage, "--stages takes two stages of one folder");
  first.stage = options.stages[0], second.stage = options.stages[1];
  return std::pair(first, second);
}

Result<void> diff(Options& options, Session& session) {
  HILO_TRY(const auto choices, choices_of(options));
  const Machine* machine = options.target.empty() ? nullptr : find_machine(options.target);
  if (!options.target.empty() && machine == nullptr)
    return fail(ErrorKind::Usage, "--target={}: no such machine (hilo list chips)", options.target);
  auto a = load_side(options.files.front(), choices.first, session);
  if (!a) return {};  // reported
  auto b = load_side(options.files.back(), choices.second, session);
  if (!b) return {};
  std::future<void> memory_a, memory_b;
  if (!options.no_memory) {
    memory_a = std::async(std::launch::async, [&] { find_memory(*a, machine); });
    memory_b = std::async(std::launch::async, [&] { find_memory(*b, machine); });
  }
  const ModuleComparison comparison = compare_modules(a->module(), b->module());
  for (auto* memory : {&memory_a, &memory_b})
    if (memory->valid()) memory->get();
  const bool is_known = a->memory && b->memory;
  for (const Side* side : {&*a, &*b})
    if (!side->why_not.empty())
      warn(session, fmt::format("the memory of {} is not known: {}", side->path, side->why_not));
  const ComparedSide side_a = {a->path, is_known ? &*a->memory : nullptr};
  const ComparedSide side_b = {b->path, is_known ? &*b->memory : nullptr};
  const auto width = static_cast<int>(terminal_width());
  options.style.width = options.style.all ? INT_MAX : width > 0 ? width : width_in_pipes;
  if (session.json) set_document(session, comparison_json(comparison, side_a, side_b));
  else fmt::print("{}", comparison_text(comparison, side_a, side_b, options.style));
  if (!comparison.is_equal()) session.status = values_differ;
  return {};
}

}  // namespace

void add_diff(Arguments& arguments, Session& session) {
  auto options = std::make_shared<Options>();
  arguments
      .add_option("FILE", options->files,
                  "two modules or dump folders of one program, or one folder with --stages")
      .required();
  arguments.add_option("--stages", options->stages, "two stages of one dump folder, as for --stage")
      .separated_by(',');
  add_stage_options(arguments, options->stage);
  arguments.add_option("--target", options->target, "the chip to plan memory for");
  arguments.add_flag("--no-memory", options->no_memory, "compare without planning memory");
  arguments.add_flag("--all", options->style.all, "a row for each instruction, and all of them");
  arguments.add_option("--rows", options->style.rows, "of each table").between(1, 100000);
  arguments.add_flag("--json", session.json, "one JSON document, with all instructions");
  arguments.footer(
      "Instructions are matched by what they compute, by the ops around them, by op_name and by\n"
      "name; renumbered names, channels and source lines are no changes.\n"
      "Exit status 0: equal; 1: an error; 2: wrong usage; 3: they differ.\n"
      "Examples:\n"
      "  hilo diff before.txt after.txt\n"
      "  hilo diff old_dump/ new_dump/                    # their last stages\n"
      "  hilo diff old_dump/ new_dump/ --stage=before --json\n"
      "  hilo diff dump/ --stages=before,after            # two stages of one compilation");
  arguments.callback([options, &session] {
    if (lists_stages(options->files.front(), options->stage, session)) return;
    if (const auto done = diff(*options, session); !done) fail_with(session, done.error());
  });
}

}  // namespace hilo::tools
