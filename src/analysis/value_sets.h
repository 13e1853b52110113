// Private to analysis. Sets of values as numbers: equal sets have equal numbers. Values are counted
// from 0 as they are made.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace hilo {

class ValueSets {
 public:
  using Set = uint32_t;
  static constexpr Set empty = 0;

  static constexpr uint32_t max_values = (1u << 31) - 2;
  static Set single(uint32_t value) { return value + 1; }
  void add_value(uint32_t value) { values_.push_back(value); }
  std::span<const uint32_t> values(Set set) const;
  size_t size(Set set) const { return values(set).size(); }
  Set unite(std::span<const Set> sets);

 private:
  static constexpr Set many = 1u << 31;  // sets of several values have this bit

  std::vector<uint32_t> values_;  // 0, 1, 2, ...: single sets point into it
  std::vector<std::vector<uint32_t>> several_;
  std::map<std::vector<uint32_t>, Set> known_;
};

}  // namespace hilo
