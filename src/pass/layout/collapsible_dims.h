// Which dimensions side by side can be collapsed: no instruction tells them apart. Private to
// `target`.
#pragma once

#include <unordered_map>

#include "ir/ir.h"

namespace hilo {

class CollapsibleDims {
 public:
  // Of the results and operands of these instructions, as long as each of them allows: an
  // elementwise instruction has the runs of its operands, a slice or a pad along d begins a run
  // at d + 1 where it does not keep all of d + 1, and so on; dimensions that a reshape divides or
  // joins are in no run with others, unless all that they are made of are one. Assumes plain
  // layouts and arrays of static dimensions that have elements.
  CollapsibleDims(const Module& module, std::span<const InstructionId> instructions);

  // Whether dimension d > 0 of the value is in one run with the dimension before it.
  bool joins(InstructionId value, size_t d) const { return !cuts_.at(value.value)[d]; }
  // Has a run begin at dimension d of the value, and wherever that asks for it.
  void cut(InstructionId value, size_t d);

  // The dimensions of the value, one for each run.
  Dims merged(InstructionId value) const;
  // What the attributes of `from`, one of the instructions, say of dimensions, said of the runs, in
  // the attributes of `to`, which is a copy or itself. Before shapes are changed.
  void merge_attributes(InstructionId from, Module& module, InstructionId to) const;

 private:
  void settle();
  void tie(InstructionId id);
  void tie_broadcast(InstructionId id);
  void tie_reduce(InstructionId id);
  void tie_transpose(InstructionId id);
  void tie_reshape(InstructionId id);
  bool is_one_run(InstructionId value, size_t first, size_t end) const;
  // A run begins at both of these or at neither.
  void pair(InstructionId a, size_t d, InstructionId c, size_t e);
  void begin(InstructionId value, size_t d);
  void begin_everywhere(InstructionId value);

  const Module& module_;
  std::vector<InstructionId> instructions_;
  std::unordered_map<uint32_t, std::vector<bool>> cuts_;  // by value and dimension
  bool is_settled_ = false;
};

}  // namespace hilo
