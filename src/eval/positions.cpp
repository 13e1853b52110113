#include "eval/positions.h"

#include <algorithm>

namespace hilo {

Dims positions(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  Dims out = {0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    Dims wider;
    wider.reserve(out.size() * sizes[d]);
    for (int64_t base : out)
      for (int64_t i = 0; i < sizes[d]; ++i) wider.push_back(base + i * strides[d]);
    out = std::move(wider);
  }
  return out;
}

Dims pick(std::span<const int64_t> values, std::span<const int64_t> at) {
  Dims out;
  for (int64_t i : at) out.push_back(values[i]);
  return out;
}

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
