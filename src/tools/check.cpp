#include "tools/module_file.h"
#include "verify/verify.h"

namespace hilo::tools {
namespace {

struct Checked {
  std::string shown;  // the file that was taken
  std::vector<Error> errors;
  int64_t computations = 0, instructions = 0;
};

// Reports the errors with their lines.
Checked check_file(const std::string& file, Session& session) {
  Checked out;
  std::shared_ptr<const std::string> source;
  const auto loaded = load_module(file, {.errors = &out.errors, .source = &source}, session);
  if (loaded && out.errors.empty()) out.errors = verify(loaded->module);
  const bool names_file = !out.errors.empty() && !out.errors[0].place.file.empty();
  out.shown = loaded ? loaded->path : names_file ? out.errors[0].place.file : file;
  for (Error& error : out.errors) {
    report(session, error, source ? std::string_view(*source) : "");
    if (error.place.file.empty()) error.place.file = out.shown;
  }
  if (!loaded) return out;
  out.computations = std::ssize(loaded->module.computations);
  out.instructions = std::ssize(loaded->module.instructions);
  return out;
}

void check_files(const std::vector<std::string>& files, Session& session) {
  std::vector<std::string> shown;
  std::vector<Error> errors;
  for (const std::string& file : files) {
    Checked checked = check_file(file, session);
    if (checked.errors.empty() && !session.json)
      fmt::print("{}: sound: {} computations, {} instructions\n", checked.shown,
                 checked.computations, checked.instructions);
    shown.push_back(std::move(checked.shown));
    std::ranges::move(checked.errors, std::back_inserter(errors));
  }
  if (session.json) fmt::print("{}\n", errors_json(shown, errors));
  if (!errors.empty()) session.status = failure;
}

}  // namespace

void add_check(Arguments& arguments, Session& session) {
  auto files = std::make_shared<std::vector<std::string>>();
  arguments.add_option("FILE", *files, "modules, dump folders, or - for standard input").required();
  arguments.add_flag("--json", session.json, "errors as one JSON document on standard output");
  arguments.footer(
      "Exit status 0: sound; 1: errors, each with file, line, column and what was expected.\n"
      "Examples:\n"
      "  hilo check module.txt\n"
      "  hilo check dump_folder/ --json");
  arguments.callback([files, &session] { check_files(*files, session); });
}

}  // namespace hilo::tools
