#include <algorithm>

#include "plan/packing.h"

namespace hilo {
namespace {

// Beyond these no exact search is tried.
constexpr size_t max_searched = 3000, max_neighbours = 2'000'000;

// With fewer for each block only the first steps of a search would be made, again and again.
constexpr int64_t min_search_steps = 100;
// A step of the bound from pairs costs as much as many steps of fitting.
constexpr int64_t max_pair_steps = 50'000;

// What best-fit by size may always take in a component, and the other orders in all together.
constexpr int64_t min_fit_steps = 40'000'000;

bool is_hurried(std::span<const uint32_t> blocks, int64_t steps) {
  return steps < min_search_steps * static_cast<int64_t>(blocks.size());
}

// One component: fits in all orders, then searches while it ends above the target.
class ComponentPacker {
 public:
  ComponentPacker(const PackingProblem& problem, std::span<const uint32_t> blocks,
                  std::vector<int64_t>& offsets)
      : problem_(problem), blocks_(blocks), offsets_(offsets), bound_(problem.bound) {}

  int64_t end() const { return best_end_; }
  const PackingBound& bound() const { return bound_; }
  bool done() const { return best_end_ <= bound_.target; }

  // Best-fit by size, in both senses of best, is never left out, for all else must beat it.
  void fit_in_orders(int64_t& steps, bool hurried) {
    for (Direction direction : {Direction::Forwards, Direction::Backwards}) {
      sweep_fit(problem_, blocks_, direction, offsets_);
      keep_if_better({});
    }
    int64_t own_steps = min_fit_steps;
    for (FitOrder by : fit_orders) {
      if (done() || (hurried && (by > FitOrder::Longest || best_end_ <= bound_.bytes))) break;
      const std::vector<uint32_t> order = order_blocks(problem_, blocks_, by);
      for (Fit rule : {Fit::Lowest, Fit::Tightest}) {
        // It is seldom the better one, or less than the alignment is left to win.
        if (rule == Fit::Tightest && (hurried || best_end_ <= bound_.bytes)) continue;
        int64_t& left = by == FitOrder::Size ? own_steps : steps;
        if (!done() && fit(problem_, order, rule, offsets_, left)) keep_if_better(order);
      }
    }
    put_back();
  }

  void search(int64_t steps) {
    if (is_hurried(blocks_, steps)) return;
    if (best_order_.empty()) best_order_ = order_blocks(problem_, blocks_, FitOrder::Size);
    if (blocks_.size() <= max_searched)
      neighbours_ = list_neighbours(problem_, blocks_, max_neighbours);
    if (neighbours_) {
      const PackingBound pairs =
          bound_by_pairs(problem_, *neighbours_, blocks_, std::min(max_pair_steps, steps / 256));
      bound_.bytes = std::max(bound_.bytes, pairs.bytes);
      bound_.target = std::max(bound_.target, pairs.target);
    }
    // What is left to win is then less than the alignment.
    if (best_end_ <= bound_.bytes) steps /= 50;
    spend(steps / 16, [&](int64_t& part) { squeeze_to(bound_.target, part); });
    if (neighbours_) bisect(steps);
    spend(steps / 4, [&](int64_t& part) { squeeze_to(bound_.target, part); });
  }

 private:
  template <class Body>
  void spend(int64_t part, Body&& body) {
    if (!done()) body(part);
  }

  void keep_if_better(const std::vector<uint32_t>& order) {
    const int64_t end = highest_end(problem_, blocks_, offsets_);
    if (end >= best_end_) return;
    best_end_ = end;
    best_order_ = order;
    best_offsets_.clear();
    for (uint32_t block : blocks_) best_offsets_.push_back(offsets_[block]);
  }
  void put_back() {
    for (size_t i = 0; i < blocks_.size(); ++i) offsets_[blocks_[i]] = best_offsets_[i];
  }

  void squeeze_to(int64_t target, int64_t& steps) {
    squeeze(problem_, best_order_, target, offsets_, steps);
    keep_if_better(best_order_);
  }

  // Below the target there is nothing; first the target itself, then halfway to what is known.
  void bisect(int64_t steps) {
    int64_t low = bound_.target - 1, limit = bound_.target;
    for (int round = 0; round < 8 && low + 1 < best_end_ && !done(); ++round) {
      spend(steps / 8, [&](int64_t& part) {
        if (try_exactly(limit, part) != Found::Yes) low = limit;
      });
      limit = low + (best_end_ - low) / 2;
    }
  }

  Found try_exactly(int64_t limit, int64_t& steps) {
    Found found = Found::Unknown;
    for (FitOrder by : {FitOrder::Area, FitOrder::Size, FitOrder::Duration}) {
      const std::vector<uint32_t> order = order_blocks(problem_, blocks_, by);
      int64_t part = steps / 3;
      found = search_exactly(problem_, *neighbours_, blocks_, order, limit, offsets_, part);
      if (found == Found::Yes) keep_if_better(order);
      if (found != Found::Unknown) break;
    }
    return found;
  }

  const PackingProblem& problem_;
  const std::span<const uint32_t> blocks_;
  std::vector<int64_t>& offsets_;
  PackingBound bound_;
  int64_t best_end_ = INT64_MAX;
  std::vector<uint32_t> best_order_;
  std::vector<int64_t> best_offsets_;  // by place in blocks_
  std::optional<Neighbours> neighbours_;
};

}  // namespace

Packing pack(std::span<const Block> blocks, int64_t alignment, int64_t steps) {
  check(alignment > 0, "pack: alignments are positive");
  const PackingProblem problem = make_problem(blocks, alignment);
  Packing out;
  out.lower_bound = problem.bound.bytes;
  out.peak_moment = problem.peak_moment;
  out.offsets.assign(blocks.size(), 0);
  std::vector<ComponentPacker> hard;
  int64_t fitting = std::max(steps, min_fit_steps);
  for (const std::vector<uint32_t>& component : problem.components) {
    ComponentPacker packer(problem, component, out.offsets);
    packer.fit_in_orders(fitting, is_hurried(component, steps));
    if (!packer.done()) hard.push_back(std::move(packer));
    else out.bytes = std::max(out.bytes, packer.end());
  }
  for (ComponentPacker& packer : hard) {
    packer.search(steps / static_cast<int64_t>(hard.size()));
    out.bytes = std::max(out.bytes, packer.end());
    out.lower_bound = std::max(out.lower_bound, packer.bound().bytes);
  }
  return out;
}

}  // namespace hilo
