#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "plan/packing.h"

namespace hilo {
namespace {

// Pairs of rectangles alive together that are listed one by one; beyond it only sweeps are tried.
constexpr size_t most_neighbours = 24'000'000;

// Moments at which the sum of what is alive is largest.
void find_bounds(PackingProblem& problem, std::span<const uint32_t> by_start) {
  using Ending = std::pair<int64_t, uint32_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ends;
  std::multiset<int64_t> unused;
  int64_t alive = 0;
  for (uint32_t i : by_start) {
    const Rectangle& rectangle = problem.rectangles[i];
    for (; !ends.empty() && ends.top().first < rectangle.start; ends.pop()) {
      const Rectangle& ended = problem.rectangles[ends.top().second];
      alive -= ended.bytes;
      unused.erase(unused.find(ended.bytes - ended.used));
    }
    ends.emplace(rectangle.end, i);
    alive += rectangle.bytes;
    unused.insert(rectangle.bytes - rectangle.used);
    if (alive > problem.lower_bound) {
      problem.lower_bound = alive;
      problem.peak_moment = rectangle.start;
    }
    problem.target = std::max(problem.target, alive - *unused.rbegin());
  }
}

struct Pair {
  uint32_t a, b;
};

// Rectangles of different blocks that share a moment; false when there are too many.
bool find_pairs(const PackingProblem& problem, std::span<const uint32_t> by_start,
                std::vector<Pair>& pairs) {
  std::vector<uint32_t> alive;
  for (uint32_t i : by_start) {
    const Rectangle& rectangle = problem.rectangles[i];
    size_t kept = 0;
    for (uint32_t other : alive) {
      if (problem.rectangles[other].end < rectangle.start) continue;
      alive[kept++] = other;
      if (problem.rectangles[other].block != rectangle.block) pairs.push_back({i, other});
    }
    alive.resize(kept);
    alive.push_back(i);
    if (2 * pairs.size() > most_neighbours) return false;
  }
  return true;
}

void list_neighbours(PackingProblem& problem, std::span<const uint32_t> by_start) {
  std::vector<Pair> pairs;
  if (!find_pairs(problem, by_start, pairs)) return;
  problem.has_neighbours = true;
  std::vector<uint32_t>& first = problem.first_neighbour;
  first.assign(problem.rectangles.size() + 1, 0);
  for (const Pair& pair : pairs) ++first[pair.a + 1], ++first[pair.b + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  problem.neighbours.resize(2 * pairs.size());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (const Pair& pair : pairs) {
    problem.neighbours[next[pair.a]++] = pair.b;
    problem.neighbours[next[pair.b]++] = pair.a;
  }
}

// Blocks fall apart where no rectangle is alive, but for blocks with rectangles on both sides.
void find_components(PackingProblem& problem, std::span<const uint32_t> by_start) {
  const size_t blocks = problem.extent.size();
  std::vector<uint32_t> parent(blocks);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](uint32_t block) {
    while (parent[block] != block) block = parent[block] = parent[parent[block]];
    return block;
  };
  int64_t end = INT64_MIN;
  uint32_t last = 0;
  for (uint32_t i : by_start) {
    const Rectangle& rectangle = problem.rectangles[i];
    if (rectangle.start <= end) parent[root(rectangle.block)] = root(last);
    end = std::max(end, rectangle.end);
    last = rectangle.block;
  }
  std::vector<uint32_t> number(blocks, UINT32_MAX);
  for (uint32_t block = 0; block < blocks; ++block) {
    if (problem.rectangles_of(block).empty()) continue;
    uint32_t& component = number[root(block)];
    if (component == UINT32_MAX) {
      component = static_cast<uint32_t>(problem.components.size());
      problem.components.emplace_back();
    }
    problem.components[component].push_back(block);
  }
}

}  // namespace

PackingProblem make_problem(std::span<const Block> blocks, int64_t alignment) {
  PackingProblem problem;
  problem.alignment = alignment;
  problem.extent.assign(blocks.size(), 0);
  for (uint32_t block = 0; block < blocks.size(); ++block) {
    problem.first.push_back(static_cast<uint32_t>(problem.rectangles.size()));
    for (const Rectangle& rectangle : rectangles_of(blocks[block], block, alignment)) {
      problem.rectangles.push_back(rectangle);
      int64_t& extent = problem.extent[block];
      extent = std::max(extent, rectangle.at + rectangle.used);
    }
  }
  problem.first.push_back(static_cast<uint32_t>(problem.rectangles.size()));
  std::vector<uint32_t> by_start(problem.rectangles.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::ranges::stable_sort(by_start, {}, [&](uint32_t i) { return problem.rectangles[i].start; });
  find_bounds(problem, by_start);
  find_components(problem, by_start);
  list_neighbours(problem, by_start);
  return problem;
}

int64_t highest_end(const PackingProblem& problem, std::span<const uint32_t> blocks,
                    std::span<const int64_t> offsets) {
  int64_t end = 0;
  for (uint32_t block : blocks) end = std::max(end, offsets[block] + problem.extent[block]);
  return end;
}

}  // namespace hilo
