#include "tools/module_file.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "report/report.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

namespace fs = std::filesystem;

struct Candidate {
  std::string path, stage;
  int rank;  // higher: more optimised
};

// Of a name as in module_0001.jit_f.0012.fusion.after_cse.txt: "0012"; of others nothing.
std::string pass_number(const std::string& name) {
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const std::string part = name.substr(dot + 1, name.find('.', dot + 1) - dot - 1);
    if (part.size() == 4 && part.find_first_not_of("0123456789") == std::string::npos) return part;
  }
  return {};
}

// The stage that XLA's dump file names say (openxla.org/xla/hlo_dumps), most optimised last.
std::optional<Candidate> candidate(const fs::path& path) {
  const std::string name = path.filename();
  const std::string extension = path.extension();
  const bool is_module = extension == ".txt" || extension == ".hlo" || extension == ".pb" ||
                         extension == ".pbtxt" || extension == ".gz";
  for (std::string_view other : {"buffer-assignment", "live-range", "memory-usage",
                                 "thunk_sequence", "debug_options", "config", "hlo_snapshot"})
    if (name.find(other) != std::string::npos) return std::nullopt;
  if (!is_module) return std::nullopt;
  static constexpr std::pair<std::string_view, int> stages[] = {
      {"before_optimizations", 0},
      {"before", 0},
      {"after_optimizations_before_buffer_assignment", 3},
      {"after_optimizations", 4},
      {"after", 2}};
  Candidate out{path, "module", 1};
  if (const std::string number = pass_number(name); !number.empty())
    return Candidate{path, "after pass " + number, 1};
  for (const auto& [stage, rank] : stages)
    if (name.find(stage) != std::string::npos) {
      out.stage = stage;
      out.rank = rank;
      break;
    }
  if (name.find("after_optimizations.") != std::string::npos)
    out.stage = "after_optimizations", out.rank = 4;
  return out;
}

// From the first stage to the most optimised.
Result<std::vector<Candidate>> candidates(const std::string& folder) {
  std::vector<Candidate> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file(error))
      if (auto one = candidate(entry.path())) found.push_back(*one);
  if (error) return fail(ErrorKind::Io, "cannot list {}: {}", folder, error.message());
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.rank, a.path) < std::pair(b.rank, b.path);
  });
  return found;
}

// Where errors are collected, those that came before the last one say more.
std::nullopt_t not_loaded(const Error& error, std::string_view source, const LoadOptions& options,
                          Session& session) {
  if (options.errors == nullptr) fail_with(session, error, source);
  else if (options.errors->empty()) options.errors->push_back(error);
  return std::nullopt;
}

constexpr size_t most_stages = 8;

// What the folder has instead.
std::unexpected<Error> no_such_module(const std::string& folder, const std::string& stage,
                                      const std::vector<Candidate>& found) {
  if (!found.empty()) {
    std::set<std::string> stages;  // a few: the whole list has been printed
    for (const Candidate& one : found)
      if (stages.size() < most_stages) stages.insert(one.stage);
    return fail(ErrorKind::Io, "{}: no module has {} in its name; there are: {}", folder, stage,
                fmt::join(stages, ", "));
  }
  std::error_code ignored;
  const auto count = std::distance(fs::directory_iterator(folder, ignored), {});
  return fail(
      ErrorKind::Io,
      "{}: no module among {} files; a name that ends in .txt, .hlo, .pb, .pbtxt or .gz and "
      "is not that of another dump was expected",
      folder, count);
}

}  // namespace

Result<std::vector<std::string>> modules_in_folder(const std::string& folder) {
  HILO_TRY(const std::vector<Candidate> found, candidates(folder));
  std::vector<std::string> out;
  for (const Candidate& one : found) out.push_back(one.path);
  return out;
}

Result<std::string> find_module_in_folder(const std::string& folder, const std::string& stage) {
  HILO_TRY(const std::vector<Candidate> found, candidates(folder));
  for (const Candidate& one : found) fmt::print(stderr, "  {:<44} {}\n", one.stage, one.path);
  for (size_t i = found.size(); i-- > 0;)
    if (stage.empty() || found[i].path.find(stage) != std::string::npos) {
      fmt::print(stderr, "taking {}\n", found[i].path);
      return found[i].path;
    }
  return no_such_module(folder, stage, found);
}

Result<std::string> read_input_file(const std::string& path) {
  if (path != "-") return read_whole_file(path);
  std::string out;
  std::vector<char> block(1 << 16);
  while (const size_t count = std::fread(block.data(), 1, block.size(), stdin))
    out.append(block.data(), count);
  if (std::ferror(stdin)) return fail(ErrorKind::Io, "cannot read standard input");
  return out;
}

std::optional<LoadedModule> load_module(const std::string& path, const LoadOptions& options,
                                        Session& session) {
  std::string file = path;
  std::error_code ignored;
  if (path != "-" && fs::is_directory(path, ignored)) {
    auto chosen = find_module_in_folder(path, options.stage);
    if (!chosen) return not_loaded(chosen.error(), "", options, session);
    file = *chosen;
  }
  auto text = read_input_file(file);
  if (!text) return not_loaded(text.error(), "", options, session);
  return read_loaded_module(std::make_shared<const std::string>(std::move(*text)),
                            file == "-" ? "<stdin>" : file, options, session);
}

std::optional<LoadedModule> read_loaded_module(std::shared_ptr<const std::string> text,
                                               const std::string& shown, const LoadOptions& options,
                                               Session& session) {
  if (options.source) *options.source = text;
  std::vector<Warning> warnings;
  auto module = read_module(
      text, Format::Detect,
      {.file = shown, .warnings = &warnings, .errors = options.errors, .partial = options.partial});
  if (!module)
    if (const auto dump = dump_instead_of_module(*text, shown)) {
      if (options.errors) options.errors->clear();
      if (options.partial) *options.partial = {};
      return not_loaded(*dump, "", options, session);
    }
  for (const Warning& warning : warnings) warn(session, warning.message, warning.place);
  if (!module) {
    Error error = module.error();
    if (error.place.file.empty()) error.place.file = shown;
    return not_loaded(error, *text, options, session);
  }
  if (module->file.empty()) module->file = shown;
  return LoadedModule{std::move(*module), shown};
}

std::optional<Error> dump_instead_of_module(std::string_view text, const std::string& shown) {
  const auto kind = dump_kind(text);
  if (!kind) return std::nullopt;
  Error out{
      ErrorKind::Format,
      fmt::format("expected a module, found XLA's {}; `hilo explain` reads it", text_of(*kind))};
  out.place.file = shown;
  return out;
}

bool can_write(const std::string& path, Session& session) {
  if (path.empty() || path == "-") return true;
  std::error_code ignored;
  const fs::path folder = fs::path(path).parent_path();
  int error = 0;
  if (fs::is_directory(path, ignored)) error = EISDIR;
  else if (::access(path.c_str(), W_OK) != 0 &&
           ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
    error = errno;
  if (error != 0)
    fail_with(session,
              {ErrorKind::Io, fmt::format("cannot write {}: {}", path, std::strerror(error))});
  return error == 0;
}

void write_text(const std::string& path, std::string_view text, Session& session) {
  if (path.empty() || path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  if (const auto written = write_file(path, text); !written) fail_with(session, written.error());
}

}  // namespace hilo::tools
