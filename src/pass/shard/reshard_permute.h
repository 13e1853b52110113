// Permutes: tiles keep their sizes, other axes number them. Private to `pass/shard`.
#pragma once

#include "pass/shard/reshard_space.h"

namespace hilo {

// `lists` with the target's axes in front wherever they have the sizes of what is there, in the
// dimensions from `first` to `last`; other axes stay where they can. Nothing is to be summed.
AtomLists permuted(const ReshardSpace& space, const AtomLists& lists, size_t first, size_t last);

}  // namespace hilo
