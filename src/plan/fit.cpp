// Placing blocks one after the other into gaps between those placed before.
#include <algorithm>
#include <bit>

#include "plan/packing.h"

namespace hilo {
namespace {

struct Placed {
  int64_t low, high;   // addresses, `high` excluded
  int64_t start, end;  // moments
};

// By ascending address, in parts short enough to insert into.
class Shelf {
 public:
  void add(const Placed& placed) {
    auto part = std::ranges::upper_bound(lows_, placed.low) - lows_.begin();
    if (part > 0) --part;
    else if (parts_.empty()) parts_.emplace_back(), lows_.push_back(placed.low);
    std::vector<Placed>& in = parts_[part];
    in.insert(std::ranges::upper_bound(in, placed.low, {}, &Placed::low), placed);
    lows_[part] = in.front().low;
    if (in.size() < most) return;
    std::vector<Placed> upper(in.begin() + most / 2, in.end());
    in.resize(most / 2);
    lows_.insert(lows_.begin() + part + 1, upper.front().low);
    parts_.insert(parts_.begin() + part + 1, std::move(upper));
  }

  // Ascending, until the body says true.
  template <class Body>
  void visit(Body&& body) const {
    for (const std::vector<Placed>& part : parts_)
      for (const Placed& placed : part)
        if (body(placed)) return;
  }

 private:
  static constexpr size_t most = 128;
  std::vector<int64_t> lows_;  // of the parts
  std::vector<std::vector<Placed>> parts_;
};

// Shelves over spans of time: the whole, its halves, their halves and so on. What is placed stands
// on all shelves that it is alive in; what is alive with a rectangle is looked for on the smallest
// that spans it.
class Shelves {
 public:
  explicit Shelves(const PackingProblem& problem)
      : problem_(problem), shelves_(2 * problem.leaves) {}

  void add(uint32_t i, int64_t offset) {
    const Rectangle& rectangle = problem_.rectangles[i];
    const Placed placed = {offset + rectangle.at, offset + rectangle.at + rectangle.bytes,
                           rectangle.start, rectangle.end};
    const auto [first, last] = problem_.spans[i];
    for (uint32_t a = problem_.leaves + first, b = problem_.leaves + last; a > 0; a /= 2, b /= 2)
      for (uint32_t shelf = a; shelf <= b; ++shelf) shelves_[shelf].add(placed);
  }
  const Shelf& around(uint32_t i) const {
    const auto [first, last] = problem_.spans[i];
    return shelves_[(problem_.leaves + first) >> std::bit_width(first ^ last)];
  }

 private:
  const PackingProblem& problem_;
  std::vector<Shelf> shelves_;  // 1: the whole; 2 n, 2 n + 1: the halves of n
};

// Offsets between the two ends, both excluded, that a block cannot have.
struct Forbidden {
  int64_t after, before;
};

// The gap that a rule chooses, of parts by ascending `after`.
class Gap {
 public:
  explicit Gap(Fit rule) : rule_(rule) {}
  // True when the gap is found already.
  bool add(const Forbidden& part) {
    if (part.after >= lowest_) {
      if (rule_ == Fit::Lowest) return true;
      if (part.after - lowest_ < room_) best_ = lowest_, room_ = part.after - lowest_;
    }
    lowest_ = std::max(lowest_, part.before);
    return false;
  }
  int64_t offset() const { return best_ >= 0 ? best_ : lowest_; }

 private:
  const Fit rule_;
  int64_t lowest_ = 0, best_ = -1, room_ = INT64_MAX;
};

class Fitter {
 public:
  Fitter(const PackingProblem& problem, Fit rule)
      : problem_(problem), rule_(rule), shelves_(problem) {}

  int64_t place(uint32_t block, int64_t& steps) {
    Gap gap(rule_);
    const uint32_t first = problem_.first[block], past = problem_.first[block + 1];
    if (past == first + 1) {
      visit(first, steps, [&](const Forbidden& part) { return gap.add(part); });
    } else {
      forbidden_.clear();
      for (uint32_t i = first; i < past; ++i)
        visit(i, steps, [&](const Forbidden& part) { return forbidden_.push_back(part), false; });
      std::ranges::sort(forbidden_, {}, &Forbidden::after);
      for (const Forbidden& part : forbidden_)
        if (gap.add(part)) break;
    }
    for (uint32_t i = first; i < past; ++i) {
      shelves_.add(i, gap.offset());
      steps -= 8 + 2 * (problem_.spans[i].second - problem_.spans[i].first);
    }
    return gap.offset();
  }

 private:
  template <class Body>
  void visit(uint32_t i, int64_t& steps, Body&& body) const {
    const Rectangle& mine = problem_.rectangles[i];
    shelves_.around(i).visit([&](const Placed& other) {
      --steps;
      if (other.end < mine.start || mine.end < other.start) return false;
      const int64_t before = other.high - mine.at;
      return before > 0 && body(Forbidden{other.low - mine.at - mine.bytes, before});
    });
  }

  const PackingProblem& problem_;
  const Fit rule_;
  Shelves shelves_;
  std::vector<Forbidden> forbidden_;
};

}  // namespace

bool fit(const PackingProblem& problem, std::span<const uint32_t> order, Fit rule,
         std::vector<int64_t>& offsets, int64_t& steps) {
  Fitter fitter(problem, rule);
  for (uint32_t block : order) {
    if (steps <= 0) return false;
    offsets[block] = fitter.place(block, steps);
  }
  return true;
}

}  // namespace hilo
