#include "tools/explain_dump.h"

#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "text/text.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

namespace fs = std::filesystem;

// "module_0001.jit_f.v5e_after_optimizations"; the name of a dumped module stays.
std::string stem_of(const DumpFiles& files, const Module& module, const Machine& machine) {
  const std::string name = fs::path(files.module_file).filename();
  const size_t end = name.find(".txt");
  if (name.starts_with("module_") && end != std::string::npos &&
      name.find("after_optimizations") != std::string::npos)
    return name.substr(0, end);
  std::string safe = module.header.name.empty() ? "module" : module.header.name;
  for (char& c : safe)
    if (c == '/' || static_cast<unsigned char>(c) < 32) c = '_';
  safe.resize(std::min<size_t>(safe.size(), 150));
  return fmt::format("module_0000.{}.{}_after_optimizations", safe, machine.name);
}

Module scheduled(const Module& module, const Plan& plan) {
  Module out = module;
  for (size_t c = 0; c < out.computations.size(); ++c)
    if (plan.schedule.orders[c].size() == out.computations[c].instructions.size())
      out.computations[c].instructions = plan.schedule.orders[c];
  out.header.is_scheduled = true;
  return out;
}

// Dumps tell instructions by their names alone: one that stood before gets a number, as in XLA's.
Module with_unique_names(const Module& module) {
  Module out = module;
  std::unordered_set<std::string_view> taken, seen;
  std::unordered_map<std::string_view, int64_t> numbers;
  for (const Instruction& instruction : module.instructions) taken.insert(instruction.name);
  for (Instruction& instruction : out.instructions) {
    if (instruction.removed || seen.insert(instruction.name).second) continue;
    std::string name;
    do name = fmt::format("{}.{}", instruction.name, ++numbers[instruction.name]);
    while (taken.contains(name));
    instruction.name = out.strings.copy(name);
    taken.insert(instruction.name);
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> write_dumps(const DumpFiles& files, const Module& planned,
                                             const Machine& machine, const Plan& plan) {
  const Module module = with_unique_names(planned);
  std::error_code error;
  fs::create_directories(files.folder, error);
  if (error) return fail(ErrorKind::Io, "cannot make {}: {}", files.folder, error.message());
  const MemoryPicture picture = picture_of(
      module, machine, plan,
      {.instruction_texts = true, .older_texts = files.form == DumpForm::Older, .costs = false});
  std::vector<std::pair<std::string, std::string>> texts;
  texts.emplace_back(".txt", print(scheduled(module, plan)));
  if (files.form == DumpForm::Older) {
    texts.emplace_back("-buffer-assignment.txt", older_dump_text(picture));
  } else {
    texts.emplace_back("-buffer-assignment.txt", buffer_assignment_text(picture));
    texts.emplace_back("-buffer-assignment-values.txt", values_text(picture));
    texts.emplace_back("-live-range.txt", live_range_text(module, plan.aliases, plan.liveness));
    texts.emplace_back("-memory-usage-report.txt", memory_usage_text(picture));
  }
  std::vector<std::string> out;
  const std::string stem = fs::path(files.folder) / stem_of(files, module, machine);
  for (const auto& [suffix, text] : texts) {
    HILO_DO(write_file(stem + suffix, text));
    out.push_back(stem + suffix);
  }
  return out;
}

}  // namespace hilo::tools
