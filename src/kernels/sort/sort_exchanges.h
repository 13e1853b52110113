// Networks that sort: exchanges of two places of a line, each of which puts the lesser element
// first. Private to `kernels`.
#pragma once

#include <cstdint>
#include <vector>

namespace hilo {

struct Exchange {
  int64_t first, second;  // places, the lesser one first
};

// The fewest known here after which the first `kept` of `size` places are in order: Batcher's merge
// exchange (Knuth, The Art of Computer Programming 3, 5.2.2 M), about size * log2(size)^2 / 4 of
// them, without what these places do not depend on, or the least of what is left brought to each.
std::vector<Exchange> find_exchanges(int64_t size, int64_t kept);

}  // namespace hilo
