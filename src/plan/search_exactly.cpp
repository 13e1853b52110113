// Branch and bound for packing below a limit.
//
// In a packing where no block fits lower, each block rests on another or on 0. Taking the blocks of
// such a packing by ascending offset, each one's offset is the least that those taken before leave
// it. So the search takes blocks in such orders only: offsets never fall, and as long as a block
// would fit wholly below, no block is taken above it. A branch ends when a block would end above
// the limit, or when at some moment what is still to be placed has no room above the lowest offset
// that any of it can have.
#include <algorithm>
#include <tuple>

#include "plan/packing.h"

namespace hilo {
namespace {

// By taking a block, another can lie no lower than `above` from its offset.
struct Link {
  uint32_t block;
  int64_t above;
};

struct Span {
  uint32_t first, last;  // moments, both included
  int64_t bytes;
};

struct Node {
  size_t first_choice, next_choice;  // in choices_
  size_t trail;                      // length of trail_ before the block was taken
  uint32_t taken = UINT32_MAX;       // the block that the last choice took
  int64_t floor = 0;                 // offset of the block taken before this node
  uint32_t last = 0;                 // and its number + 1
};

class Search {
 public:
  Search(const PackingProblem& problem, const Neighbours& neighbours,
         std::span<const uint32_t> blocks, std::span<const uint32_t> preference, int64_t limit)
      : problem_(problem), neighbours_(neighbours), blocks_(blocks), limit_(limit) {
    rank_.resize(blocks_.size());
    for (uint32_t i = 0; i < preference.size(); ++i) rank_[number_of(preference[i])] = i;
    for (uint32_t block : blocks_) {
      int64_t height = 0;
      for (const Rectangle& rectangle : problem_.rectangles_of(block)) {
        height = std::max(height, rectangle.at + rectangle.bytes);
        complete_ &= rectangle.at == 0;
      }
      height_.push_back(height);
      extent_.push_back(problem_.extent[block]);
    }
    lowest_.assign(blocks_.size(), 0);
    taken_.assign(blocks_.size(), false);
    find_moments();
    link();
  }

  Found run(std::vector<int64_t>& offsets, int64_t& steps) {
    std::vector<Node> nodes = {Node{}};
    if (std::ranges::max(extent_) > limit_) return Found::No;
    if (!expand(nodes.back(), steps)) nodes.clear();
    while (!nodes.empty()) {
      Node& node = nodes.back();
      if (node.taken != UINT32_MAX) give_back(node);
      if (steps <= 0) return Found::Unknown;
      if (node.next_choice == choices_.size()) {
        choices_.resize(node.first_choice);
        nodes.pop_back();
        continue;
      }
      const uint32_t block = choices_[node.next_choice++];
      node.taken = block;
      node.trail = trail_.size();
      if (!take(block, steps)) continue;
      if (count_ == blocks_.size()) {
        for (size_t i = 0; i < blocks_.size(); ++i) offsets[blocks_[i]] = lowest_[i];
        return Found::Yes;
      }
      Node child;
      child.floor = lowest_[block];
      child.last = block + 1;
      if (expand(child, steps)) nodes.push_back(child);
    }
    return complete_ ? Found::No : Found::Unknown;
  }

 private:
  // Moments whose sets of blocks are in no other's: a start before the next end.
  void find_moments() {
    std::vector<std::pair<int64_t, int>> events;  // ends after starts
    for (uint32_t block : blocks_)
      for (const Rectangle& rectangle : problem_.rectangles_of(block)) {
        events.emplace_back(rectangle.start, 0);
        events.emplace_back(rectangle.end, 1);
      }
    std::ranges::sort(events);
    for (size_t i = 0; i + 1 < events.size(); ++i)
      if (events[i].second == 0 && events[i + 1].second == 1) moments_.push_back(events[i].first);
    room_.assign(moments_.size(), 0);
    waiting_.assign(moments_.size(), 0);
    least_.assign(moments_.size(), 0);
    std::vector<int64_t> spared(moments_.size(), 0);
    for (uint32_t block : blocks_) {
      first_span_.push_back(static_cast<uint32_t>(spans_.size()));
      for (const Rectangle& rectangle : problem_.rectangles_of(block)) {
        const Span span = span_of(rectangle);
        spans_.push_back(span);
        for (uint32_t i = span.first; i <= span.last; ++i) {
          waiting_[i] += rectangle.bytes;
          spared[i] = std::max(spared[i], rectangle.bytes - rectangle.used);
        }
      }
    }
    first_span_.push_back(static_cast<uint32_t>(spans_.size()));
    for (size_t i = 0; i < moments_.size(); ++i) room_[i] = limit_ + spared[i];
  }

  uint32_t number_of(uint32_t block) const {
    return static_cast<uint32_t>(std::ranges::lower_bound(blocks_, block) - blocks_.begin());
  }

  Span span_of(const Rectangle& rectangle) const {
    const auto first = std::ranges::lower_bound(moments_, rectangle.start);
    const auto past = std::ranges::upper_bound(moments_, rectangle.end);
    return {static_cast<uint32_t>(first - moments_.begin()),
            static_cast<uint32_t>(past - moments_.begin() - 1), rectangle.bytes};
  }

