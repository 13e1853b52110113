// What shardings of texts and files mean: device lists, iota tilings, named meshes.
#include <algorithm>

#include "ir/sharding/axis_sharding.h"

namespace hilo {
namespace {

using Kind = Sharding::Kind;

// Digits, most major first, cut into those of each dimension of a grid. Nothing where a dimension
// ends within a digit that it does not divide.
std::optional<std::vector<SubAxes>> split_digits(std::span<const SubAxis> digits,
                                                 std::span<const int64_t> grid) {
  std::vector<SubAxes> out(grid.size());
  std::vector<SubAxis> rest(digits.rbegin(), digits.rend());
  for (size_t dim = 0; dim < grid.size(); ++dim) {
    for (int64_t left = grid[dim]; left > 1;) {
      SubAxis& next = rest.back();
      if (left % next.size == 0) {
        left /= next.size;
        out[dim].push_back(next);
        rest.pop_back();
      } else if (next.size % left == 0) {
        out[dim].push_back({next.axis, next.pre_size, left});
        next.pre_size *= left;
        next.size /= left;
        left = 1;
      } else {
        return std::nullopt;
      }
    }
  }
  return out;
}

SubAxes iota_digits(const IotaDevices& iota) {
  const size_t rank = iota.dims.size();
  SubAxes in_order;
  int64_t before = 1;
  for (size_t i = 0; i < rank; before *= iota.dims[i++])
    in_order.push_back({0, before, iota.dims[i]});
  if (iota.permutation.empty()) return merge_axes(in_order);
  SubAxes out;
  for (int64_t i : iota.permutation) out.push_back(in_order[i]);
  return merge_axes(out);
}

// Each number below the list's size once.
Result<void> check_devices(std::span<const int64_t> devices) {
  std::vector<bool> is_listed(devices.size());
  for (int64_t device : devices) {
    if (device < 0 || device >= std::ssize(devices))
      return fail(ErrorKind::Structure, "expected devices from 0 to {} in a sharding, found {}",
                  devices.size() - 1, device);
    if (is_listed[device])
      return fail(ErrorKind::Structure, "device {} stands twice in a sharding", device);
    is_listed[device] = true;
  }
  return {};
}

Dims as_positions(const Mesh& mesh, Dims devices) {
  const Dims order = mesh.devices();
  Dims position_of(order.size());
  for (size_t i = 0; i < order.size(); ++i) position_of[order[i]] = static_cast<int64_t>(i);
  for (int64_t& device : devices) device = position_of[device];
  return devices;
}

struct Grid {
  SharedMesh mesh;
  std::vector<SubAxes> axes;  // of each dimension of the tile grid
};

std::optional<Grid> grid_over(const SharedMesh& mesh, std::span<const SubAxis> digits,
                              std::span<const int64_t> grid) {
  const auto split = split_digits(digits, grid);
  if (!split) return std::nullopt;
  Grid out{mesh, {}};
  for (const SubAxes& dim : *split) {
    auto axes = over_mesh(*mesh, dim);
    if (!axes) return std::nullopt;
    out.axes.push_back(std::move(*axes));
  }
  return out;
}

// A mesh whose order is the list's, whose one axis the grid's dimensions divide one after another.
Grid grid_of_own(Dims devices, std::span<const int64_t> grid) {
  const int64_t count = std::ssize(devices);
  Grid out{std::make_shared<const Mesh>(Mesh{{{"axis_0", count}}, {}, std::move(devices)}), {}};
  int64_t before = 1;
  for (int64_t size : grid) {
    out.axes.push_back(size > 1 ? SubAxes{{0, before, size}} : SubAxes());
    before *= size;
  }
  return out;
}

Result<Grid> find_grid(const Sharding& sharding, const SharedMesh& mesh) {
  const bool has_order = mesh->device_iota || !mesh->device_ids.empty();
  const bool is_iota = sharding.iota.has_value();
  if (is_iota && !has_order)
    if (auto out = grid_over(mesh, iota_digits(*sharding.iota), sharding.tile_dims)) return *out;
  Dims devices = is_iota ? sharding.iota->expand() : sharding.devices;
  HILO_DO(check_devices(devices));
  if (const auto digits = find_digits(has_order ? as_positions(*mesh, devices) : devices))
    if (auto out = grid_over(mesh, *digits, sharding.tile_dims)) return *out;
  const auto flat = flat_mesh(std::ssize(devices));
  if (const auto digits = find_digits(devices))
    if (auto out = grid_over(flat, *digits, sharding.tile_dims)) return *out;
  return grid_of_own(std::move(devices), sharding.tile_dims);
}

std::vector<Kind> subgroups_of(const Sharding& sharding) {
  std::vector<Kind> out = sharding.last_tile_dims;
  if (sharding.last_tile_dim_replicate) out.push_back(Kind::Replicated);
  return out;
}

Result<AxisSharding> of_tiles(const Sharding& sharding, size_t rank, const SharedMesh& mesh) {
  const std::vector<Kind> subgroups = subgroups_of(sharding);
  if (sharding.tile_dims.size() != rank + subgroups.size())
    return fail(ErrorKind::Shape, "expected tiles in {} dimensions in a sharding, found {}",
                rank + subgroups.size(), sharding.tile_dims.size());
  int64_t tiles = 1;
  for (int64_t size : sharding.tile_dims)
    if (size < 1 || __builtin_mul_overflow(tiles, size, &tiles) || tiles > max_mesh_devices)
      return fail(ErrorKind::Structure, "expected tiles over 1 to {} devices in a sharding",
                  max_mesh_devices);
  const int64_t devices = sharding.iota
                              ? element_count(std::span(std::as_const(sharding.iota->dims)))
                              : std::ssize(sharding.devices);
  if (tiles != devices)
    return fail(ErrorKind::Structure, "a sharding has {} tiles on {} devices", tiles, devices);
  if (devices != mesh_size(*mesh))
    return fail(ErrorKind::Structure, "expected a sharding over {} devices, found {}",
                mesh_size(*mesh), devices);
  HILO_TRY(Grid grid, find_grid(sharding, mesh));
  AxisSharding out = replicated_sharding(std::move(grid.mesh), rank);
  for (size_t dim = 0; dim < rank; ++dim) out.dims[dim].axes = std::move(grid.axes[dim]);
  for (size_t i = 0; i < subgroups.size(); ++i) {
    const SubAxes& axes = grid.axes[rank + i];
    if (subgroups[i] == Kind::Manual) out.manual = axes;
    else if (subgroups[i] == Kind::Unreduced) out.unreduced = axes;
  }
  return canonical_sharding(std::move(out));
}

// However the devices are written.
bool is_same_mesh(const Mesh& a, const Mesh& b) {
  return a == b || (a.axes == b.axes && mesh_size(a) == mesh_size(b) && !is_single_device(a) &&
                    a.devices() == b.devices());
}

Result<AxisSharding> of_names(const Sharding& sharding, size_t rank, const SharedMesh& around) {
  SharedMesh mesh = around;
  if (sharding.mesh != *around) {
    HILO_TRY(mesh, make_mesh(sharding.mesh));
    if (is_same_mesh(*mesh, *around)) mesh = around;
  }
  if (mesh_size(*mesh) != mesh_size(*around))
    return fail(ErrorKind::Structure, "expected a mesh of {} devices, found {}", mesh_size(*around),
                mesh_size(*mesh));
  if (sharding.mesh_dims.size() != rank)
    return fail(ErrorKind::Shape, "expected {} dimensions in a sharding, found {}", rank,
                sharding.mesh_dims.size());
  AxisSharding out = replicated_sharding(mesh, rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    HILO_TRY(out.dims[dim].axes, find_axes(*mesh, sharding.mesh_dims[dim].axes));
    out.dims[dim].is_open = sharding.mesh_dims[dim].open;
  }
  HILO_TRY(out.replicated, find_axes(*mesh, sharding.replicated_axes));
  HILO_TRY(out.unreduced, find_axes(*mesh, sharding.unreduced_axes));
  HILO_TRY(out.manual, find_axes(*mesh, sharding.manual_axes));
  out.unreduced_op = sharding.unreduced_op;
  return canonical_sharding(std::move(out));
}

}  // namespace

Result<AxisSharding> axis_sharding(const Sharding& sharding, size_t rank, const SharedMesh& mesh) {
  const Kind kind = sharding.whole_mesh.value_or(sharding.kind);
  SharedMesh over = mesh;
  if (kind == Kind::Tiled) return of_tiles(sharding, rank, mesh);
  if (kind == Kind::Mesh) return of_names(sharding, rank, mesh);
  if (kind == Kind::Tuple)
    return fail(ErrorKind::Shape, "expected the sharding of one array, found that of a tuple");
  if (kind == Kind::Maximal) {
    HILO_TRY(over, make_mesh(Mesh{{}, {}, {sharding.device}}));
  }
  AxisSharding out = replicated_sharding(over, rank, kind == Kind::Unknown);
  const SubAxes whole = split_mesh(*over, {});
  if (kind == Kind::Manual) out.manual = whole;
  if (kind == Kind::Unreduced) out.unreduced = whole;
  return canonical_sharding(std::move(out));
}

Result<std::vector<AxisSharding>> axis_shardings(const Sharding& sharding, const Shape& shape,
                                                 const SharedMesh& mesh) {
  std::vector<size_t> ranks;
  for_each_leaf(shape, [&](const Shape& leaf, auto) {
    ranks.push_back(leaf.is_array() ? leaf.dims.size() : 0);
  });
  const bool is_tuple = sharding.kind == Kind::Tuple;
  if (is_tuple && sharding.elements.size() != ranks.size())
    return fail(ErrorKind::Shape, "expected {} shardings, found {}", ranks.size(),
                sharding.elements.size());
  std::vector<AxisSharding> out;
  out.reserve(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Sharding& one = is_tuple ? sharding.elements[i] : sharding;
    const bool is_like_before =
        i > 0 && ranks[i] == ranks[i - 1] && (!is_tuple || one == sharding.elements[i - 1]);
    if (is_like_before) {
      out.push_back(out.back());
      continue;
    }
    HILO_TRY(out.emplace_back(), axis_sharding(one, ranks[i], mesh));
  }
  return out;
}

}  // namespace hilo
