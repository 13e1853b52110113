// Propagation of shardings from the values that have one to those that have none. Private to
// `pass/shard`.
#pragma once

#include "pass/shard/propagation_graph.h"

namespace hilo {

// Open dimensions get axes, priority by priority, until nothing changes. Time grows with the
// number of instructions and not with that of devices.
Result<void> propagate_shardings(const Module& module, const GivenShardings& given,
                                 ShardedValues& values, ShardingOrigins* origins = nullptr);

}  // namespace hilo
