// Dump folders: the modules in them, the stages of each, and which of them a command takes. One
// rule for all commands. Private to `tools`.
#pragma once

#include "tools/diagnostics.h"

namespace hilo::tools {

// A file of a dump folder that holds a module.
struct DumpStage {
  std::string path;
  std::string module;   // "module_0001.jit_f"; empty where the name does not begin so
  std::string name;     // "before_optimizations", "0012.fusion.after_cse.before_dce"
  int64_t number = -1;  // of the pass; -1: none in the name
  int rank = 1;         // before, among or after the passes; higher: more optimised
};

struct StageChoice {
  std::string stage;   // before, after, a number, a pass or part of a file name; empty: after
  std::string module;  // part of its name; empty: the one whose last stage is the largest file
  bool list = false;   // show the stages instead
  std::string argument_shapes;  // of a StableHLO file with open dimensions: "4x8xf32,8x2xf32"
};
void add_stage_options(Arguments& arguments, StageChoice& choice);

// Of one module, from the first to the most optimised; an error where there is none. Of several,
// says on standard error which one it is.
Result<std::vector<DumpStage>> stages_in_folder(const std::string& folder,
                                                const StageChoice& choice);
// The stage to take; says on standard error which it is.
Result<DumpStage> choose_stage(const std::string& folder, const StageChoice& choice);
// One that a user names, of stages of one module.
Result<DumpStage> find_stage(const std::string& folder, const std::vector<DumpStage>& stages,
                             const std::string& wanted);
bool is_folder(const std::string& path);  // "-" is none
// A choice for what is no folder is wrong usage.
Result<void> check_choice(const std::string& path, const StageChoice& choice);
// Where they are asked for, prints the stages of a folder or reports why not, and returns true.
bool lists_stages(const std::string& path, const StageChoice& choice, Session& session);

}  // namespace hilo::tools
