#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "compile/compile.h"
#include "pass/pass.h"
#include "tools/explain_commands.h"
#include "tools/explain_dump.h"
#include "tools/explain_index_maps.h"
#include "tools/explain_input.h"
#include "tools/machine_record.h"
#include "tools/named.h"
#include "tools/run_options.h"
#include "tools/target_machine.h"
#include "verify/verify.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

struct Options {
  std::vector<std::string> files;
  int64_t limit_bytes = 0;  // 0: none
  std::string target, topology, limit, html, dump_to, dump_form = "today", index_map, machine;
  bool keep_order = false, verify_plan = false, no_advice = false, collectives = false,
       sharding = false, commands = false;
  int rows = 20, threads = 0;
  StageChoice stage;
};

// A module with the copies it needs, and its plan.
struct Planned {
  Module module;
  Plan plan;
};

// All of several mistakes, and the first of them.
Result<void> check_all(const std::vector<Error>& errors, const Session& session) {
  if (errors.empty()) return {};
  for (size_t i = 1; i < errors.size(); ++i) report(session, errors[i]);
  return std::unexpected(errors.front());
}

Result<Planned> plan_module(const Module& module, const Machine& machine, const Options& options,
                            const Session& session) {
  Planned out{module, {}};
  if (options.keep_order) out.module.header.is_scheduled = true;
  HILO_DO(check_all(verify(out.module), session));
  HILO_DO(insert_copies(out.module, {.machine = &machine}));
  HILO_TRY(out.plan, plan(out.module, machine));
  if (options.verify_plan) HILO_DO(check_all(check_plan(out.module, machine, out.plan), session));
  return out;
}

// A plan for the chip that is named, or else for one that the plan does not contradict.
struct PlannedFor {
  AssumedMachine machine;
  Planned planned;
};
Result<PlannedFor> plan_for_chip(const LoadedModule& loaded, const Machine* named,
                                 const Options& options, const Session& session) {
  if (named) {
    HILO_TRY(Planned planned, plan_module(loaded.module, *named, options, session));
    return PlannedFor{{named, "named by --target", true, {}}, std::move(planned)};
  }
  AssumedMachine machine = assume_machine(loaded.module, {loaded.path, nullptr});
  HILO_TRY(Planned planned, plan_module(loaded.module, *machine.machine, options, session));
  const AssumedMachine better = assume_machine(loaded.module, {loaded.path, &planned.plan});
  if (better.machine != machine.machine) {
    HILO_TRY(planned, plan_module(loaded.module, *better.machine, options, session));
  }
  return PlannedFor{better, std::move(planned)};
}

void set_limit(MemoryPicture& picture, const Options& options) {
  if (options.limit_bytes > 0) picture.limit = options.limit_bytes;
  for (MemoryPicture& other : picture.further) set_limit(other, options);
}

Result<MemoryPicture> explain_module(const LoadedModule& loaded, const Machine* named,
                                     const Options& options, const Session& session) {
  HILO_TRY(const PlannedFor chosen, plan_for_chip(loaded, named, options, session));
  const Planned& planned = chosen.planned;
  const Machine& machine = *chosen.machine.machine;
  MemoryPicture picture = picture_of(planned.module, machine, planned.plan);
  set_machine(picture, chosen.machine);
  set_limit(picture, options);
  if (!loaded.module.header.is_scheduled && !options.keep_order)
    picture.notes.push_back("the module is not scheduled: the order is one that Hilo found");
  const size_t copies = planned.module.instructions.size() - loaded.module.instructions.size();
  if (copies > 0)
    picture.notes.push_back(counted(copies, "copy", "copies") + " inserted that its aliases need");
  if (!options.no_advice) find_advice(picture, planned.module, machine);
  if (!options.dump_to.empty()) {
    const DumpForm form = options.dump_form == "older" ? DumpForm::Older : DumpForm::Today;
    HILO_TRY(const auto files, write_dumps({options.dump_to, loaded.path, form}, planned.module,
                                           machine, planned.plan));
    for (const std::string& file : files) fmt::print(stderr, "wrote {}\n", file);
  }
  return picture;
}

// What our own plan of the same module would take, beside the dump's.
void compare_with_plan(MemoryPicture& picture, const LoadedModule& loaded, const Machine& machine,
                       const Options& options, const Session& session) {
  const auto planned = plan_module(loaded.module, machine, options, session);
  if (!planned) {
    picture.notes.push_back("Hilo's own plan is not there to compare: " + planned.error().message);
    return;
  }
  for (const SpacePlan& ours : planned->plan.spaces)
    for (const PictureSpace& space : picture.spaces)
      if (ours.space == space.space && space.total_bytes > 0)
        picture.notes.push_back(fmt::format(
            "Hilo's own plan of the module takes {} bytes of {}, {} of them temporary; this dump "
            "{}, {} temporary",
            ours.total_bytes, space.name, ours.temp_bytes, space.total_bytes, space.temp_bytes));
}

