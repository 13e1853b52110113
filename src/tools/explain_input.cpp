#include "tools/explain_input.h"

#include <algorithm>
#include <filesystem>

#include "wire/wire.h"

namespace hilo::tools {
namespace {

namespace fs = std::filesystem;

// "module_0001.jit_f.cpu_after_optimizations" of a dump file of that module; "" of a file that is
// named only after its kind; none of other files.
std::optional<std::string> module_stem_of_dump(const std::string& name) {
  for (const std::string_view kind : {"buffer-assignment-values.txt", "buffer-assignment.txt",
                                      "live-range.txt", "memory-usage-report.txt"})
    if (name.ends_with(kind)) {
      std::string stem = name.substr(0, name.size() - kind.size());
      if (stem.ends_with('-')) stem.pop_back();
      return stem;
    }
  return std::nullopt;
}

std::string stem_of_module(const std::string& path) {
  std::string name = fs::path(path).filename();
  for (const std::string_view end : {".gz", ".pb", ".pbtxt", ".txt", ".hlo"})
    if (name.ends_with(end)) name = name.substr(0, name.size() - end.size());
  return name;
}

Result<std::vector<std::string>> files_of(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> out;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(error)) out.push_back(it->path());
  if (error) return fail(ErrorKind::Io, "cannot list {}: {}", folder, error.message());
  std::sort(out.begin(), out.end());
  return out;
}

// The dumps that name the module in their names, or no module at all.
std::vector<std::string> dumps_of(const std::vector<std::string>& files, const std::string& stem) {
  std::vector<std::string> named, nameless;
  for (const std::string& file : files) {
    const auto of = module_stem_of_dump(fs::path(file).filename());
    if (of && *of == stem) named.push_back(file);
    else if (of && of->empty()) nameless.push_back(file);
  }
  return named.empty() ? nameless : named;
}

// The last module that has dumps, by the names of the dumps.
std::vector<std::string> last_dumps(const std::vector<std::string>& files) {
  std::string last;
  for (const std::string& file : files)
    if (const auto stem = module_stem_of_dump(fs::path(file).filename()))
      last = std::max(last, *stem);
  return dumps_of(files, last);
}

Result<std::vector<std::string>> choose_in_folder(const std::string& folder,
                                                  const StageChoice& stage) {
  HILO_TRY(const std::vector<std::string> files, files_of(folder));
  const auto module = choose_stage(folder, stage);
  if (module) {
    std::vector<std::string> out = dumps_of(files, stem_of_module(module->path));
    out.push_back(module->path);
    return out;
  }
  if (!stage.stage.empty() || !stage.module.empty()) return std::unexpected(module.error());
  std::vector<std::string> out = last_dumps(files);
  for (size_t i = files.size(); out.empty() && i-- > 0;) {
    const auto text = read_input_file(files[i]);
    if (text && dump_kind(*text)) out.push_back(files[i]);
  }
  if (out.empty()) return fail(ErrorKind::Io, "{}: neither a module nor a dump", folder);
  return out;
}

Result<std::vector<std::string>> expand_folders(const std::vector<std::string>& paths,
                                                const StageChoice& stage) {
  std::vector<std::string> out;
  if (paths.size() == 1) HILO_DO(check_choice(paths.front(), stage));
  for (const std::string& path : paths)
    if (is_folder(path)) {
      HILO_TRY(const std::vector<std::string> chosen, choose_in_folder(path, stage));
      out.insert(out.end(), chosen.begin(), chosen.end());
    } else {
      out.push_back(path);
    }
  return out;
}

// What is wrong with a text that has no word of a module, where it is none: to its reader an error
// of HLO's syntax says nothing.
std::optional<Error> neither_module_nor_message(const std::string& text, const std::string& shown) {
  const bool is_blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (is_blank || detect_format(std::as_bytes(std::span(text))) != Format::HloText)
    return std::nullopt;
  for (const std::string_view word : {"HloModule", "ENTRY", "ROOT", "parameter("})
    if (text.contains(word)) return std::nullopt;
  if (read_module(std::as_bytes(std::span(text)), Format::HloText)) return std::nullopt;
  Error out{ErrorKind::Format,
            "expected a module (HLO text, an HLO proto or StableHLO), XLA's dumps of one, or a log "
            "with an out-of-memory message; this text has none of them"};
  out.place.file = shown;
  return out;
}

}  // namespace

std::optional<ExplainInput> load_explain_input(const std::vector<std::string>& paths,
                                               const StageChoice& stage, Session& session) {
  const auto files = expand_folders(paths, stage);
  if (!files) return fail_with(session, files.error()), std::nullopt;
  ExplainInput out;
  for (const std::string& file : *files) {
    auto text = read_input_file(file);
    if (!text) return fail_with(session, text.error()), std::nullopt;
    const std::string shown = file == "-" ? "<stdin>" : file;
    if (dump_kind(*text)) {
      out.dumps.emplace_back(shown, std::move(*text));
      continue;
    }
    if (const auto neither = neither_module_nor_message(*text, shown))
      return fail_with(session, *neither), std::nullopt;
    if (out.module)
      return fail_with(session, {ErrorKind::Usage,
                                 fmt::format("{} and {} are two modules; explain takes one",
                                             out.module->path, shown),
                                 {}}),
             std::nullopt;
    out.module = read_loaded_module(std::make_shared<const std::string>(std::move(*text)), shown,
                                    {.stage = stage}, session);
    if (!out.module) return std::nullopt;
  }
  return out;
}

}  // namespace hilo::tools
