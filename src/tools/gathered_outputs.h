// Outputs of a run whose devices are in several processes: the first rank fetches each when it is
// looked at, so that no process holds all of them. Private to `tools`.
#pragma once

#include "tools/outputs.h"
#include "tools/run_processes.h"

namespace hilo::tools {

class GatheredOutputs {
 public:
  // outputs: of local_devices(). with_remote: the leaves are those of all devices, where this is
  // the first rank.
  static Result<GatheredOutputs> from(const Module& module, const Outputs& outputs,
                                      const EvalOptions& eval, RunProcesses& processes,
                                      bool with_remote);

  // Without values where they are elsewhere.
  const std::vector<OutputLeaf>& leaves() const { return leaves_; }
  // A leaf with its value.
  Result<OutputLeaf> whole(const OutputLeaf& leaf) const;
  // What other ranks ask for, until the first has ended; its exit status.
  Result<int> answer_others() const;

 private:
  GatheredOutputs(RunProcesses& processes, bool ideal_floats)
      : processes_(&processes), ideal_floats_(ideal_floats) {}
  void add_remote(std::span<const int64_t> devices, int rank, int64_t each);

  RunProcesses* processes_;
  std::vector<OutputLeaf> leaves_;  // those that are here first
  struct Remote {
    int rank;
    int64_t number;  // of the leaf, there
  };
  std::vector<Remote> remote_;  // of the leaves that follow
  bool ideal_floats_;
};

}  // namespace hilo::tools