void report_faults(const MemoryPicture& picture, Session& session) {
  for (const Error& fault : picture.faults) report(session, fault);
  if (!picture.faults.empty()) session.status = failure;
  for (const MemoryPicture& other : picture.further) report_faults(other, session);
}

Result<MemoryPicture> explain_dumps(const ExplainInput& input, const Machine* named,
                                    const Options& options, Session& session) {
  std::vector<DumpText> dumps;
  for (const auto& [file, text] : input.dumps) dumps.push_back({file, text});
  if (!options.dump_to.empty())
    return fail(ErrorKind::Usage, "--dump-to writes plans of modules; this is a dump already");
  DumpOptions dump_options{input.module ? &input.module->module : nullptr, named};
  HILO_TRY(MemoryPicture picture, read_dumps(dumps, dump_options));
  set_limit(picture, options);
  report_faults(picture, session);
  if (options.no_advice) return picture;
  find_advice(picture);
  if (const Machine* machine = find_machine(picture.machine); machine && input.module)
    compare_with_plan(picture, *input.module, *machine, options, session);
  return picture;
}

void name_machine(MemoryPicture& picture, const Machine& machine) {
  set_machine(picture, {&machine, "named by --target", true, {}});
  for (MemoryPicture& other : picture.further) name_machine(other, machine);
}

ReportStyle report_style(const Options& options) {
  ReportStyle style{options.rows, 200, false};
  if (!isatty(STDOUT_FILENO)) return style;
  style.color = std::getenv("NO_COLOR") == nullptr;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 40) style.width = size.ws_col;
  return style;
}

// A bare number would be bytes, which nobody means.
Result<int64_t> parse_limit(const std::string& text) {
  if (text.find_first_not_of("0123456789.") == std::string::npos && !text.empty())
    return fail(ErrorKind::Usage, "--limit={}: write the unit, as in {}GiB", text, text);
  return parse_bytes(text);
}

Result<void> explain_index_maps(const ExplainInput& input, const Options& options,
                                const Session& session) {
  if (!input.module)
    return fail(ErrorKind::Usage,
                "--index-map tells of an instruction of a module; this is a dump");
  const Module& module = input.module->module;
  const InstructionId id = find_instruction(module, options.index_map);
  if (!id)
    return std::unexpected(no_such_name(module, "--index-map", "instruction", options.index_map));
  HILO_DO(check_all(verify(module), session));
  fmt::print("{}", session.json ? index_maps_json(module, id) + "\n" : index_maps_text(module, id));
  return {};
}

// A program of whole arrays is partitioned first.
Result<void> explain_collectives(ExplainInput& input, const Machine* machine,
                                 const Options& options, const Session& session) {
  if (!input.module)
    return fail(ErrorKind::Usage,
                "--collectives tells of the collectives of a module; this is a dump");
  Module& module = input.module->module;
  HILO_DO(check_all(verify(module), session));
  if (find_partitioning(module, {}) == Partitioning::Unpartitioned) HILO_DO(partition(module));
  const AssumedMachine assumed = assume_machine(module, {input.module->path, nullptr});
  if (!machine) machine = assumed.machine;
  fmt::print("{}", session.json ? collectives_json(module, machine) + "\n"
                                : collective_report(module, machine, report_style(options)));
  return {};
}

Result<void> explain_sharding(ExplainInput& input, const Options& options, const Session& session) {
  if (!input.module)
    return fail(ErrorKind::Usage, "--sharding tells of the values of a module; this is a dump");
  Module& module = input.module->module;
  HILO_DO(check_all(verify(module), session));
  HILO_TRY(const std::string text,
           session.json ? shardings_json(module) : sharding_report(module, report_style(options)));
  fmt::print("{}{}", text, session.json ? "\n" : "");
  return {};
}

Result<void> explain_commands(const ExplainInput& input, const Machine* named,
                              const Options& options, const Session& session) {
  if (!input.module)
    return fail(ErrorKind::Usage, "--commands tells of a module that is compiled; this is a dump");
  const auto tell = [&](const Error& error) { warn(session, error.message, error.place); };
  std::optional<MachineRecord> record;
  if (!options.machine.empty()) {
    HILO_TRY(record, read_record(options.machine));
  } else if (!named) {
    record = known_host_record(tell);
  }
  Machine machine = record ? record->machine() : *named;
  HILO_TRY(const int threads, thread_count(options.threads));
  if (options.threads > 0 && machine.cores.count == 0)
    return fail(ErrorKind::Usage, "--threads={}: {} is no processor that has threads", threads,
                machine.name);
  if (threads > 0 && machine.cores.count > 0) machine.cores.count = threads;
  HILO_DO(check_all(verify(input.module->module), session));
  HILO_TRY(const std::string text,
           commands_of_program(input.module->module, machine, session.json, report_style(options)));
  fmt::print("{}", text);
  return {};
}

