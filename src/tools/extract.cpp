// `hilo extract`: a computation, fusion or neighbourhood as a module of its own.
#include <nlohmann/json.hpp>

#include "eval/eval.h"
#include "text/text.h"
#include "tools/inputs.h"
#include "tools/interrupts.h"
#include "tools/machine_memory.h"
#include "tools/module_file.h"
#include "tools/neighbourhood.h"
#include "tools/operand_values.h"
#include "tools/run_options.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

struct Options {
  std::string file, only, output, saved;
  NeighbourhoodOptions around;
  InputOptions inputs;
  std::string memory_limit;
  int threads = 0;
  double timeout = 0;  // seconds; 0: none
  StageChoice stage;
};

// in_I or out_I as `hilo run` reads them, with _devD where there are several devices.
Result<void> save_leaves(NpzWriter& writer, std::string_view prefix,
                         std::span<const Literal> values, std::optional<int64_t> device) {
  int64_t leaf = 0;
  for (const Literal& value : values) {
    Result<void> written;
    for_each_leaf(value, [&](const Literal& one) {
      const auto name = array_name(prefix, leaf++, device);
      if (written && one.shape().is_array()) written = writer.add(name, one);
    });
    HILO_DO(std::move(written));
  }
  return {};
}

Result<void> save_values(const Module& module, const Neighbourhood& extracted,
                         const Options& options, const std::atomic<bool>* interrupt) {
  EvalOptions eval;
  eval.interrupt = interrupt;
  HILO_TRY(eval.threads, thread_count(options.threads));
  HILO_TRY(eval.memory_limit, parse_bytes(options.memory_limit));
  HILO_TRY(const std::optional<bool> per_device, has_device_inputs(options.inputs.file));
  if (per_device && *per_device) eval.partitioning = Partitioning::Partitioned;
  HILO_DO(check_memory(estimate_memory(module, eval), eval.memory_limit));
  const int64_t devices = device_count(module, eval);
  HILO_TRY(Inputs inputs, make_inputs(module, devices, options.inputs));
  std::vector<InstructionId> wanted = extracted.parameters;
  wanted.insert(wanted.end(), extracted.results.begin(), extracted.results.end());
  HILO_TRY(const auto rows, values_in_run(module, wanted, std::move(inputs), eval));
  HILO_TRY(NpzWriter writer, NpzWriter::create(options.saved));
  for (int64_t device = 0; device < devices; ++device) {
    const std::span<const Literal> values = rows[static_cast<size_t>(device)];
    const auto shown = devices > 1 ? std::optional(device) : std::nullopt;
    HILO_DO(save_leaves(writer, "in", values.first(extracted.parameters.size()), shown));
    HILO_DO(save_leaves(writer, "out", values.subspan(extracted.parameters.size()), shown));
  }
  return writer.finish();
}

std::vector<std::string> names_of(const Module& module, std::span<const InstructionId> ids) {
  std::vector<std::string> out;
  for (const InstructionId id : ids) out.emplace_back(module[id].name);
  return out;
}

// Names are those of the program; the text stands there where no file takes it.
std::string document_of(const Module& module, const Neighbourhood& extracted, std::string text,
                        const Options& options) {
  nlohmann::ordered_json out = {{"schema", "hilo.extract.1"},
                                {"module", module.header.name},
                                {"only", options.only},
                                {"parameters", names_of(module, extracted.parameters)},
                                {"results", names_of(module, extracted.results)}};
  if (is_standard_output(options.output)) out["text"] = std::move(text);
  else out["output"] = options.output;
  if (!options.saved.empty()) out["saved"] = options.saved;
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> extract(const Options& options, const Module& module,
                     const std::atomic<bool>* interrupt, Session& session) {
  HILO_TRY(const Neighbourhood extracted, extract(module, "--only", options.only, options.around));
  if (!options.saved.empty()) HILO_DO(save_values(module, extracted, options, interrupt));
  stop_listening();
  std::string text = print(extracted.module);
  if (!session.json || !is_standard_output(options.output))
    write_text(options.output, text, session);
  if (session.json) set_document(session, document_of(module, extracted, std::move(text), options));
  return {};
}

void run(const Options& options, Session& session) {
  if (lists_stages(options.file, options.stage, session)) return;
  if (options.only.empty())
    return fail_with(session, {ErrorKind::Usage, "--only=NAME says what to extract", {}});
  for (const std::string& place : {options.output, options.saved})
    if (!can_write(place, session)) return;
  const bool has_inputs = !options.inputs.file.empty() || !options.inputs.specs.empty();
  if (has_inputs && options.saved.empty())
    return fail_with(
        session, {ErrorKind::Usage, "--inputs are for --save-inputs=F.npz, which is missing", {}});
  const auto loaded = load_module(
      options.file,
      {.stage = options.stage, .argument_shapes = [&] { return shapes_of_inputs(options.inputs); }},
      session);
  if (!loaded || !is_sound(loaded->module, session)) return;
  const auto interrupt = listen_for_interrupts(options.timeout, session);
  if (!interrupt) return fail_with(session, interrupt.error());
  if (const auto done = extract(options, loaded->module, *interrupt, session); !done)
    fail_with(session, name_timeout(done.error(), options.timeout), loaded->module.source);
}

}  // namespace

void add_extract(Arguments& arguments, Session& session) {
  auto options = std::make_shared<Options>();
  arguments.add_option("FILE", options->file, "a module, a dump folder, or - for standard input")
      .required();
  add_stage_options(arguments, options->stage);
  arguments.add_option("--only", options->only, "the instruction, fusion or computation");
  arguments
      .add_option("--depth", options->around.depth,
                  "of an instruction: operands so many steps away come along, others become "
                  "parameters; constants always come along")
      .between(0, 1000000);
  arguments.add_option("--users", options->around.users, "and users so many steps away")
      .between(0, 1000000);
  arguments.add_option("-o,--output", options->output,
                       "the file to write; standard output without");
  arguments.add_option("--save-inputs", options->saved,
                       "evaluate the program, and write what the module takes and gives there as "
                       "in_I and out_I: .npz");
  arguments.add_option("--inputs", options->inputs.file,
                       "with --save-inputs: of the program, arrays in_I or in_I_devD");
  arguments.add_option("--input", options->inputs.specs,
                       "with --save-inputs: one parameter leaf, as for hilo run");
  arguments.add_option("--seed", options->inputs.seed,
                       "of the random values for what is not given");
  arguments.add_option("--threads", options->threads,
                       "threads; 0: HILO_THREADS, or all usable cores");
  arguments.add_option("--memory-limit", options->memory_limit,
                       "refuse to need more: 16GiB, 512MB");
  arguments.add_option("--timeout", options->timeout,
                       "with --save-inputs: stop the evaluation after so many seconds");
  arguments.add_flag("--json", session.json, "one JSON document on standard output");
  arguments.footer(
      "Of a loop's body the values are those of its first iteration.\n"
      "Examples:\n"
      "  hilo extract module.txt --only=fusion.12 -o fusion.txt\n"
      "  hilo extract module.txt --only=dot.3 --depth=2 --users=1\n"
      "  hilo extract module.txt --only=dot.3 --inputs io.npz -o dot.txt --save-inputs dot.npz\n"
      "  hilo run dot.txt --inputs dot.npz --expected dot.npz");
  arguments.callback([options, &session] { run(*options, session); });
}

}  // namespace hilo::tools
