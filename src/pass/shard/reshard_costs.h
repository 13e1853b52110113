// What reshardings cost, each planned once. Private to `pass/shard`.
#pragma once

#include <unordered_map>

#include "machine/machine.h"
#include "pass/shard/reshard.h"

namespace hilo {

class ReshardCosts {
 public:
  // Null, or a machine without links: those of the assumed one.
  explicit ReshardCosts(const Machine* machine);

  const Result<ReshardPlan>& plan(std::span<const int64_t> dims, const AxisSharding& from,
                                  const AxisSharding& to);
  // Infinite where there is no plan. Collectives count as one byte each, so that of two ways that
  // send as much the one of fewer is taken.
  double seconds(const Shape& shape, const AxisSharding& from, const AxisSharding& to);
  // Of so many elements that all devices send together in one collective; 0 of none.
  double seconds(ElementType type, int64_t elements, int64_t devices) const;
  double seconds_to_send(double bytes) const { return bytes / bytes_per_second_; }
  double seconds_to_compute(double operations) const { return operations / flops_; }

 private:
  using Key = std::vector<int64_t>;
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Route {
    uint32_t dims, from, to;  // numbers of keys
    bool operator==(const Route&) const = default;
  };
  struct RouteHash {
    size_t operator()(const Route& route) const;
  };
  uint32_t number(std::span<const int64_t> dims);
  uint32_t number(const AxisSharding& sharding);
  uint32_t number_of_key();

  double bytes_per_second_ = 1, flops_ = 1;
  std::vector<SharedMesh> meshes_;
  std::vector<std::string> reductions_;
  Key key_;  // that is being looked up
  std::unordered_map<Key, uint32_t, KeyHash> numbers_;
  std::unordered_map<Route, Result<ReshardPlan>, RouteHash> plans_;
};

}  // namespace hilo
