#include "pass/shard/reshard_costs.h"

#include <algorithm>
#include <limits>

namespace hilo {
namespace {

// Of all links of a device, one way.
double link_rate(const Machine& machine) {
  return static_cast<double>(machine.links.count) * machine.links.bytes_per_second;
}

}  // namespace

AxisSharding before_new_summands(const AxisSharding& from, const AxisSharding& to) {
  AxisSharding out = to;
  if (to.unreduced.empty()) return out;
  out.unreduced =
      *from.mesh == *to.mesh ? axes_within(*to.mesh, to.unreduced, from.unreduced) : SubAxes();
  if (out.unreduced.empty()) out.unreduced_op.clear();
  return out;
}

ReshardCosts::ReshardCosts(const Machine* machine) {
  if (!machine || link_rate(*machine) == 0 || machine->flops_bf16 == 0)
    machine = &assumed_machine();
  bytes_per_second_ = link_rate(*machine);
  flops_ = machine->flops_bf16;
}

void ReshardCosts::append(Key& key, const AxisSharding& sharding) {
  const auto known = std::ranges::find_if(meshes_, [&](const SharedMesh& mesh) {
    return mesh == sharding.mesh || *mesh == *sharding.mesh;
  });
  key.push_back(known - meshes_.begin());
  if (known == meshes_.end()) meshes_.push_back(sharding.mesh);
  const auto add = [&](const SubAxes& axes) {
    key.push_back(std::ssize(axes));
    for (const SubAxis& axis : axes)
      key.insert(key.end(), {static_cast<int64_t>(axis.axis), axis.pre_size, axis.size});
  };
  for (const AxisSharding::Dim& dim : sharding.dims) add(dim.axes);
  add(sharding.unreduced);
  key.push_back(std::ranges::find(reductions_, sharding.unreduced_op) - reductions_.begin());
  if (key.back() == std::ssize(reductions_)) reductions_.push_back(sharding.unreduced_op);
  add(sharding.manual);
}

const Result<ReshardPlan>& ReshardCosts::plan(std::span<const int64_t> dims,
                                              const AxisSharding& from, const AxisSharding& to) {
  Key key(dims.begin(), dims.end());
  append(key, from);
  append(key, to);
  const auto [at, is_new] = plans_.try_emplace(std::move(key), ReshardPlan{});
  if (is_new) at->second = plan_reshard(dims, from, to);
  return at->second;
}

double ReshardCosts::seconds(const Shape& shape, const AxisSharding& from, const AxisSharding& to) {
  const Result<ReshardPlan>& found = plan(shape.dims, from, before_new_summands(from, to));
  if (!found) return std::numeric_limits<double>::infinity();
  return seconds_to_send(found->bytes_per_device(shape.type) +
                         static_cast<double>(found->collectives));
}

}  // namespace hilo
