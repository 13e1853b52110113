// Values that are cut over devices, where one device runs the whole program. Private to `pjrt`.
#pragma once

#include "eval/eval.h"
#include "pjrt/buffer.h"

namespace hilo::pjrt {

// How a value lies on the devices of a program.
struct Cut {
  SharedShape whole, shard;  // both with the layout of the shards
  SharedShape held;          // a shard, row by row in the order of its memory
  SharedShape ordered;       // what its buffer has beside it; null: the shard lies row by row
  std::optional<DeviceTiles> tiles;  // none: each device has the whole
  bool is_even = true;               // else shards at the end have padding
};

// The cut that a sharding says; Unsupported where it is of no tiles.
Result<Cut> find_cut(const Shape& whole, const Sharding* sharding, int64_t devices);
// shards: of each device.
Literal join_shards(const Cut& cut, std::span<const Literal> shards, HostDevice& host);
// Of one device; the whole itself where it is not cut.
Literal take_shard(const Cut& cut, const Literal& whole, int64_t device, HostDevice& host);

// OpSharding as a message; empty for none.
std::string sharding_message(const Sharding* sharding);
// The same with its devices one by one: frameworks that list them compare messages by their bytes.
std::string listed_sharding_message(const Sharding* sharding);

}  // namespace hilo::pjrt
