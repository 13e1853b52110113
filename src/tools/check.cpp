#include "tools/module_file.h"
#include "verify/verify.h"

namespace hilo::tools {

void add_check(Arguments& arguments, Session& session) {
  auto files = std::make_shared<std::vector<std::string>>();
  arguments.add_option("FILE", *files, "modules, dump folders, or - for standard input").required();
  arguments.add_flag("--json", session.json, "errors as one JSON document on standard output");
  arguments.footer(
      "Exit status 0: sound; 1: errors, each with file, line, column and what was expected.\n"
      "Examples:\n"
      "  hilo check module.txt\n"
      "  hilo check dump_folder/ --json");
  arguments.callback([files, &session] {
    for (const std::string& file : *files) {
      std::vector<Error> errors;
      std::shared_ptr<const std::string> source;
      auto loaded = load_module(file, {.errors = &errors, .source = &source}, session);
      if (loaded && errors.empty()) errors = verify(loaded->module);
      const std::string shown = loaded ? loaded->path : file;
      const bool is_told = !loaded && errors.empty();  // by load_module
      if (session.json && !is_told) fmt::print("{}\n", errors_json(shown, errors));
      for (const Error& error : errors)
        report(session, error, source ? std::string_view(*source) : "");
      if (!errors.empty() || !loaded) session.status = failure;
      else if (!session.json)
        fmt::print("{}: sound: {} computations, {} instructions\n", shown,
                   loaded->module.computations.size(), loaded->module.instructions.size());
    }
  });
}

}  // namespace hilo::tools
