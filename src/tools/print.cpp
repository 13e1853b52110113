
#include "text/text.h"
#include "tools/module_file.h"

namespace hilo::tools {

void add_print(Arguments& arguments, Session& session) {
  struct Options {
    std::string file, style = "xla2026", output;
    bool elide = false;
  };
  auto options = std::make_shared<Options>();
  arguments.add_option("FILE", options->file, "a module, a dump folder, or - for standard input")
      .required();
  arguments.add_option("--style", options->style, "xla2026, xla2024 (operand shapes) or short")
      .one_of({"xla2026", "xla2024", "short"});
  arguments.add_flag("--elide-large-constants", options->elide,
                     "constants of over 10 elements as {...}");
  arguments.add_option("-o,--output", options->output, "write to a file");
  arguments.footer(
      "Examples:\n"
      "  hilo print module.pb --style=short\n"
      "  hilo print dump_folder/ --elide-large-constants -o module.txt");
  arguments.callback([options, &session] {
    auto loaded = load_module(options->file, {}, session);
    if (!loaded) return;
    PrintStyle style = options->style == "xla2024" ? PrintStyle::xla2024()
                       : options->style == "short" ? PrintStyle::compact()
                                                   : PrintStyle::xla2026();
    style.large_constants = !options->elide;
    write_text(options->output, print(loaded->module, style), session);
  });
}

}  // namespace hilo::tools
