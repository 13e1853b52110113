#include <nlohmann/json.hpp>

#include "tools/diagnostics.h"
#include "tools/module_file.h"
#include "tools/module_form.h"

namespace hilo::tools {
namespace {

struct Options {
  std::string file, output, to, stablehlo_version;
  StageChoice stage;
};

Result<ModuleForm> wanted_form(const Options& options) {
  if (options.to.empty()) return form_of_file(options.output);
  return ModuleForm{form_of_word(options.to), options.output.ends_with(".gz")};
}

void convert_file(const Options& options, Session& session) {
  if (lists_stages(options.file, options.stage, session)) return;
  const auto form = wanted_form(options);
  if (!form) return fail_with(session, form.error());
  if (!options.stablehlo_version.empty() && form->format != Format::StableHloBytecode)
    return fail_with(session, {ErrorKind::Usage,
                               "--stablehlo-version is for bytecode: -o N.mlirbc, or "
                               "--to=stablehlo-bytecode",
                               {}});
  if (!can_write(options.output, session)) return;
  auto loaded = load_module(options.file, {.stage = options.stage}, session);
  if (!loaded) return;
  std::vector<Warning> warnings;
  const auto converted =
      written_as(loaded->module, *form,
                 {.stablehlo_version = options.stablehlo_version, .warnings = &warnings});
  if (!converted) return fail_with(session, converted.error());
  for (const Warning& warning : warnings) warn(session, warning.message, warning.place);
  if (!session.json || !is_standard_output(options.output))
    write_text(options.output, *converted, session);
  if (!session.json) return;
  const nlohmann::ordered_json out = {
      {"schema", "hilo.convert.1"},     {"module", loaded->module.header.name},
      {"file", options.output},         {"format", text_of(form->format)},
      {"compressed", form->compressed}, {"bytes", converted->size()}};
  set_document(session, out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void add_convert(Arguments& arguments, Session& session) {
  auto options = std::make_shared<Options>();
  arguments.add_option("FILE", options->file, "a module in any form, a dump folder, or -")
      .required();
  add_stage_options(arguments, options->stage);
  arguments.add_option("-o,--output", options->output,
                       "the file to write; standard output without. Its ending says the form, .gz "
                       "behind it that it is compressed");
  arguments
      .add_option("--to", options->to,
                  "text (.txt, .hlo), proto (.pb), prototext (.pbtxt), json (.json), stablehlo "
                  "(.mlir) or stablehlo-bytecode (.mlirbc); without, by the output's ending")
      .one_of(words_of_forms());
  arguments.add_option("--stablehlo-version", options->stablehlo_version,
                       "the StableHLO that is to read a .mlirbc, from 1.0.0 to 1.20.0; without, "
                       "1.17.0, which jaxlib 0.10.2 reads");
  arguments.add_flag("--json", session.json,
                     "what was written as one JSON document on standard output");
  arguments.footer(
      "Exit status 0: written; 1: an error; 2: wrong usage.\n"
      "Examples:\n"
      "  hilo convert dump.hlo.pb -o dump.txt\n"
      "  hilo convert dump.txt -o dump.pb.gz\n"
      "  hilo convert dump.txt -o program.mlir\n"
      "  hilo convert dump.txt -o program.mlirbc --stablehlo-version=1.0.0\n"
      "  hilo convert dump.txt --to=json | python3 -m json.tool");
  arguments.callback([options, &session] { convert_file(*options, session); });
}

}  // namespace hilo::tools
