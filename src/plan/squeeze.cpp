// Local search over the order in which blocks are fitted: what ended too high comes earlier.
#include <algorithm>
#include <random>

#include "plan/packing.h"

namespace hilo {
namespace {

class Squeezer {
 public:
  Squeezer(const PackingProblem& problem, std::vector<uint32_t> order, int64_t target,
           std::vector<int64_t>& offsets)
      : problem_(problem), order_(std::move(order)), target_(target), offsets_(offsets) {
    best_end_ = highest_end(problem_, order_, offsets_);
    keep(best_end_);
  }

  void run(int64_t& steps) {
    int fruitless = 0;
    for (int round = 0; steps > 0 && best_end_ > target_; ++round) {
      if (!fit(problem_, order_, round % 4 == 3 ? Fit::Tightest : Fit::Lowest, offsets_, steps))
        break;
      const int64_t end = highest_end(problem_, order_, offsets_);
      fruitless = end < best_end_ ? 0 : fruitless + 1;
      if (end <= best_end_) keep(end);
      // Not too long away from the best, nor always close to it.
      if (fruitless % 32 == 31) order_ = best_order_;
      move_forward();
    }
    for (size_t i = 0; i < best_order_.size(); ++i) offsets_[best_order_[i]] = best_offsets_[i];
  }

 private:
  void keep(int64_t end) {
    best_end_ = end;
    best_order_ = order_;
    best_offsets_.clear();
    for (uint32_t block : order_) best_offsets_.push_back(offsets_[block]);
  }

  void move_forward() {
    std::vector<std::pair<uint64_t, uint32_t>> keyed;
    keyed.reserve(order_.size());
    for (uint64_t i = 0; i < order_.size(); ++i) {
      const uint32_t block = order_[i];
      const bool too_high = offsets_[block] + problem_.extent[block] > target_;
      keyed.emplace_back(too_high ? 2 * (random_() % (i + 1)) : 2 * i + 1, block);
    }
    std::ranges::stable_sort(keyed, {}, &std::pair<uint64_t, uint32_t>::first);
    for (size_t i = 0; i < keyed.size(); ++i) order_[i] = keyed[i].second;
  }

  const PackingProblem& problem_;
  std::vector<uint32_t> order_;
  const int64_t target_;
  std::vector<int64_t>& offsets_;
  int64_t best_end_ = 0;
  std::vector<uint32_t> best_order_;
  std::vector<int64_t> best_offsets_;  // by place in best_order_
  std::mt19937_64 random_{20260801};   // the same numbers in every run
};

}  // namespace

void squeeze(const PackingProblem& problem, std::vector<uint32_t> order, int64_t target,
             std::vector<int64_t>& offsets, int64_t& steps) {
  Squeezer(problem, std::move(order), target, offsets).run(steps);
}

}  // namespace hilo
