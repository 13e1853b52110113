#include "tools/stages.h"

#include "report/report.h"
#include "verify/verify.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

Result<Module> after_changes(const Module& module, const RunPasses& run, size_t wanted) {
  Module out = module;
  size_t seen = 0;
  bool reached = wanted == 0;
  if (reached) return out;
  const auto done = run(out, [&](const PassRun& pass, const Module&) -> Result<void> {
    if (!pass.changed || ++seen < wanted) return {};
    reached = true;
    return fail(ErrorKind::Interrupted, "the stage is reached");
  });
  if (!done && !reached) return std::unexpected(done.error());
  check(reached, "passes change a module as often as the last time");
  return out;
}

Result<Module> read_stage(const std::string& path) {
  HILO_TRY(Module out, read_module_file(path, {.file = path}));
  if (const auto errors = verify(out); !errors.empty()) return std::unexpected(errors.front());
  return out;
}

}  // namespace

Result<Stages> stages_of_passes(std::shared_ptr<const Module> module, RunPasses run) {
  Stages out;
  out.names.push_back("as read");
  Module last = *module;
  HILO_DO(run(last, [&](const PassRun& pass, const Module&) -> Result<void> {
    if (pass.changed) out.names.emplace_back(pass.name);
    return {};
  }));
  out.make = [module, run = std::move(run)](size_t i) { return after_changes(*module, run, i); };
  return out;
}

Result<Stages> stages_of_files(const std::vector<std::string>& paths, const StageChoice& choice) {
  Stages out;
  out.are_files = true;
  out.names = paths;
  if (paths.size() == 1 && is_folder(paths.front())) {
    HILO_TRY(const std::vector<DumpStage> stages, stages_in_folder(paths.front(), choice));
    out.names.clear();
    for (const DumpStage& stage : stages) out.names.push_back(stage.path);
  }
  if (out.names.size() < 2)
    return fail(ErrorKind::Usage, "{}: {} of a module, and two are the least to compare",
                paths.front(), counted(out.names.size(), "stage"));
  out.make = [names = out.names](size_t i) { return read_stage(names[i]); };
  return out;
}

}  // namespace hilo::tools
