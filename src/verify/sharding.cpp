#include <algorithm>

#include "verify/report.h"

namespace hilo {
namespace {

// Sharded devices may be more than a partitioned module's own, so only their number is bounded.
constexpr int64_t max_devices = int64_t{1} << 24;

std::string devices_fault(const Sharding& sharding) {
  int64_t tiles = 1;
  for (int64_t size : sharding.tile_dims)
    if (size < 1 || __builtin_mul_overflow(tiles, size, &tiles))
      return fmt::format("expected positive tile sizes, found {}", listed(sharding.tile_dims));
  int64_t devices = static_cast<int64_t>(sharding.devices.size());
  if (sharding.iota) {
    if (std::string fault = iota_fault(*sharding.iota, max_devices); !fault.empty()) return fault;
    devices = element_count(sharding.iota->dims);
  }
  if (devices != tiles)
    return fmt::format("{} tiles {} on {} devices", tiles, listed(sharding.tile_dims), devices);
  return numbers_fault(sharding.devices, max_devices, "device");
}

std::string tiled_fault(const Sharding& sharding, const Shape& shape) {
  const size_t subgroups =
      sharding.last_tile_dims.size() + (sharding.last_tile_dim_replicate ? 1 : 0);
  if (shape.is_array() && sharding.tile_dims.size() != shape.dims.size() + subgroups)
    return fmt::format("expected {} tile dimensions for {}, found {}",
                       shape.dims.size() + subgroups, shown(shape), listed(sharding.tile_dims));
  return devices_fault(sharding);
}

std::string mesh_sharding_fault(const Sharding& sharding, const Shape& shape) {
  if (std::string fault = mesh_fault(sharding.mesh, max_devices); !fault.empty()) return fault;
  if (sharding.whole_mesh) return "";
  if (shape.is_array() && sharding.mesh_dims.size() != shape.dims.size())
    return fmt::format("expected {} dimensions for {}, found {}", shape.dims.size(), shown(shape),
                       sharding.mesh_dims.size());
  std::vector<AxisRef> axes;
  for (const auto& dim : sharding.mesh_dims)
    axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  for (const auto* more :
       {&sharding.replicated_axes, &sharding.unreduced_axes, &sharding.manual_axes})
    axes.insert(axes.end(), more->begin(), more->end());
  return axes_fault(sharding.mesh, axes);
}

std::string fault_of(const Sharding& sharding, const Shape& shape);

// A tuple sharding has one element for each leaf.
std::string tuple_fault(const Sharding& sharding, const Shape& shape) {
  std::vector<const Shape*> leaves;
  for_each_leaf(shape, [&](const Shape& leaf, auto) { leaves.push_back(&leaf); });
  if (shape.is_tuple() && leaves.empty() && sharding.elements.size() <= 1) return "";
  if (leaves.size() != sharding.elements.size())
    return fmt::format("expected {} shardings for {}, found {}", leaves.size(), shown(shape),
                       sharding.elements.size());
  for (size_t i = 0; i < leaves.size(); ++i)
    if (std::string fault = fault_of(sharding.elements[i], *leaves[i]); !fault.empty())
      return fault;
  return "";
}

std::string fault_of(const Sharding& sharding, const Shape& shape) {
  switch (sharding.kind) {
    case Sharding::Kind::Tuple: return tuple_fault(sharding, shape);
    case Sharding::Kind::Tiled: return tiled_fault(sharding, shape);
    case Sharding::Kind::Mesh: return mesh_sharding_fault(sharding, shape);
    case Sharding::Kind::Maximal:
      if (sharding.device >= 0) return "";
      return fmt::format("expected a device number, found {}", sharding.device);
    default: return "";
  }
}

}  // namespace

// Ops with side effects are sharded by what they move, not by what they give.
void verify_sharding(const Subject& subject) {
  const Sharding* sharding = subject.module.extra(subject.instruction).sharding.get();
  if (!sharding) return;
  const bool any_shape = has_trait(subject.instruction.op, TraitTransfers);
  static const Shape opaque;
  if (any_shape && sharding->kind == Sharding::Kind::Tuple) return;
  const std::string fault = fault_of(*sharding, any_shape ? opaque : subject.shape());
  if (!fault.empty()) subject.fault("sharding: " + fault);
}

}  // namespace hilo
