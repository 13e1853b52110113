// Which copy candidates interfere: buffers grow candidate by candidate, as long as their values
// follow each other in time. It is the coalescing of register allocators, inner loops first.
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "pass/copy_candidates.h"

namespace hilo {
namespace {

class Coalescer {
 public:
  Coalescer(const Aliases& aliases, const Lifetimes& lifetimes)
      : lifetimes_(lifetimes),
        parent_(aliases.values.size()),
        members_(aliases.values.size()),
        together_(aliases.values.size()) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (uint32_t i = 0; i < parent_.size(); ++i)
      members_[i] = {{lifetimes.start({i}), lifetimes.end({i}), i}};
  }

  // Unites without asking.
  void bind(ValueId a, ValueId b) {
    uint32_t first = find(a.value), second = find(b.value);
    if (first == second) return;
    if (members_[first].size() < members_[second].size()) std::swap(first, second);
    for (const auto& member : members_[second]) {
      const auto next = members_[first].upper_bound(member);
      if (next != members_[first].end()) mark_together(first, member, *next);
      if (next != members_[first].begin()) mark_together(first, *std::prev(next), member);
    }
    unite(first, second);
  }

  bool try_coalesce(ValueId a, ValueId b) {
    uint32_t first = find(a.value), second = find(b.value);
    if (first == second) return true;
    if (members_[first].size() < members_[second].size()) std::swap(first, second);
    for (const auto& member : members_[second])
      if (!fits(first, member)) return false;
    unite(first, second);
    return true;
  }

 private:
  // Values of one buffer by their beginnings; bound ones may begin together.
  using Members = std::set<std::tuple<int64_t, int64_t, uint32_t>>;
  static ValueId value_of(const Members::value_type& member) { return {std::get<2>(member)}; }

  // Of values that do not meet, the neighbours are enough to look at.
  bool fits(uint32_t set, const Members::value_type& member) const {
    const Members& members = members_[set];
    const ValueId value = value_of(member);
    for (ValueId other : together_[set])
      if (!lifetimes_.is_before(value, other) && !lifetimes_.is_before(other, value)) return false;
    const auto next = members.upper_bound(member);
    if (next != members.end() && !lifetimes_.is_before(value, value_of(*next))) return false;
    return next == members.begin() || lifetimes_.is_before(value_of(*std::prev(next)), value);
  }

  void mark_together(uint32_t set, const Members::value_type& a, const Members::value_type& b) {
    if (lifetimes_.is_before(value_of(a), value_of(b))) return;
    together_[set].push_back(value_of(a));
    together_[set].push_back(value_of(b));
  }

  uint32_t find(uint32_t value) {
    while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
    return value;
  }

  void unite(uint32_t first, uint32_t second) {
    if (members_[first].size() < members_[second].size()) std::swap(first, second);
    parent_[second] = first;
    members_[first].merge(members_[second]);
    members_[second].clear();
    together_[first].insert(together_[first].end(), together_[second].begin(),
                            together_[second].end());
    together_[second].clear();
  }

  const Lifetimes& lifetimes_;
  std::vector<uint32_t> parent_;  // by value
  // By value that stands for its buffer: its values, and those of them that are bound and alive at
  // once all the same.
  std::vector<Members> members_;
  std::vector<std::vector<ValueId>> together_;
};

}  // namespace

std::vector<CopyCandidate> find_interfering(const Aliases& aliases, const Lifetimes& lifetimes,
                                            const CopyCandidates& candidates) {
  Coalescer coalescer(aliases, lifetimes);
  for (const auto& [a, b] : candidates.bound) coalescer.bind(a, b);
  std::vector<CopyCandidate> order = candidates.pairs;
  std::ranges::stable_sort(order, std::greater<>(), [](const CopyCandidate& candidate) {
    return std::pair(candidate.depth, candidate.bytes);
  });
  std::vector<CopyCandidate> out;
  for (const CopyCandidate& candidate : order)
    if (!coalescer.try_coalesce(candidate.from, candidate.to)) out.push_back(candidate);
  return out;
}

}  // namespace hilo
