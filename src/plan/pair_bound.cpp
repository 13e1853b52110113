// A bound from pairs. Blocks that live several times may be in each other's way two by two without
// ever being alive all together, like arcs around a circle: they still need room side by side.
#include <algorithm>
#include <bit>

#include "plan/packing.h"

namespace hilo {
namespace {

using Set = std::vector<uint64_t>;

class Cliques {
 public:
  Cliques(const PackingProblem& problem, const Neighbours& neighbours,
          std::span<const uint32_t> blocks) {
    for (uint32_t block : blocks) blocks_.push_back(smallest_member(problem, block));
    std::erase_if(blocks_, [](const Member& member) { return member.bytes == 0; });
    std::ranges::stable_sort(blocks_, std::greater<>(), &Member::bytes);
    std::vector<uint32_t> number(problem.extent.size(), UINT32_MAX);
    for (uint32_t i = 0; i < blocks_.size(); ++i) number[blocks_[i].block] = i;
    near_.assign(blocks_.size(), empty());
    for (uint32_t i = 0; i < blocks_.size(); ++i)
      for (uint32_t j = problem.first[blocks_[i].block]; j < problem.first[blocks_[i].block + 1];
           ++j)
        for (uint32_t other : neighbours[j])
          if (const uint32_t n = number[problem.rectangles[other].block]; n != UINT32_MAX)
            near_[i][n / 64] |= uint64_t{1} << n % 64;
  }

  PackingBound run(int64_t steps) {
    steps_ = steps;
    Set all = empty();
    for (size_t i = 0; i < blocks_.size(); ++i) all[i / 64] |= uint64_t{1} << i % 64;
    extend(all, 0, 0);
    return best_;
  }

 private:
  struct Member {
    uint32_t block = 0;
    int64_t bytes = 0, spare = 0;  // where it takes least
  };

  // Nothing for blocks whose pieces lie at several places.
  static Member smallest_member(const PackingProblem& problem, uint32_t block) {
    Member out{block, INT64_MAX, 0};
    for (const Rectangle& rectangle : problem.rectangles_of(block)) {
      if (rectangle.at != 0) return {block, 0, 0};
      out.bytes = std::min(out.bytes, rectangle.bytes);
      out.spare = std::max(out.spare, rectangle.bytes - rectangle.used);
    }
    return out;
  }

  Set empty() const { return Set((blocks_.size() + 63) / 64, 0); }

  template <class Body>
  static void for_each(const Set& set, Body&& body) {
    for (size_t word = 0; word < set.size(); ++word)
      for (uint64_t bits = set[word]; bits != 0; bits &= bits - 1)
        if (!body(static_cast<uint32_t>(64 * word) + static_cast<uint32_t>(std::countr_zero(bits))))
          return;
  }

  // With each of `left`, which all are near to each of those taken.
  void extend(Set left, int64_t sum, int64_t spare) {
    if (sum > best_.bytes) best_.bytes = sum;
    if (sum - spare > best_.target) best_.target = sum - spare;
    int64_t most = sum;
    for_each(left, [&](uint32_t i) { return most += blocks_[i].bytes, true; });
    const Set choices = left;
    for_each(choices, [&](uint32_t i) {
      if (most <= best_.bytes || steps_ <= 0) return false;
      steps_ -= 1 + static_cast<int64_t>(blocks_.size()) / 64;
      Set next = left;
      for (size_t word = 0; word < next.size(); ++word) next[word] &= near_[i][word];
      extend(std::move(next), sum + blocks_[i].bytes, std::max(spare, blocks_[i].spare));
      left[i / 64] &= ~(uint64_t{1} << i % 64);
      most -= blocks_[i].bytes;
      return true;
    });
  }

  std::vector<Member> blocks_;  // largest first
  std::vector<Set> near_;       // by member
  PackingBound best_;
  int64_t steps_ = 0;
};

}  // namespace

PackingBound bound_by_pairs(const PackingProblem& problem, const Neighbours& neighbours,
                            std::span<const uint32_t> blocks, int64_t steps) {
  const auto lives_once = [&](uint32_t b) { return problem.rectangles_of(b).size() == 1; };
  if (std::ranges::all_of(blocks, lives_once)) return {};
  return Cliques(problem, neighbours, blocks).run(steps);
}

}  // namespace hilo
