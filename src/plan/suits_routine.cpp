#include "plan/commands.h"

namespace hilo {

bool suits_routine(const Module& module, InstructionId instruction,
                   std::span<const ArraySlot> reads, std::span<const ArraySlot> writes) {
  const Op op = module[instruction].op;
  const auto may_replace = [&](size_t i, size_t o) {
    return op == Op::CustomCall || (op == Op::Sort && i == o) ||
           (op == Op::TriangularSolve && i == 1);
  };
  for (size_t i = 0; i < reads.size(); ++i)
    for (size_t o = 0; o < writes.size(); ++o)
      if (reads[i].overlaps(writes[o]) && !(may_replace(i, o) && reads[i] == writes[o]))
        return false;
  return true;
}

}  // namespace hilo
