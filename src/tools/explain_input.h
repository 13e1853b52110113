// What `hilo explain` is given: a module, dumps, or a folder of them.
#pragma once

#include "report/report.h"
#include "tools/module_file.h"

namespace hilo::tools {

struct ExplainInput {
  std::optional<LoadedModule> module;
  std::vector<std::pair<std::string, std::string>> dumps;  // file, text
};
// Files that belong together, or one folder of which a stage with its dumps is taken; `-` is
// standard input. What goes wrong is reported, and nothing returned.
std::optional<ExplainInput> load_explain_input(const std::vector<std::string>& paths,
                                               const StageChoice& stage, Session& session);

}  // namespace hilo::tools
