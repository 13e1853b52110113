// What reshardings cost, each planned once. Private to `pass/shard`.
#pragma once

#include <map>

#include "machine/machine.h"
#include "pass/shard/reshard.h"

namespace hilo {

// The target without unreduced axes that the source has not: what plan_reshard can reach. The rest
// costs nothing, since the first device along those axes keeps the value and the others take none.
AxisSharding before_new_summands(const AxisSharding& from, const AxisSharding& to);

class ReshardCosts {
 public:
  // Null, or a machine without links: those of the assumed one.
  explicit ReshardCosts(const Machine* machine);

  const Result<ReshardPlan>& plan(std::span<const int64_t> dims, const AxisSharding& from,
                                  const AxisSharding& to);
  // Infinite where there is no plan. Collectives count as one byte each, so that of two ways that
  // send as much the one of fewer is taken.
  double seconds(const Shape& shape, const AxisSharding& from, const AxisSharding& to);
  double seconds_to_send(double bytes) const { return bytes / bytes_per_second_; }
  double seconds_to_compute(double operations) const { return operations / flops_; }

 private:
  using Key = std::vector<int64_t>;
  void append(Key& key, const AxisSharding& sharding);

  double bytes_per_second_ = 1, flops_ = 1;
  std::vector<SharedMesh> meshes_;
  std::vector<std::string> reductions_;
  std::map<Key, Result<ReshardPlan>> plans_;
};

}  // namespace hilo
