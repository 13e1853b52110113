// Plans of reshardings as instructions of the partitioned program. Private to `pass/shard`.
#pragma once

#include "pass/shard/reshard.h"
#include "rewrite/rewrite.h"

namespace hilo {

// `tile`: the local tile of an array with these global dimensions, as the plan's first step expects
// it. Gives the tile behind the last step, whose elements beyond the array's end are any. Channels
// are numbered from `channel` on, which counts up. Unsupported with more replicas than one.
Result<InstructionId> emit_reshard(Editor& editor, InstructionId tile,
                                   std::span<const int64_t> dims, const ReshardPlan& plan,
                                   int64_t& channel);

}  // namespace hilo
