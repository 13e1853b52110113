// The search for a chain of collectives. Private to `pass/shard`.
#pragma once

#include "pass/shard/reshard_space.h"

namespace hilo {

struct ChainCost {
  int64_t moved = 0;  // elements that devices lacked; they are sent with some padding
  int64_t collectives = 0, elements = 0, peak = 0;  // of ReshardStep
  auto operator<=>(const ChainCost&) const = default;
};

struct ChainStep {
  ReshardStep::Kind kind = ReshardStep::Kind::Slice;
  std::vector<Atom> group;  // along which devices meet
  ChainCost cost;
  AtomLists lists;  // behind the step
};

// From the space's source to its target by slices, permutes, all-to-alls and all-gathers: the least
// that moves, then the fewest collectives. With `only_at_bound`, nothing where no chain moves as
// little as the bound, or the search takes too long; else there always is one.
std::optional<std::vector<ChainStep>> find_chain(const ReshardSpace& space, bool only_at_bound,
                                                 const ReshardOptions& options);

}  // namespace hilo
