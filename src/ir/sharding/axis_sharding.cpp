#include "ir/sharding/axis_sharding.h"

#include <algorithm>

namespace hilo {
namespace {

void sort_in_mesh_order(SubAxes& axes) {
  std::ranges::sort(axes);
  axes = merge_axes(axes);
}

}  // namespace

bool AxisSharding::operator==(const AxisSharding& other) const {
  return (mesh == other.mesh || *mesh == *other.mesh) && dims == other.dims &&
         replicated == other.replicated && unreduced == other.unreduced && manual == other.manual &&
         unreduced_op == other.unreduced_op;
}

bool AxisSharding::is_sharded() const {
  return std::ranges::any_of(dims, [](const Dim& dim) { return !dim.axes.empty(); });
}

SubAxes AxisSharding::axes() const {
  SubAxes out;
  for (const Dim& dim : dims) out.insert(out.end(), dim.axes.begin(), dim.axes.end());
  return out;
}

AxisSharding replicated_sharding(SharedMesh mesh, size_t rank, bool open) {
  AxisSharding out;
  out.mesh = std::move(mesh);
  out.dims.resize(rank);
  for (AxisSharding::Dim& dim : out.dims) dim.is_open = open;
  return out;
}

Result<AxisSharding> canonical_sharding(AxisSharding sharding) {
  SubAxes all = sharding.axes();
  for (const SubAxes* more : {&sharding.replicated, &sharding.unreduced, &sharding.manual})
    all.insert(all.end(), more->begin(), more->end());
  HILO_DO(check_axes(*sharding.mesh, all));
  for (AxisSharding::Dim& dim : sharding.dims) dim.axes = merge_axes(dim.axes);
  for (SubAxes* axes : {&sharding.replicated, &sharding.unreduced, &sharding.manual})
    sort_in_mesh_order(*axes);
  return sharding;
}

}  // namespace hilo
