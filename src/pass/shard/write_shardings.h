// Shardings of values as the module's own. Private to `pass/shard`.
#pragma once

#include "pass/shard/sharded_values.h"

namespace hilo {

// The explicit form: sharding= on every array and tuple; constraints that change nothing are gone,
// others are copies; uses of a constant that are sharded alike share it again.
void write_shardings(Editor& editor, const GivenShardings& given, ShardedValues& values);

}  // namespace hilo
