// How far a run is: a line that is written over, on a terminal only. Private to `tools`.
#pragma once

#include <functional>

#include "analysis/analysis.h"

namespace hilo::tools {

// For EvalOptions::progress; empty where standard error is no terminal.
std::function<void(int64_t done, int64_t total)> instruction_progress();

// Of compiled code, which tells of its large steps: the share of their work that is done.
class WorkProgress {
 public:
  explicit WorkProgress(const Module& module);
  ~WorkProgress();  // leaves an empty line
  void add(InstructionId step);

 private:
  std::vector<double> work_;  // by instruction, of one run of it
  double done_ = 0, total_ = 0;
  int percent_ = -1;  // shown
};

// Where standard error is a terminal.
std::optional<WorkProgress> work_progress(const Module& module);

}  // namespace hilo::tools
