// Lists of axes that are compared from the major end. Private to `pass/shard`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// What both begin with, sub-axes included: {'x':(1)4} and {'x':(1)2, 'y'} have {'x':(1)2}.
SubAxes shared_prefix(std::span<const SubAxis> a, std::span<const SubAxis> b);
// merge_axes() where it changes something.
void merge_in_place(SubAxes& axes);
bool is_prefix(std::span<const SubAxis> a, std::span<const SubAxis> of);
// What `list` has behind `prefix`, which it begins with.
SubAxes behind_prefix(std::span<const SubAxis> list, std::span<const SubAxis> prefix);
// Whether an axis of the one list and one of the other share devices, and neither is within the
// other: (1)3 and (1)4 of 12.
bool overlap_in_part(std::span<const SubAxis> a, std::span<const SubAxis> b);
bool overlaps_any(const SubAxis& axis, std::span<const SubAxis> axes);

}  // namespace hilo
