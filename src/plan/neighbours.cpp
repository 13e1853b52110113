// Which rectangles share a moment.
#include <algorithm>
#include <numeric>

#include "plan/packing.h"

namespace hilo {

std::optional<Neighbours> list_neighbours(const PackingProblem& problem,
                                          std::span<const uint32_t> blocks, size_t most) {
  std::vector<uint32_t> by_start;
  for (uint32_t block : blocks)
    for (uint32_t i = problem.first[block]; i < problem.first[block + 1]; ++i)
      by_start.push_back(i);
  std::ranges::stable_sort(by_start, {}, [&](uint32_t i) { return problem.rectangles[i].start; });
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  std::vector<uint32_t> alive;
  for (uint32_t i : by_start) {
    const Rectangle& rectangle = problem.rectangles[i];
    size_t kept = 0;
    for (uint32_t other : alive) {
      if (problem.rectangles[other].end < rectangle.start) continue;
      alive[kept++] = other;
      if (problem.rectangles[other].block != rectangle.block) pairs.emplace_back(i, other);
    }
    alive.resize(kept);
    alive.push_back(i);
    if (2 * pairs.size() > most) return std::nullopt;
  }
  Neighbours out;
  out.first.assign(problem.rectangles.size() + 1, 0);
  for (const auto& [a, b] : pairs) ++out.first[a + 1], ++out.first[b + 1];
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.items.resize(2 * pairs.size());
  std::vector<uint32_t> next(out.first.begin(), out.first.end() - 1);
  for (const auto& [a, b] : pairs) {
    out.items[next[a]++] = b;
    out.items[next[b]++] = a;
  }
  return out;
}

}  // namespace hilo
