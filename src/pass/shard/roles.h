// Roles of mesh axes in one instruction: for each factor, the axes that shard it, so that every
// operand and result has the sharding of its factors and the instruction works on tiles. Chosen by
// what it costs to bring the operands there and the results to where they are wanted. Private to
// `pass/shard`.
#pragma once

#include "analysis/analysis.h"
#include "pass/shard/reshard_costs.h"

namespace hilo {

struct Roles {
  std::vector<SubAxes> axes;  // of each factor, most major first
  double sent = 0;            // of the seconds, those for what is sent
  double seconds = 0;         // that they cost
  bool operator==(const Roles&) const = default;
};

// An array of the instruction, and the sharding that it has (an operand) or is to have (a result);
// null where none counts.
struct RoleArray {
  const Shape* shape;
  const DimensionFactors* factors;
  const AxisSharding* sharding;
  const AxisSharding* other = nullptr;     // that an operand has as well
  bool is_free = false;                    // any tile of an operand is there without a resharding
  bool is_left_out = false;                // the local form works without the operand
  std::vector<AxisSharding> at_hand = {};  // to which others bring an operand in any case
};

struct RoleQuestion {
  const ShardingFactors& factors;
  std::vector<RoleArray> operands, results;
  SharedMesh mesh;
  SubAxes manual;                   // of all arrays
  std::string reduction;            // how summands become results, of Sharding::unreduced_op
  double operations = 0;            // of the whole instruction, on one device
  std::vector<bool> may_shard;      // factors that the instruction's local form can have tiles of
  std::vector<bool> even_alone;     // and only tiles without padding
  std::vector<bool> may_be_uneven;  // beside other factors of their dimension
  // Bytes that a device sends beside resharding, where the local form needs neighbours.
  std::function<double(const Roles&)> sent_bytes = {};
};

// Of an array under the roles: axes of the factors of each dimension one behind the other. Of a
// result, axes of reduced factors are unreduced.
AxisSharding operand_sharding(const RoleQuestion& question, const RoleArray& array,
                              const Roles& roles);
AxisSharding result_sharding(const RoleQuestion& question, const RoleArray& array,
                             const Roles& roles);
// The roles of least cost. No axes at all are always possible.
Roles choose_roles(const RoleQuestion& question, ReshardCosts& costs);

}  // namespace hilo
