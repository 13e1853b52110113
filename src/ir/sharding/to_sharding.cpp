// Axes as texts and files say them: tiles over device lists, named meshes.
#include <algorithm>

#include "ir/sharding/axis_sharding.h"

namespace hilo {
namespace {

using Kind = Sharding::Kind;

// Digits in the order of the devices as an iota over their own order: the shortest, since
// neighbours are merged.
IotaDevices iota_of(Dims tiles, const SubAxes& order) {
  IotaDevices out{std::move(tiles), {}, {}};
  SubAxes sorted = order;
  std::ranges::sort(sorted);
  for (const SubAxis& digit : sorted) out.dims.push_back(digit.size);
  for (const SubAxis& digit : order)
    out.permutation.push_back(std::ranges::find(sorted, digit) - sorted.begin());
  if (out.dims.empty()) out.dims = {1};
  if (out.permutation.size() <= 1) out.permutation.clear();
  return out;
}

// Tile t is on the mesh's position iota[t], which is device order[iota[t]].
void set_devices(const Mesh& mesh, IotaDevices iota, Sharding& out) {
  if (mesh.device_ids.empty() && !mesh.device_iota) {
    out.iota = std::move(iota);
    return;
  }
  const Dims order = mesh.devices();
  for (int64_t position : iota.expand()) out.devices.push_back(order[position]);
  if (const auto digits = find_digits(out.devices)) {
    out.devices.clear();
    out.iota = iota_of(std::move(iota.reshape), *digits);
  }
}

}  // namespace

Sharding tile_sharding(const AxisSharding& sharding) {
  const Mesh& mesh = *sharding.mesh;
  Sharding out;
  if (is_single_device(mesh)) {
    out.kind = Kind::Maximal;
    out.device = mesh.device_ids[0];
    return out;
  }
  SubAxes order;
  const auto add = [&](const SubAxes& axes) {
    order.insert(order.end(), axes.begin(), axes.end());
    return axes_size(axes);
  };
  for (const AxisSharding::Dim& dim : sharding.dims) out.tile_dims.push_back(add(dim.axes));
  const auto add_subgroup = [&](const SubAxes& axes, Kind kind) {
    if (axes_size(axes) == 1) return;
    out.tile_dims.push_back(add(axes));
    out.last_tile_dims.push_back(kind);
  };
  add_subgroup(sharding.manual, Kind::Manual);
  add_subgroup(sharding.unreduced, Kind::Unreduced);
  add_subgroup(axes_outside(mesh, split_mesh(mesh, order), order), Kind::Replicated);
  if (!sharding.is_sharded() && out.last_tile_dims.size() <= 1) {
    if (!out.last_tile_dims.empty()) out.kind = out.last_tile_dims[0];
    out.last_tile_dims.clear();
    out.tile_dims.clear();
    return out;
  }
  out.kind = Kind::Tiled;
  if (out.last_tile_dims == std::vector{Kind::Replicated}) {
    out.last_tile_dims.clear();
    out.last_tile_dim_replicate = true;
  }
  set_devices(mesh, iota_of(out.tile_dims, digits_of(mesh, order)), out);
  return out;
}

Sharding named_sharding(const AxisSharding& sharding) {
  const Mesh& mesh = *sharding.mesh;
  Sharding out;
  if (is_single_device(mesh)) {
    out.kind = Kind::Maximal;
    out.whole_mesh = Kind::Maximal;
    out.device = mesh.device_ids[0];
    return out;
  }
  out.kind = Kind::Mesh;
  out.mesh = mesh;
  for (const AxisSharding::Dim& dim : sharding.dims)
    out.mesh_dims.push_back({axis_refs(mesh, dim.axes), dim.is_open});
  out.replicated_axes = axis_refs(mesh, sharding.replicated);
  out.unreduced_axes = axis_refs(mesh, sharding.unreduced);
  out.manual_axes = axis_refs(mesh, sharding.manual);
  out.unreduced_op = sharding.unreduced_op;
  return out;
}

}  // namespace hilo
