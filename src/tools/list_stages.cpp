// `--list-stages`: what a dump folder has of one module.
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/module_file.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

struct Listed {
  DumpStage stage;
  size_t bytes = 0;
  int64_t instructions = -1;  // -1: it cannot be read
  bool changed = false;       // other bytes than the stage before
};

// Lines of a text that define something; of other forms what reading gives.
int64_t count_instructions(const std::string& bytes) {
  if (bytes.find("HloModule") > 4096) {
    const auto module = read_module(std::as_bytes(std::span(bytes)));
    return module ? std::ssize(module->instructions) : -1;
  }
  int64_t out = 0;
  for (size_t at = 0; (at = bytes.find(" = ", at)) != std::string::npos; ++out)
    at = std::min(bytes.find('\n', at), bytes.size());
  return out;
}

Result<std::vector<Listed>> read_stages(const std::vector<DumpStage>& stages) {
  std::vector<Listed> out;
  std::string before;
  const bool shows_progress = isatty(STDERR_FILENO) != 0;
  for (const DumpStage& stage : stages) {
    if (shows_progress)
      fmt::print(stderr, "\rreading stage {} of {}", out.size() + 1, stages.size());
    HILO_TRY(std::string bytes, read_whole_file(stage.path));
    out.push_back(
        {stage, bytes.size(), count_instructions(bytes), !out.empty() && bytes != before});
    before = std::move(bytes);
  }
  if (shows_progress) fmt::print(stderr, "\r\033[K");
  return out;
}

void show(const std::string& folder, const std::vector<Listed>& listed) {
  const std::string& module = listed.front().stage.module;
  fmt::print("{:>6}  {:>10}  {:>12}  {:<7}  stage of {}\n", "number", "bytes", "instructions",
             "changed", module.empty() ? folder : module);
  for (const Listed& one : listed)
    fmt::print("{:>6}  {:>10}  {:>12}  {:<7}  {}\n",
               one.stage.number < 0 ? "" : std::to_string(one.stage.number), one.bytes,
               one.instructions < 0 ? "?" : std::to_string(one.instructions),
               one.changed ? "yes" : "", one.stage.name);
}

nlohmann::ordered_json known(int64_t number) {
  return number < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(number);
}

void show_json(const std::string& folder, const std::vector<Listed>& listed, Session& session) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (const Listed& one : listed) {
    const DumpStage& stage = one.stage;
    stages.push_back({{"file", stage.path}, {"stage", stage.name}, {"bytes", one.bytes}});
    auto& last = stages.back();
    last["number"] = known(stage.number);
    last["instructions"] = known(one.instructions);
    last["changed"] = one.changed;
  }
  const nlohmann::ordered_json out = {{"schema", "hilo.stages.1"},
                                      {"folder", folder},
                                      {"module", listed.front().stage.module},
                                      {"stages", stages}};
  set_document(session, out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

Result<void> list(const std::string& path, const StageChoice& choice, Session& session) {
  HILO_DO(check_choice(path, choice));
  HILO_TRY(const std::vector<DumpStage> stages, stages_in_folder(path, choice));
  HILO_TRY(const std::vector<Listed> listed, read_stages(stages));
  session.json ? show_json(path, listed, session) : show(path, listed);
  return {};
}

}  // namespace

bool lists_stages(const std::string& path, const StageChoice& choice, Session& session) {
  if (!choice.list) return false;
  if (const auto done = list(path, choice, session); !done) fail_with(session, done.error());
  return true;
}

}  // namespace hilo::tools
