#include "tools/dump_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>

#include "report/report.h"

namespace hilo::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t names_shown = 8;  // in a message

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

int64_t number_in(std::string_view digits) {
  int64_t out = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

std::vector<std::string> components(std::string_view name) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    out.emplace_back(name.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Of "0012.fusion.after_cse.before_dce", "3-after-layout": the number; of others -1.
int64_t pass_number(const std::string& name) {
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits > 0 && digits < name.size() && (name[digits] == '-' || name[digits] == '_'))
    return number_in(name.substr(0, digits));
  for (const std::string& one : components(name))
    if (one.size() == 4 && is_digits(one)) return number_in(one);
  return -1;
}

std::string without_endings(std::string name) {
  for (const std::string_view end : {".gz", ".pb", ".pbtxt", ".txt", ".hlo"})
    if (name.ends_with(end)) name = name.substr(0, name.size() - end.size());
  return name;
}

// Files of XLA's and of ours that hold something else.
bool is_other_dump(const std::string& name) {
  for (const std::string_view other :
       {"buffer-assignment", "live-range", "memory-usage", "thunk_sequence", "debug_options",
        "config", "hlo_snapshot", ".plan."})
    if (name.find(other) != std::string::npos) return true;
  return false;
}

// Texts beside modules bear their names, too. A module alone may be without its header.
bool begins_like_module(const fs::path& path) {
  const std::string extension = path.extension();
  if (extension != ".txt" && extension != ".hlo") return true;
  std::string head(4096, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const std::string_view read(head.data(), static_cast<size_t>(file.gcount()));
  return read.find("HloModule") != std::string_view::npos;
}

// The stage that XLA's dump file names say (openxla.org/xla/hlo_dumps).
std::optional<DumpStage> stage_of(const fs::path& path) {
  std::string name = path.filename();
  const std::string extension = path.extension();
  const bool is_module = extension == ".txt" || extension == ".hlo" || extension == ".pb" ||
                         extension == ".pbtxt" || extension == ".gz";
  if (!is_module || is_other_dump(name)) return std::nullopt;
  name = without_endings(name);
  DumpStage out{path, "", name};
  const size_t start = name.find("module_");
  if (start == 0 || (start != std::string::npos && is_digits(name.substr(0, start - 1)))) {
    const size_t dot = name.find('.', name.find('.', start) + 1);
    out.module = name.substr(0, dot).substr(start);
    out.name = dot == std::string::npos ? "" : name.substr(dot + 1);
    if (!begins_like_module(path)) return std::nullopt;
  }
  out.number = pass_number(out.name);
  if (out.number >= 0) return out;
  static constexpr std::pair<std::string_view, int> ranks[] = {
      {"after_optimizations_before_buffer_assignment", 3},
      {"after_optimizations", 4},
      {"before", 0},
      {"after", 2}};
  for (const auto& [words, rank] : ranks)
    if (out.name.find(words) != std::string::npos) {
      out.rank = rank;
      break;
    }
  return out;
}

Result<std::vector<DumpStage>> all_stages(const std::string& folder) {
  std::vector<DumpStage> out;
  std::error_code error;
  size_t files = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    ++files;
    if (it->is_regular_file(error))
      if (auto one = stage_of(it->path())) out.push_back(std::move(*one));
  }
  if (error) return fail(ErrorKind::Io, "cannot list {}: {}", folder, error.message());
  if (out.empty())
    return fail(ErrorKind::Io,
                "{}: no module among {}; a name that ends in .txt, .hlo, .pb, .pbtxt or .gz and is "
                "not that "
                "of another dump was expected",
                folder, counted(files, "file"));
  std::ranges::sort(out, {}, [](const DumpStage& one) {
    return std::tuple(one.module, one.rank, one.number, one.path);
  });
  return out;
}

std::vector<std::string> modules_of(const std::vector<DumpStage>& stages) {
  std::set<std::string> out;
  for (const DumpStage& stage : stages) out.insert(stage.module);
  return {out.begin(), out.end()};
}

std::string list_of(std::vector<std::string> names) {
  const size_t more = names.size() - std::min(names.size(), names_shown);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

// The last stage of each module stands before the next one's first.
std::string largest_module(const std::vector<DumpStage>& stages) {
  std::string out;
  uintmax_t largest = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (i + 1 < stages.size() && stages[i + 1].module == stages[i].module) continue;
    std::error_code ignored;
    const uintmax_t bytes = fs::file_size(stages[i].path, ignored);
    if (bytes >= largest) largest = bytes, out = stages[i].module;
  }
  return out;
}

struct Chosen {
  std::vector<DumpStage> stages;     // of one module
  std::vector<std::string> modules;  // that there were
};
Result<Chosen> choose_module(const std::string& folder, const StageChoice& choice) {
  HILO_TRY(std::vector<DumpStage> all, all_stages(folder));
  Chosen out{{}, modules_of(all)};
  if (!choice.module.empty()) {
    const bool is_whole = std::ranges::find(out.modules, choice.module) != out.modules.end();
    std::erase_if(all, [&](const DumpStage& one) {
      return is_whole ? one.module != choice.module
                      : one.module.find(choice.module) == std::string::npos;
    });
    if (all.empty())
      return fail(ErrorKind::Usage, "--module={}: {} has no module of that name; there are: {}",
                  choice.module, folder, list_of(out.modules));
  }
  const std::string module = largest_module(all);
  std::erase_if(all, [&](const DumpStage& one) { return one.module != module; });
  out.stages = std::move(all);
  return out;
}

std::string largest_of(const Chosen& chosen) {
  return fmt::format("the largest of {} modules, --module takes another: {}", chosen.modules.size(),
                     list_of(chosen.modules));
}

}  // namespace

