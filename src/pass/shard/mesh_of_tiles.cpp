// A mesh for modules that name none.
#include <algorithm>
#include <set>

#include "pass/shard/given_shardings.h"

namespace hilo {
namespace {

// Where the digits of a sharding begin and end, as numbers of what is before them.
void add_bounds(const Sharding& sharding, const SharedMesh& flat, std::set<int64_t>& bounds) {
  for (const Sharding& element : sharding.elements) add_bounds(element, flat, bounds);
  if (sharding.kind != Sharding::Kind::Tiled) return;
  const size_t subgroups =
      sharding.last_tile_dims.size() + (sharding.last_tile_dim_replicate ? 1 : 0);
  if (sharding.tile_dims.size() < subgroups) return;
  const auto axes = axis_sharding(sharding, sharding.tile_dims.size() - subgroups, flat);
  if (!axes || axes->mesh != flat) return;
  const auto add = [&](const SubAxes& list) {
    for (const SubAxis& axis : list) bounds.insert({axis.pre_size, axis.pre_size * axis.size});
  };
  for (const AxisSharding::Dim& dim : axes->dims) add(dim.axes);
  add(axes->manual), add(axes->unreduced);
}

}  // namespace

SharedMesh mesh_of_tiles(const Module& module, int64_t devices) {
  const SharedMesh flat = flat_mesh(devices);
  std::set<int64_t> bounds;
  std::set<const Sharding*> seen;
  for (const Instruction& instruction : module.instructions)
    if (const Sharding* const sharding = module.extra(instruction).sharding.get();
        sharding && !instruction.removed && seen.insert(sharding).second)
      add_bounds(*sharding, flat, bounds);
  // A cut that another one crosses stays a sub-axis.
  Mesh mesh;
  int64_t before = 1;
  for (int64_t bound : bounds) {
    const bool fits = std::ranges::all_of(
        bounds, [&](int64_t other) { return bound % other == 0 || other % bound == 0; });
    if (!fits || bound <= before || bound >= devices) continue;
    mesh.axes.push_back({fmt::format("axis_{}", mesh.axes.size()), bound / before});
    before = bound;
  }
  mesh.axes.push_back({fmt::format("axis_{}", mesh.axes.size()), devices / before});
  return std::make_shared<const Mesh>(std::move(mesh));
}

}  // namespace hilo
