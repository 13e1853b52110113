// Which instructions of two modules are the same step of one program: another size, another stage,
// another version. Shown through analysis/analysis.h.
#pragma once

#include "ir/ir.h"

namespace hilo {

struct Matching {
  // By instruction and computation of the one module: its counterpart in the other, or none.
  std::vector<InstructionId> in_b, in_a;
  std::vector<ComputationId> computations_in_b, computations_in_a;
  // By instruction of a: whether its counterpart takes other operands. One is the same when it is
  // the counterpart, or is computed alike from parameters and constants of whatever sizes; copies,
  // tuples and borders of fusions do not count.
  std::vector<bool> takes_others;
};
// A value is known by what it is computed from and by the ops around it, then by its op_name and
// its name. Counterparts have the same op; they may stand in other computations, fused or not. Both
// modules must verify. Time grows a little faster than the number of instructions.
Matching match_modules(const Module& a, const Module& b);

}  // namespace hilo
