// Running compiled: `--device=cpu`. Private to `tools`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/compiler_options.h"

namespace hilo::tools {

struct OnCpu {
  CompilerOptions compiler;
  int threads = 0;
  bool dump_ir = false;  // LLVM IR to standard error
  bool tell_steps = false;
  const std::atomic<bool>* interrupt = nullptr;  // of compiling
  EvalOptions eval;                              // of library steps
  // Gets how long each command takes on this machine, by instruction.
  std::vector<Estimate>* estimates = nullptr;
};
// What compiling took and what is wrong with its cache goes to standard error, as it is asked for.
Result<Executable> compile_for_cpu(Module module, const OnCpu& options, Session& session);

// Seconds of each stage, kernels, and what no code was made for, by op.
nlohmann::ordered_json report_json(const Executable& executable);
std::string report_text(const Executable& executable);

}  // namespace hilo::tools
