// Orders in which blocks may be placed.
#include <algorithm>
#include <tuple>

#include "plan/packing.h"

namespace hilo {
namespace {

struct Measures {
  int64_t start = INT64_MAX, end = INT64_MIN, duration = 0, bytes = 0;
  double area = 0;
};

Measures measure(const PackingProblem& problem, uint32_t block) {
  Measures out;
  for (const Rectangle& rectangle : problem.rectangles_of(block)) {
    const int64_t duration = rectangle.end - rectangle.start + 1;
    out.start = std::min(out.start, rectangle.start);
    out.end = std::max(out.end, rectangle.end);
    out.duration += duration;
    out.bytes = std::max(out.bytes, rectangle.bytes);
    out.area += static_cast<double>(duration) * static_cast<double>(rectangle.bytes);
  }
  return out;
}

// The moment at which these blocks take most.
int64_t find_peak_moment(const PackingProblem& problem, std::span<const uint32_t> blocks) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (uint32_t block : blocks)
    for (const Rectangle& rectangle : problem.rectangles_of(block)) {
      changes.emplace_back(rectangle.start, rectangle.bytes);
      changes.emplace_back(rectangle.end + 1, -rectangle.bytes);
    }
  std::ranges::sort(changes);
  int64_t alive = 0, most = -1, moment = 0;
  for (const auto& [at, bytes] : changes) {
    alive += bytes;
    if (alive > most) most = alive, moment = at;
  }
  return moment;
}

using SortKey = std::tuple<double, int64_t, int64_t>;

// What keys of some orders are relative to.
struct Whole {
  int64_t peak = 0;  // the moment at which all take most
  int64_t duration = 0;
};

SortKey key_of(const Measures& is, FitOrder by, const Whole& whole) {
  switch (by) {
    case FitOrder::Size: return {-static_cast<double>(is.bytes), -is.duration, is.start};
    case FitOrder::Long:
      return {static_cast<double>(is.duration < whole.duration / 128), -is.bytes, is.start};
    case FitOrder::Longest:
      return {static_cast<double>(is.duration < whole.duration / 16), -is.bytes, is.start};
    case FitOrder::Duration: return {-static_cast<double>(is.duration), -is.bytes, is.start};
    case FitOrder::Area: return {-is.area, -is.bytes, is.start};
    case FitOrder::Start: return {static_cast<double>(is.start), -is.bytes, -is.end};
    case FitOrder::End: return {-static_cast<double>(is.end), -is.bytes, is.start};
    case FitOrder::Peak: break;
  }
  const int64_t distance = std::max({int64_t{0}, is.start - whole.peak, whole.peak - is.end});
  return {static_cast<double>(distance), -is.bytes, -is.duration};
}

}  // namespace

std::vector<uint32_t> order_blocks(const PackingProblem& problem, std::span<const uint32_t> blocks,
                                   FitOrder by) {
  std::vector<Measures> measures;
  measures.reserve(blocks.size());
  for (uint32_t block : blocks) measures.push_back(measure(problem, block));
  Whole whole;
  if (by == FitOrder::Peak) whole.peak = find_peak_moment(problem, blocks);
  if (by == FitOrder::Long || by == FitOrder::Longest)
    whole.duration = std::ranges::max(measures, {}, &Measures::end).end -
                     std::ranges::min(measures, {}, &Measures::start).start;
  std::vector<std::pair<SortKey, uint32_t>> keyed;
  keyed.reserve(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i)
    keyed.emplace_back(key_of(measures[i], by, whole), blocks[i]);
  std::ranges::sort(keyed);
  std::vector<uint32_t> order;
  order.reserve(blocks.size());
  for (const auto& [key, block] : keyed) order.push_back(block);
  return order;
}

}  // namespace hilo