  void link() {
    for (uint32_t block : blocks_) {
      first_link_.push_back(static_cast<uint32_t>(links_.size()));
      for (uint32_t i = problem_.first[block]; i < problem_.first[block + 1]; ++i) {
        const Rectangle& mine = problem_.rectangles[i];
        for (uint32_t j : neighbours_[i]) {
          const Rectangle& other = problem_.rectangles[j];
          links_.push_back({number_of(other.block), mine.at + mine.bytes - other.at});
        }
      }
    }
    first_link_.push_back(static_cast<uint32_t>(links_.size()));
  }

  template <class Body>
  void for_each_span(uint32_t block, Body&& body) const {
    for (uint32_t i = first_span_[block]; i < first_span_[block + 1]; ++i) body(spans_[i]);
  }

  void add_waiting(uint32_t block, int64_t sign) {
    for_each_span(block, [&](const Span& span) {
      for (uint32_t i = span.first; i <= span.last; ++i) waiting_[i] += sign * span.bytes;
    });
  }

  // False when some other block would then end above the limit.
  bool take(uint32_t block, int64_t& steps) {
    taken_[block] = true;
    ++count_;
    add_waiting(block, -1);
    steps -= first_link_[block + 1] - first_link_[block];
    for (uint32_t i = first_link_[block]; i < first_link_[block + 1]; ++i) {
      const Link& link = links_[i];
      const int64_t lowest = lowest_[block] + link.above;
      if (taken_[link.block] || lowest <= lowest_[link.block]) continue;
      trail_.emplace_back(link.block, lowest_[link.block]);
      lowest_[link.block] = lowest;
      if (lowest + extent_[link.block] > limit_) return false;
    }
    return true;
  }

  void give_back(Node& node) {
    for (; trail_.size() > node.trail; trail_.pop_back())
      lowest_[trail_.back().first] = trail_.back().second;
    taken_[node.taken] = false;
    add_waiting(node.taken, 1);
    node.taken = UINT32_MAX;
    --count_;
  }

  // Lists the choices of a node; false when it has none.
  bool expand(Node& node, int64_t& steps) {
    node.first_choice = node.next_choice = choices_.size();
    if (!has_room(node.floor, steps)) return false;
    steps -= static_cast<int64_t>(2 * blocks_.size() + moments_.size());
    int64_t ceiling = INT64_MAX;
    for (uint32_t i = 0; i < blocks_.size(); ++i)
      if (!taken_[i]) ceiling = std::min(ceiling, lowest_[i] + height_[i]);
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      if (taken_[i] || lowest_[i] < node.floor || lowest_[i] >= ceiling) continue;
      // Of blocks at one offset, the order does not matter.
      if (lowest_[i] == node.floor && i + 1 < node.last) continue;
      choices_.push_back(i);
    }
    std::sort(choices_.begin() + static_cast<ptrdiff_t>(node.first_choice), choices_.end(),
              [&](uint32_t a, uint32_t b) {
                return std::tuple(lowest_[a], rank_[a]) < std::tuple(lowest_[b], rank_[b]);
              });
    return choices_.size() > node.first_choice;
  }

  bool has_room(int64_t floor, int64_t& steps) {
    std::ranges::fill(least_, INT64_MAX);
    for (uint32_t block = 0; block < blocks_.size(); ++block) {
      if (taken_[block]) continue;
      const int64_t lowest = std::max(floor, lowest_[block]);
      for_each_span(block, [&](const Span& span) {
        for (uint32_t i = span.first; i <= span.last; ++i) least_[i] = std::min(least_[i], lowest);
        steps -= span.last - span.first + 1;
      });
    }
    for (size_t i = 0; i < moments_.size(); ++i)
      if (waiting_[i] > 0 && least_[i] + waiting_[i] > room_[i]) return false;
    return true;
  }

  const PackingProblem& problem_;
  const Neighbours& neighbours_;
  const std::span<const uint32_t> blocks_;
  const int64_t limit_;
  bool complete_ = true;  // whether all packings are among those searched

  std::vector<uint32_t> rank_;            // by block: place in the order of preference
  std::vector<int64_t> height_, extent_;  // by block: rounded up, and not
  std::vector<int64_t> moments_, room_, waiting_, least_;  // by moment
  std::vector<uint32_t> first_span_, first_link_;
  std::vector<Span> spans_;
  std::vector<Link> links_;

  std::vector<int64_t> lowest_;  // by block: where it lies, or the lowest offset left to it
  std::vector<bool> taken_;
  size_t count_ = 0;
  std::vector<std::pair<uint32_t, int64_t>> trail_;  // overwritten entries of lowest_
  std::vector<uint32_t> choices_;                    // of all open nodes, one after the other
};

}  // namespace

Found search_exactly(const PackingProblem& problem, const Neighbours& neighbours,
                     std::span<const uint32_t> blocks, std::span<const uint32_t> preference,
                     int64_t limit, std::vector<int64_t>& offsets, int64_t& steps) {
  return Search(problem, neighbours, blocks, preference, limit).run(offsets, steps);
}

}  // namespace hilo
