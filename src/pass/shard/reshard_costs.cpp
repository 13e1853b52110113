#include "pass/shard/reshard_costs.h"

#include <algorithm>
#include <limits>

#include "pass/field_hash.h"
#include "pass/shard/new_summands.h"

namespace hilo {
namespace {

// Of all links of a device, one way.
double link_rate(const Machine& machine) {
  return static_cast<double>(machine.links.count) * machine.links.bytes_per_second;
}

}  // namespace

ReshardCosts::ReshardCosts(const Machine* machine) {
  if (!machine || link_rate(*machine) == 0 || machine->flops_bf16 == 0)
    machine = &assumed_machine();
  bytes_per_second_ = link_rate(*machine);
  flops_ = machine->flops_bf16;
}

size_t ReshardCosts::KeyHash::operator()(const Key& key) const {
  size_t seed = key.size();
  for (int64_t one : key) seed = mix(seed, static_cast<size_t>(one));
  return seed;
}

size_t ReshardCosts::RouteHash::operator()(const Route& route) const {
  return mix(mix(route.dims, route.from), route.to);
}

uint32_t ReshardCosts::number_of_key() {
  const auto known = numbers_.find(key_);
  if (known != numbers_.end()) return known->second;
  return numbers_.emplace(key_, static_cast<uint32_t>(numbers_.size())).first->second;
}

uint32_t ReshardCosts::number(std::span<const int64_t> dims) {
  key_.assign(dims.begin(), dims.end());
  return number_of_key();
}

// Neither what is open nor priorities count.
uint32_t ReshardCosts::number(const AxisSharding& sharding) {
  const auto mesh = std::ranges::find_if(meshes_, [&](const SharedMesh& one) {
    return one == sharding.mesh || *one == *sharding.mesh;
  });
  const auto reduction = std::ranges::find(reductions_, sharding.unreduced_op);
  key_ = {mesh - meshes_.begin(), reduction - reductions_.begin()};
  if (mesh == meshes_.end()) meshes_.push_back(sharding.mesh);
  if (reduction == reductions_.end()) reductions_.push_back(sharding.unreduced_op);
  const auto add = [&](const SubAxes& axes) {
    key_.push_back(std::ssize(axes));
    for (const SubAxis& axis : axes)
      key_.insert(key_.end(), {static_cast<int64_t>(axis.axis), axis.pre_size, axis.size});
  };
  for (const AxisSharding::Dim& dim : sharding.dims) add(dim.axes);
  add(sharding.unreduced);
  add(sharding.manual);
  return number_of_key();
}

const Result<ReshardPlan>& ReshardCosts::plan(std::span<const int64_t> dims,
                                              const AxisSharding& from, const AxisSharding& to) {
  const Route route = {number(dims), number(from), number(to)};
  const auto known = plans_.find(route);
  if (known != plans_.end()) return known->second;
  return plans_.emplace(route, plan_reshard(dims, from, to)).first->second;
}

double ReshardCosts::seconds(const Shape& shape, const AxisSharding& from, const AxisSharding& to) {
  const Result<ReshardPlan>& found =
      to.unreduced.empty() ? plan(shape.dims, from, to)
                           : plan(shape.dims, from, before_new_summands(shape.dims, from, to));
  if (!found) return std::numeric_limits<double>::infinity();
  return seconds_to_send(found->bytes_per_device(shape.type) +
                         static_cast<double>(found->collectives));
}

double ReshardCosts::seconds(ElementType type, int64_t elements, int64_t devices) const {
  if (elements == 0) return 0;
  ReshardPlan one;
  one.elements = elements;
  one.devices = devices;
  return seconds_to_send(one.bytes_per_device(type) + 1);
}

}  // namespace hilo
