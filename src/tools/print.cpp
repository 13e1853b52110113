#include <nlohmann/json.hpp>

#include "text/text.h"
#include "tools/module_file.h"
#include "tools/module_form.h"

namespace hilo::tools {
namespace {

struct Options {
  std::string file, style = "xla2026", output;
  StageChoice stage;
  bool elide = false;
};

PrintStyle style_of(const Options& options) {
  PrintStyle out = options.style == "xla2024" ? PrintStyle::xla2024()
                   : options.style == "short" ? PrintStyle::compact()
                                              : PrintStyle::xla2026();
  out.large_constants = !options.elide;
  return out;
}

void print_file(const Options& options, Session& session) {
  if (lists_stages(options.file, options.stage, session)) return;
  if (const auto text = expect_text_file(options.output); !text)
    return fail_with(session, text.error());
  auto loaded = load_module(options.file, {.stage = options.stage}, session);
  if (!loaded) return;
  const std::string text = print(loaded->module, style_of(options));
  if (session.json) {
    const nlohmann::ordered_json out = {
        {"schema", "hilo.print.1"}, {"module", loaded->module.header.name}, {"text", text}};
    set_document(session, out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    if (is_standard_output(options.output)) return;
  }
  write_text(options.output, text, session);
}

}  // namespace

void add_print(Arguments& arguments, Session& session) {
  auto options = std::make_shared<Options>();
  arguments.add_option("FILE", options->file, "a module, a dump folder, or - for standard input")
      .required();
  add_stage_options(arguments, options->stage);
  arguments.add_option("--style", options->style, "xla2026, xla2024 (operand shapes) or short")
      .one_of({"xla2026", "xla2024", "short"});
  arguments.add_flag("--elide-large-constants", options->elide,
                     "constants of over 10 elements as {...}");
  arguments.add_option("-o,--output", options->output, "write to a file");
  arguments.add_flag("--json", session.json,
                     "one JSON document on standard output: the text in it");
  arguments.footer(
      "Exit status 0: printed; 1: an error; 2: wrong usage.\n"
      "Examples:\n"
      "  hilo print module.pb --style=short\n"
      "  hilo print dump_folder/ --list-stages\n"
      "  hilo print dump_folder/ --stage=before --elide-large-constants -o module.txt");
  arguments.callback([options, &session] { print_file(*options, session); });
}

}  // namespace hilo::tools
