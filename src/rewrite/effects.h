// What an instruction does besides making its value. Private to `rewrite`, shown through
// rewrite.h.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Whether an instruction must stay where nobody uses it: transfers, infeed and outfeed, random
// numbers with hidden state, custom calls that say so, collectives of a channel, asynchronous
// starts, and whatever calls one of these. Loops count as ending.
class Effects {
 public:
  explicit Effects(const Module& module);
  bool has(InstructionId id) const;
  bool has(ComputationId id) const {
    return id.value >= of_computation_.size() || of_computation_[id.value];
  }

 private:
  bool has(const Instruction& instruction) const;
  const Module& module_;
  std::vector<bool> of_computation_;
};

// Collectives and what else devices do together: never merged, moved or repeated.
bool is_communication(Op op);
// Computations that passes may simplify, callees before callers: those that the entry reaches, but
// for the bodies of fusions, of asynchronous and of custom calls, whose form has a meaning.
std::vector<ComputationId> open_computations(const Module& module);

}  // namespace hilo
