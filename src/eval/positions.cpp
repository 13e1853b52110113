#include "eval/positions.h"

#include <algorithm>

namespace hilo {

std::vector<CopyRun> copy_runs(std::span<const int64_t> from, std::span<const int64_t> to) {
  std::vector<CopyRun> out;
  for (size_t i = 0; i < from.size(); ++i) {
    if (i == 0 || from[i] != from[i - 1] + 1 || to[i] != to[i - 1] + 1)
      out.push_back({from[i], to[i], 0});
    ++out.back().count;
  }
  return out;
}

Dims other_dims(int64_t rank, std::span<const int64_t> taken) {
  Dims out;
  for (int64_t d = 0; d < rank; ++d)
    if (std::ranges::find(taken, d) == taken.end()) out.push_back(d);
  return out;
}

}  // namespace hilo