void add_stage_options(Arguments& arguments, StageChoice& choice) {
  arguments.add_option("--stage", choice.stage,
                       "of a dump folder: before, after (without this), the number of a pass, a "
                       "pass or part of a file name");
  arguments.add_option("--module", choice.module,
                       "of a dump folder: the module, by part of its name; without, the one whose "
                       "last stage is largest");
  arguments.add_flag("--list-stages", choice.list, "the stages of a dump folder, and nothing else");
  arguments.add_option("--argument-shapes", choice.argument_shapes,
                       "of a StableHLO program that leaves dimensions open, as 4x8xf32,8x2xf32");
}

Result<std::vector<DumpStage>> stages_in_folder(const std::string& folder,
                                                const StageChoice& choice) {
  HILO_TRY(Chosen chosen, choose_module(folder, choice));
  if (chosen.modules.size() > 1 && choice.module.empty())
    fmt::print(stderr, "taking {} ({})\n", chosen.stages.front().module, largest_of(chosen));
  return std::move(chosen.stages);
}

Result<DumpStage> find_stage(const std::string& folder, const std::vector<DumpStage>& stages,
                             const std::string& wanted) {
  if (wanted.empty() || wanted == "after") return stages.back();
  if (wanted == "before") return stages.front();
  const auto has_component = [&](const DumpStage& one, const std::string& component) {
    const std::vector<std::string> all = components(one.name);
    return std::ranges::find(all, component) != all.end();
  };
  const auto find = [&](auto&& fits) {
    const auto found = std::find_if(stages.rbegin(), stages.rend(), fits);
    return found == stages.rend() ? nullptr : &*found;
  };
  const DumpStage* found = nullptr;
  const bool is_number = is_digits(wanted);
  if (is_number)
    found = find([&](const DumpStage& one) { return one.number == number_in(wanted); });
  if (!found) found = find([&](const DumpStage& one) { return has_component(one, wanted); });
  if (!found)
    found = find([&](const DumpStage& one) { return has_component(one, "after_" + wanted); });
  if (!found && !is_number)
    found = find([&](const DumpStage& one) {
      return fs::path(one.path).filename().native().find(wanted) != std::string::npos;
    });
  if (found) return *found;
  std::vector<std::string> names;
  for (const DumpStage& one : stages) names.push_back(one.name);
  return fail(ErrorKind::Io, "{}: no stage {}; there are: {} (--list-stages)", folder, wanted,
              list_of(std::move(names)));
}

Result<DumpStage> choose_stage(const std::string& folder, const StageChoice& choice) {
  HILO_TRY(const Chosen chosen, choose_module(folder, choice));
  HILO_TRY(DumpStage out, find_stage(folder, chosen.stages, choice.stage));
  std::string why = chosen.stages.size() == 1
                        ? "its only stage"
                        : fmt::format("one of {} stages", chosen.stages.size());
  if (chosen.modules.size() > 1 && choice.module.empty()) why += ", of " + largest_of(chosen);
  fmt::print(stderr, "taking {} ({})\n", out.path, why);
  return out;
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path != "-" && fs::is_directory(path, ignored);
}

Result<void> check_choice(const std::string& path, const StageChoice& choice) {
  const bool chooses = !choice.stage.empty() || !choice.module.empty() || choice.list;
  if (!chooses || is_folder(path)) return {};
  return fail(ErrorKind::Usage, "{} is no dump folder, of which {} could choose", path,
              !choice.stage.empty()    ? "--stage"
              : !choice.module.empty() ? "--module"
                                       : "--list-stages");
}

}  // namespace hilo::tools
