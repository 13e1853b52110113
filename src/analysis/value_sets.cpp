#include "analysis/value_sets.h"

#include <algorithm>

namespace hilo {

std::span<const uint32_t> ValueSets::values(Set set) const {
  if (set == empty) return {};
  if (set & many) return several_[set & ~many];
  return {values_.data() + (set - 1), 1};
}

ValueSets::Set ValueSets::unite(std::span<const Set> sets) {
  Set only = empty;
  bool same = true;
  for (Set set : sets) {
    if (set == empty) continue;
    same = same && (only == empty || only == set);
    only = set;
  }
  if (same) return only;
  std::vector<uint32_t> all;
  for (Set set : sets) {
    const auto more = values(set);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto [at, is_new] = known_.try_emplace(all, many | static_cast<Set>(several_.size()));
  if (is_new) several_.push_back(std::move(all));
  return at->second;
}

}  // namespace hilo
