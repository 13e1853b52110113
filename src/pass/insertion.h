// Instructions put between others. Private to `pass`.
#pragma once

#include <unordered_set>

#include "ir/ir.h"

namespace hilo {

// New instructions stand before another one of their computation, or at its end. The lists of the
// computations are put in order by finish().
class Insertion {
 public:
  explicit Insertion(Module& module);

  // A name that no instruction and no computation has, made from `base`.
  std::string_view unique_name(std::string_view base);

  // A value like `value`, of which the parts at `indices` are copies: arrays are copied, of tuples
  // the table of pointers is made anew; a constant that is broadcast is broadcast once more.
  // `before` unset: at the end of the computation.
  InstructionId copy_parts(InstructionId value, std::span<const Dims> indices,
                           InstructionId before);
  // Arrays copied so far.
  std::span<const InstructionId> copies() const { return copies_; }
  // Removes tables of pointers, and elements of them, that nobody reads any more.
  void remove_unused(InstructionId id);
  // Puts all in its place. Ids of instructions change.
  void finish();

 private:
  InstructionId add(Op op, const Shape& shape, std::span<const InstructionId> operands,
                    InstructionId like, InstructionId before);
  void place(InstructionId id, InstructionId before);
  InstructionId clone_broadcast(InstructionId broadcast, InstructionId before);
  InstructionId element(InstructionId tuple, int64_t number, InstructionId before);

  Module& module_;
  std::unordered_set<std::string_view> names_;
  size_t last_number_ = 0;
  std::vector<InstructionId> copies_;
  std::vector<std::vector<InstructionId>> before_;  // by instruction: what stands before it now
  std::vector<std::vector<InstructionId>> at_end_;  // by computation
};

}  // namespace hilo
