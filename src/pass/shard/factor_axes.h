// Shardings of dimensions as axes of factors, and back. Private to `pass/shard`.
#pragma once

#include "analysis/analysis.h"
#include "pass/shard/axis_lists.h"

namespace hilo {

// Of one factor in one array.
struct FactorAxes {
  SubAxes axes;            // most major first
  size_t dim = 0;          // whose factor it is
  bool is_here = false;    // the array has the factor
  bool is_closed = false;  // takes no more axes
  bool is_minor = false;   // the last one of its dimension: tiles may be uneven there
};
struct ArrayFactors {
  std::vector<FactorAxes> factors;  // by number
  SubAxes blocked;                  // axes that no factor may take

  void clear(size_t count);  // for so many factors, none of them here; memory is kept
};

// Puts into `out` those of an array whose sharding, in each dimension, has `prefix` in front, where
// one is given. Dimensions of priorities behind `priority` count as closed, and their axes as
// taken.
void axes_of_factors(const ShardingFactors& factors, const DimensionFactors& dims,
                     const AxisSharding& sharding, const std::vector<SubAxes>* prefix,
                     int64_t priority, ArrayFactors& out);
// Axes of a dimension: of its factors one behind the other, up to the first that takes more.
SubAxes axes_of_dimension(const ShardingFactors& factors, std::span<const size_t> of_dim,
                          const ArrayFactors& array);
// Whether all factors before `factor` in its dimension are sharded so far that it may be.
bool is_reached(const ShardingFactors& factors, std::span<const size_t> of_dim, size_t factor,
                const ArrayFactors& array);

}  // namespace hilo
