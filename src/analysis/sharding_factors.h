// Sharding factors: how the dimensions of an instruction's operands and results hang together, for
// propagation and partitioning. They are read off the index maps. Shown through
// analysis/analysis.h.
//
// A factor is a number of tiles-to-be that dimensions share: sharding it shards each of them alike.
// A dimension is one factor, or several, the major one first: [8,4] reshaped to [2,16] is
// ([ij, k])->([i, jk]) with i=2, j=4, k=4. Rules: Shardy's op sharding rules.
#pragma once

#include "ir/ir.h"

namespace hilo {

struct ShardingFactor {
  enum class Kind : uint8_t {
    Pass,             // nothing need be sent
    Reduction,        // parts of the result are summed up
    Permutation,      // neighbours exchange what lies at the borders of tiles
    NeedReplication,  // no device can work with a tile alone
  };
  int64_t size = 1;
  Kind kind = Kind::Pass;
  bool blocks_propagation = false;  // a sharding of it does not go on to the other dimensions
  bool operator==(const ShardingFactor&) const = default;
};

// Of one array: the factors of each dimension, as numbers, the major one first.
using DimensionFactors = std::vector<std::vector<size_t>>;
struct ShardingFactors {
  std::vector<ShardingFactor> factors;              // in the order of their first use
  std::vector<DimensionFactors> operands, results;  // by leaf in order; none of a token
};
// The module must verify. What takes or makes whole tuples has no rule: values pass through it, so
// that no factor is shared there.
ShardingFactors sharding_factors(const Module& module, InstructionId id);

// As Shardy writes rules: "([i, j], [j, k])->([i, k]) {i=8, j=16, k=4} reduction={j}".
std::string to_string(const ShardingFactors& factors);

}  // namespace hilo
