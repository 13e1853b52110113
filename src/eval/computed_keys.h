// Keys that a comparator computes of an element's operands before it compares two elements.
// Private to `eval`.
#pragma once

#include "eval/block_program.h"
#include "eval/sort_merge.h"

namespace hilo {

class ComputedKeys {
 public:
  // `values` are scalars of the comparator that read none but its parameters of even number, those
  // of the left element. None: blocks cannot do one of their instructions.
  static std::optional<ComputedKeys> make(const Module& module, ComputationId comparator,
                                          std::span<const InstructionId> values);

  ElementType type(size_t k) const { return types_[k]; }
  // Computes the keys of a line of the operands' elements, which the calling thread has until its
  // next call of any fill().
  void fill(std::span<const std::byte* const> operands, const Line& line) const;
  const std::byte* at(size_t k) const;  // line.count elements side by side

 private:
  BlockProgram program_;
  std::vector<ElementType> types_;                     // of the keys
  std::vector<std::pair<int64_t, int64_t>> operands_;  // that they read: number, bytes
};

}  // namespace hilo
