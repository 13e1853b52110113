// Fitting in one walk over time, with the free gaps kept by address and by size.
#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "plan/packing.h"

namespace hilo {
namespace {

// Free gaps below the highest address ever given; above it all is free.
class Gaps {
 public:
  int64_t take(int64_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found != by_size_.end()) {
      const auto [size, offset] = *found;
      erase(offset, size);
      if (size > bytes) insert(offset + bytes, size - bytes);
      return offset;
    }
    int64_t offset = top_;
    if (!by_offset_.empty()) {
      const auto [last, size] = *by_offset_.rbegin();
      if (last + size == top_) {
        offset = last;
        erase(last, size);
      }
    }
    top_ = offset + bytes;
    return offset;
  }

  void give_back(int64_t offset, int64_t bytes) {
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      erase(next->first, next->second);
    }
    const auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.begin()) {
      const auto [before, size] = *std::prev(after);
      if (before + size == offset) {
        erase(before, size);
        offset = before;
        bytes += size;
      }
    }
    insert(offset, bytes);
  }

 private:
  void insert(int64_t offset, int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void erase(int64_t offset, int64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t top_ = 0;
};

// All of a block from its first moment to its last, at its largest extent.
struct Hull {
  int64_t start = INT64_MAX, end = INT64_MIN, bytes = 0;
  uint32_t block = 0;
};

Hull hull_of(const PackingProblem& problem, uint32_t block, Direction direction) {
  Hull hull;
  hull.block = block;
  for (const Rectangle& rectangle : problem.rectangles_of(block)) {
    hull.start = std::min(hull.start, rectangle.start);
    hull.end = std::max(hull.end, rectangle.end);
    hull.bytes = std::max(hull.bytes, rectangle.at + rectangle.bytes);
  }
  if (direction == Direction::Backwards)
    std::tie(hull.start, hull.end) = std::pair(-hull.end, -hull.start);
  return hull;
}

}  // namespace

void sweep_fit(const PackingProblem& problem, std::span<const uint32_t> blocks, Direction direction,
               std::vector<int64_t>& offsets) {
  std::vector<Hull> hulls;
  hulls.reserve(blocks.size());
  for (uint32_t block : blocks) hulls.push_back(hull_of(problem, block, direction));
  std::ranges::sort(hulls, {}, [](const Hull& hull) {
    return std::tuple(hull.start, -hull.bytes, -hull.end, hull.block);
  });
  using Ending = std::tuple<int64_t, int64_t, int64_t>;  // moment, offset, bytes
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ends;
  Gaps gaps;
  for (const Hull& hull : hulls) {
    for (; !ends.empty() && std::get<0>(ends.top()) < hull.start; ends.pop())
      gaps.give_back(std::get<1>(ends.top()), std::get<2>(ends.top()));
    offsets[hull.block] = gaps.take(hull.bytes);
    ends.emplace(hull.end, offsets[hull.block], hull.bytes);
  }
}

}  // namespace hilo
