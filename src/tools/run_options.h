// The options of `hilo run`.
#pragma once

#include <optional>

#include "eval/eval.h"
#include "tools/compiler_options.h"
#include "tools/dump_folder.h"
#include "tools/inputs.h"
#include "tools/observe.h"
#include "tools/run_processes.h"

namespace hilo::tools {

struct RunOptions {
  bool saves_by_rank = false;  // each of several processes its own outputs
  std::string file, expected, save, only;
  StageChoice stage;
  InputOptions inputs;
  InputOptions operands = {.option = "--operand"};  // of `only`
  int runs = 0;                                     // 0: one, cold
  std::optional<double> rtol, atol;
  std::string device;  // as given, or empty
  std::string float_type = "native", matmul_precision = "f32";
  bool partitioned = false, unpartitioned = false, no_verify = false, in_plan = false,
       dump_ir = false;
  std::string target;  // of in_plan
  int threads = 0;
  double timeout = 0;  // seconds; 0: none
  int64_t devices = 0, max_steps = 0;
  std::string memory_limit;
  std::vector<std::string> custom_calls;  // TARGET=lib.so, TARGET=operand or TARGET=zeros
  ProcessOptions processes;
  ObserveOptions observe;
  CompilerOptions compiler;
};
void add_run_options(Arguments& arguments, RunOptions& options, Session& session);

Result<std::map<std::string, CustomCallFunction>> load_custom_calls(
    const std::vector<std::string>& specs);

}  // namespace hilo::tools
