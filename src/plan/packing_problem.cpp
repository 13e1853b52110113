#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "plan/packing.h"

namespace hilo {
namespace {

// Moments at which the sum of what is alive is largest; returns how many are alive on average when
// one starts.
size_t find_bounds(PackingProblem& problem, std::span<const uint32_t> by_start) {
  using Ending = std::pair<int64_t, uint32_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ends;
  std::multiset<int64_t> unused;
  int64_t alive = 0;
  size_t count = 0;
  for (uint32_t i : by_start) {
    const Rectangle& rectangle = problem.rectangles[i];
    for (; !ends.empty() && ends.top().first < rectangle.start; ends.pop()) {
      const Rectangle& ended = problem.rectangles[ends.top().second];
      alive -= ended.bytes;
      unused.erase(unused.find(ended.bytes - ended.used));
    }
    ends.emplace(rectangle.end, i);
    count += ends.size();
    alive += rectangle.bytes;
    unused.insert(rectangle.bytes - rectangle.used);
    if (alive > problem.bound.bytes) {
      problem.bound.bytes = alive;
      problem.peak_moment = rectangle.start;
    }
    problem.bound.target = std::max(problem.bound.target, alive - *unused.rbegin());
  }
  return count / std::max<size_t>(1, by_start.size());
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

// As many rectangles start in a span as are alive at once, so that most meet few spans.
void cut_time(PackingProblem& problem, std::span<const uint32_t> by_start, size_t alive) {
  constexpr size_t max_leaves = 4096, min_starts = 32;
  while (problem.leaves < max_leaves &&
         problem.leaves * std::max(alive, min_starts) < by_start.size())
    problem.leaves *= 2;
  std::vector<int64_t> starts;  // of the spans but the first
  for (size_t leaf = 1; leaf < problem.leaves; ++leaf)
    starts.push_back(problem.rectangles[by_start[leaf * by_start.size() / problem.leaves]].start);
  const auto span_at = [&](int64_t moment) {
    return static_cast<uint32_t>(std::ranges::upper_bound(starts, moment) - starts.begin());
  };
  for (const Rectangle& rectangle : problem.rectangles)
    problem.spans.emplace_back(span_at(rectangle.start), span_at(rectangle.end));
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
  const size_t alive = find_bounds(problem, by_start);
  find_components(problem, by_start);
  cut_time(problem, by_start, alive);
  return problem;
}

int64_t highest_end(const PackingProblem& problem, std::span<const uint32_t> blocks,
                    std::span<const int64_t> offsets) {
  int64_t end = 0;
  for (uint32_t block : blocks) end = std::max(end, offsets[block] + problem.extent[block]);
  return end;
}

}  // namespace hilo
