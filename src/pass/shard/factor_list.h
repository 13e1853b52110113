// Sharding factors written down one by one, for local forms that tie dimensions otherwise than
// propagation does. Private to `pass/shard`.
#pragma once

#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {

class FactorList {
 public:
  using Kind = ShardingFactor::Kind;
  struct Dimension {
    enum class Side : uint8_t { Operand, Result };
    Side side = Side::Operand;
    size_t leaf = 0;
    int64_t dim = 0;
  };

  FactorList(const Module& module, InstructionId id);
  // One factor of all of them, of the size of the first.
  size_t share(Kind kind, std::initializer_list<Dimension> dims);
  void put(size_t factor, const Dimension& dim);  // one more that shares it
  // Dimensions that nothing was said of are factors of their own that need replication.
  ShardingFactors finish();

 private:
  std::vector<size_t>& factors_of(const Dimension& dim);

  std::vector<Shape> operands_, results_;  // leaves
  ShardingFactors out_;
};

inline bool lists(std::span<const int64_t> dims, int64_t dim) {
  return std::ranges::find(dims, dim) != dims.end();
}
inline FactorList::Dimension operand_dim(size_t leaf, int64_t dim) {
  return {FactorList::Dimension::Side::Operand, leaf, dim};
}
inline FactorList::Dimension result_dim(size_t leaf, int64_t dim) {
  return {FactorList::Dimension::Side::Result, leaf, dim};
}

}  // namespace hilo
