#include <algorithm>

#include "report/report.h"
#include "tools/module_file.h"
#include "verify/verify.h"

namespace hilo::tools {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  StageChoice stage;
  bool strict = false;
};

struct Checked {
  std::string shown;  // the file that was taken
  std::vector<Error> errors;
  std::vector<Note> notes;
  int64_t computations = 0, instructions = 0;
};

constexpr size_t max_errors = 20;

// Errors of reading and of the rules in the order of the file.
void merge_in_file_order(std::vector<Error>& errors, std::vector<Error> others) {
  std::ranges::move(others, std::back_inserter(errors));
  std::ranges::stable_sort(errors, {}, [](const Error& error) {
    return std::pair(error.place.line, error.place.column);
  });
  if (errors.size() > max_errors) errors.resize(max_errors);
}

// Ops that mix widths of floats: mistakes where the check is strict, else one note.
void look_at_widths(const Module& module, bool strict, Checked& out) {
  const std::vector<InstructionId> mixed = find_mixed_widths(module);
  if (mixed.empty()) return;
  if (strict) {
    std::vector<Error> errors;
    for (size_t i = 0; i < std::min<size_t>(mixed.size(), VerifyOptions().max_errors); ++i)
      errors.push_back(mixed_width(module, mixed[i]));
    return merge_in_file_order(out.errors, std::move(errors));
  }
  if (!out.errors.empty()) return;
  out.notes.push_back(
      {fmt::format("{} op{} widths of floats: computed in the widest, rounded once; the first",
                   mixed.size(), mixed.size() == 1 ? " mixes" : "s mix"),
       module.place(mixed[0])});
}

// Reports the errors with their lines, and of a sound module what is worth knowing.
Checked check_file(const std::string& file, const CheckOptions& options, Session& session) {
  Checked out;
  std::shared_ptr<const std::string> source;
  PartialModule partial;
  const LoadOptions loading = {
      .stage = options.stage, .errors = &out.errors, .source = &source, .partial = &partial};
  const auto loaded = load_module(file, loading, session);
  if (loaded && out.errors.empty()) {
    out.errors = verify(loaded->module);
    look_at_widths(loaded->module, options.strict, out);
  }
  if (!partial.incomplete.empty())
    merge_in_file_order(out.errors, verify(partial.module, {.incomplete = &partial.incomplete}));
  const bool names_file = !out.errors.empty() && !out.errors[0].place.file.empty();
  out.shown = loaded ? loaded->path : names_file ? out.errors[0].place.file : file;
  for (Error& error : out.errors) {
    report(session, error, source ? std::string_view(*source) : "");
    if (error.place.file.empty()) error.place.file = out.shown;
  }
  for (Note& note : out.notes) {
    if (note.place.file.empty()) note.place.file = out.shown;
    report(session, note);
  }
  if (!loaded) return out;
  out.computations = std::ssize(loaded->module.computations);
  out.instructions = std::ssize(loaded->module.instructions);
  return out;
}

void check_files(const CheckOptions& options, Session& session) {
  std::vector<std::string> shown;
  std::vector<Error> errors;
  std::vector<Note> notes;
  for (const std::string& file : options.files) {
    if (lists_stages(file, options.stage, session)) continue;
    Checked checked = check_file(file, options, session);
    if (checked.errors.empty() && !session.json)
      fmt::print("{}: sound: {}, {}\n", checked.shown, counted(checked.computations, "computation"),
                 counted(checked.instructions, "instruction"));
    shown.push_back(std::move(checked.shown));
    std::ranges::move(checked.errors, std::back_inserter(errors));
    std::ranges::move(checked.notes, std::back_inserter(notes));
  }
  if (session.json && !options.stage.list) set_document(session, errors_json(shown, errors, notes));
  if (!errors.empty()) session.status = failure;
}

}  // namespace

void add_check(Arguments& arguments, Session& session) {
  auto options = std::make_shared<CheckOptions>();
  arguments.add_option("FILE", options->files, "modules, dump folders, or - for standard input")
      .required();
  add_stage_options(arguments, options->stage);
  arguments.add_flag("--json", session.json, "errors as one JSON document on standard output");
  arguments.add_flag("--strict", options->strict,
                     "ops that mix widths of floats are errors, not a note");
  arguments.footer(
      "Exit status 0: sound; 1: errors, each with file, line, column and what was expected.\n"
      "Examples:\n"
      "  hilo check module.txt\n"
      "  hilo check dump_folder/ --json");
  arguments.callback([options, &session] { check_files(*options, session); });
}

}  // namespace hilo::tools
