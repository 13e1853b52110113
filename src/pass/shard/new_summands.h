// Arrays that become summands. Private to `pass/shard`.
#pragma once

#include "pass/shard/local_code.h"

namespace hilo {

// The target without unreduced axes that the source has not: what plan_reshard can reach. The rest
// sends nothing: a tile along such an axis is a summand of the array once it stands amid neutral
// elements; of what is whole along the others, the first device keeps the value.
AxisSharding before_new_summands(std::span<const int64_t> dims, const AxisSharding& from,
                                 const AxisSharding& to);
// That rest, of a tile of an array of these dims. Unsupported where what `to` combines by has no
// neutral element of the type.
Result<InstructionId> as_summands(LocalCode here, InstructionId tile, const Dims& dims,
                                  const AxisSharding& before, const AxisSharding& to);

}  // namespace hilo
