// The values of a module that have one sharding each. Private to `pass/shard`.
#pragma once

#include <deque>

#include "pass/shard/manual_axes.h"

namespace hilo {

// An array that is whole where the value inside of a manual region is local.
struct RegionEdge {
  std::vector<SubAxes> prefix;  // of each dimension: manual axes, in front of the value's own
  SubAxes manual;               // axes that are manual outside too
  SubAxes unreduced;            // manual axes along which devices hold summands outside
  std::string unreduced_op;
};

// A value is what stands in several leaves of instructions' results: a tuple's element and the
// element taken out of it; what a loop carries; an argument and its parameter.
struct ShardedValues {
  std::vector<uint32_t> first_leaf;        // by instruction, and one more
  std::vector<uint32_t> value_of;          // by leaf
  std::vector<const RegionEdge*> edge_of;  // by leaf; null where it is no edge
  std::deque<RegionEdge> edges;
  std::vector<const Shape*> shapes;     // by leaf; the module's, as long as that gets no new ones
  std::vector<AxisSharding> shardings;  // by value
  std::vector<InstructionId> said_by;   // by value: who said what is given of it, or none
  // By value: over another mesh, or with dynamic dimensions, so that nothing propagates.
  std::vector<bool> is_foreign;

  size_t leaf(InstructionId id, size_t i) const { return first_leaf[id.value] + i; }
  size_t leaf_count(InstructionId id) const {
    return first_leaf[id.value + 1] - first_leaf[id.value];
  }
  // Of a leaf, as it is outside of the region where it is an edge.
  AxisSharding sharding_of(size_t leaf) const { return shown(leaf, shardings[value_of[leaf]]); }
  AxisSharding shown(size_t leaf, AxisSharding sharding) const;  // if its value had this one
};

// Who said the axes of each dimension: by value and dimension.
using ShardingOrigins = std::vector<std::vector<std::vector<InstructionId>>>;

// Values with what is given of them. Structure where two given shardings of a value contradict.
Result<ShardedValues> number_values(const Module& module, const GivenShardings& given,
                                    const ManualAxes& manual);

}  // namespace hilo
