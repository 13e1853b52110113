// Partition points of loops: where the elements side by side in values begin to come from
// elsewhere. Private to `emit`.
#pragma once

#include <span>

#include "ir/ir.h"

namespace hilo {

// Loops over a dimension of `size`: over groups of so many elements side by side, and what is left
// of a last group. Element number r of all groups is where interior padding has one kind of things,
// an element or nothing.
struct PartitionPoints {
  int64_t group = 1;
  // Numbers of groups, ascending from 0 to size / group: between two of them each concatenation
  // reads one operand, each pad only its operand or none of it, and each reshape one of a few runs,
  // but where these change within a few places.
  std::vector<int64_t> ends;
};

// Along dimension `dim` of arrays of equal dimensions.
PartitionPoints find_partition_points(const Module& module, std::span<const InstructionId> values,
                                      size_t dim);

}  // namespace hilo
