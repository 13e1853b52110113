// Shardings by number, and what steps of propagation did to them: programs repeat themselves, so
// that most steps have been taken before. Private to `pass/shard`.
#pragma once

#include <deque>
#include <unordered_map>

#include "pass/shard/propagation_step.h"

namespace hilo {

class ShardingTable {
 public:
  uint32_t intern(const AxisSharding& sharding);
  const AxisSharding& operator[](uint32_t id) const { return shardings_[id]; }
  bool is_sharded(uint32_t id) const { return is_sharded_[id]; }
  // Whether each dimension has at least the axes that it had.
  bool grows(uint32_t before, uint32_t after) const;

 private:
  std::deque<AxisSharding> shardings_;  // so that references stay
  std::vector<bool> is_sharded_;
  std::unordered_multimap<size_t, uint32_t> known_;
};

// What a step did: shardings by array, as numbers of the table.
struct KnownStep {
  std::vector<uint32_t> shardings;
  std::vector<StepMove> moves;
};

struct StepKeyHash {
  size_t operator()(const std::vector<uint64_t>& key) const {
    size_t seed = key.size();
    for (uint64_t one : key) seed = (seed ^ one) * 0x9e3779b97f4a7c15ull + (seed >> 29);
    return seed;
  }
};

class StepMemo {
 public:
  template <class Body>
  const KnownStep& step(const std::vector<uint64_t>& key, Body&& body) {
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_.emplace(key, body()).first->second;
  }

 private:
  std::unordered_map<std::vector<uint64_t>, KnownStep, StepKeyHash> known_;
};

}  // namespace hilo