Result<void> explain(Options& options, Session& session) {
  HILO_TRY(options.limit_bytes, parse_limit(options.limit));
  if (options.html == "-" && session.json)
    return fail(ErrorKind::Usage, "--html=- and --json both write to standard output");
  if ((!options.machine.empty() || options.threads != 0) && !options.commands)
    return fail(ErrorKind::Usage, "{} tells what commands take: --commands is missing",
                options.machine.empty() ? "--threads" : "--machine");
  HILO_TRY(const std::optional<Machine> named, find_target(options.target, options.topology));
  const Machine* const machine = named ? &*named : nullptr;
  auto input = load_explain_input(options.files, options.stage, session);
  if (!input) return {};  // reported
  if (machine && input->module) HILO_DO(check_torus(*machine, input->module->module));
  if (options.sharding) return explain_sharding(*input, options, session);
  if (options.commands) return explain_commands(*input, machine, options, session);
  if (options.collectives) return explain_collectives(*input, machine, options, session);
  if (!options.index_map.empty()) return explain_index_maps(*input, options, session);
  HILO_TRY(MemoryPicture picture, input->dumps.empty()
                                      ? explain_module(*input->module, machine, options, session)
                                      : explain_dumps(*input, machine, options, session));
  if (machine) name_machine(picture, *machine);
  if (!options.html.empty()) write_text(options.html, html_page(picture), session);
  if (options.html != "-")
    fmt::print("{}\n",
               session.json ? memory_json(picture) : memory_report(picture, report_style(options)));
  const bool others_fit = std::ranges::all_of(picture.further, &MemoryPicture::fits);
  if (!(picture.fits() && others_fit) && session.status == success) session.status = values_differ;
  return {};
}

}  // namespace

void add_explain(Arguments& arguments, Session& session) {
  auto options = std::make_shared<Options>();
  arguments
      .add_option("FILE", options->files,
                  "a module, XLA's dumps of one module, an out-of-memory message, a dump folder, "
                  "or -")
      .required();
  add_stage_options(arguments, options->stage);
  const Option target =
      arguments.add_option("--target", options->target, "the chip, as in v5e or h100_sxm");
  arguments.add_option("--topology", options->topology,
                       "devices along each axis of the target's torus, as in 4x2");
  arguments.add_option("--limit", options->limit, "as in 16GiB: exit status 3 when more is needed");
  arguments.add_option(
      "--html", options->html,
      "also write a page to open in a browser; -: only the page, to standard output");
  arguments.add_option("--dump-to", options->dump_to,
                       "write the texts that XLA writes, of our plan");
  arguments.add_option("--dump-form", options->dump_form, "today or older (one file, before 2026)")
      .one_of({"today", "older"});
  arguments.add_flag(
      "--keep-order", options->keep_order,
      "the order of the file, also when the module does not say that it is a schedule");
  arguments.add_flag("--verify-plan", options->verify_plan, "check the plan by code of its own");
  arguments.add_flag("--no-advice", options->no_advice, "only what is, not what would help");
  arguments.add_option("--index-map", options->index_map,
                       "NAME of an instruction: which elements of its operands one of it needs");
  arguments.add_flag("--commands", options->commands,
                     "what the compiled program consists of, before there is code: kernels, "
                     "routines, loops, and why a step is no kernel; how long each takes on the "
                     "target, or else on this machine");
  arguments
      .add_option("--machine", options->machine,
                  "with --commands: a record as `hilo bench --machine --json` writes it, in place "
                  "of this machine's")
      .excludes(target);
  arguments.add_option("--threads", options->threads,
                       "with --commands: threads that share a command; 0: HILO_THREADS, or a core "
                       "each");
  arguments.add_flag("--collectives", options->collectives,
                     "what devices send each other, why, and what would save it");
  arguments.add_flag("--sharding", options->sharding,
                     "how each array is sharded, and which annotation says so");
  arguments.add_option("--rows", options->rows, "of each table").between(1, 100000);
  arguments.add_flag("--json", session.json, "one JSON document");
  arguments.footer(
      "Examples:\n  hilo explain module.txt --target=v5e --limit=16GiB\n"
      "  hilo explain dump_folder/\n"
      "  hilo explain module.txt --html=memory.html\n"
      "  hilo explain module.txt --commands --threads=1\n"
      "Exit status 0: explained; 1: errors, or faults in a dump of which the rest is shown; 3: "
      "does not fit.");
  arguments.callback([options, &session] {
    if (lists_stages(options->files.front(), options->stage, session)) return;
    const auto done = explain(*options, session);
    if (!done) fail_with(session, done.error());
  });
}

}  // namespace hilo::tools
