#include "eval/device_tiles.h"

#include <algorithm>
#include <numeric>

namespace hilo {
namespace {

// A mesh whose axes are cut where sub-axes begin and end, so that each sub-axis is some whole ones.
struct FineMesh {
  struct Part {
    std::string axis;
    int64_t before, size;  // product of the parts of the axis before this one
  };
  std::vector<Part> parts;

  FineMesh(const Mesh& mesh, std::span<const AxisRef> references) {
    for (const MeshAxis& axis : mesh.axes) {
      Dims bounds = {1, axis.size};
      for (const AxisRef& reference : references)
        if (reference.name == axis.name && reference.sub)
          for (int64_t bound : {reference.sub->first, reference.sub->first * reference.sub->second})
            bounds.push_back(bound);
      std::ranges::sort(bounds);
      bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
      for (size_t i = 0; i + 1 < bounds.size(); ++i)
        parts.push_back({axis.name, bounds[i], bounds[i + 1] / bounds[i]});
    }
  }

  bool covers(const AxisRef& reference, const Part& part) const {
    if (reference.name != part.axis) return false;
    return !reference.sub || (part.before >= reference.sub->first &&
                              part.before < reference.sub->first * reference.sub->second);
  }
};

std::vector<AxisRef> references_of(const Sharding& sharding) {
  std::vector<AxisRef> out;
  for (const Sharding::MeshDim& dim : sharding.mesh_dims)
    out.insert(out.end(), dim.axes.begin(), dim.axes.end());
  return out;
}

// Sub-axes of one axis divide each other and its size.
bool divides(const Mesh& mesh, std::span<const AxisRef> references) {
  const FineMesh fine(mesh, references);
  int64_t parts = 1, axes = 1;
  for (const FineMesh::Part& part : fine.parts) parts *= part.size;
  for (const MeshAxis& axis : mesh.axes)
    if (axis.size < 1 || __builtin_mul_overflow(axes, axis.size, &axes)) return false;
  return parts == axes && std::ranges::all_of(references, [&](const AxisRef& reference) {
           return !reference.sub || (reference.sub->first > 0 && reference.sub->second > 0);
         });
}

Result<DeviceTiles> of_mesh(const Sharding& sharding, const std::vector<AxisRef>* manual) {
  const std::vector<AxisRef> references = references_of(sharding);
  if (!divides(sharding.mesh, references))
    return fail(ErrorKind::Structure, "the sharding's sub-axes do not divide the mesh");
  const FineMesh fine(sharding.mesh, references);
  const auto cuts = [&](const FineMesh::Part& part) {
    return !manual || std::ranges::any_of(
                          *manual, [&](const AxisRef& axis) { return fine.covers(axis, part); });
  };
  DeviceTiles out;
  for (const FineMesh::Part& part : fine.parts) out.sizes.push_back(part.size);
  for (const Sharding::MeshDim& dim : sharding.mesh_dims) {
    std::vector<size_t>& list = out.cuts.emplace_back();
    for (const AxisRef& axis : dim.axes)
      for (size_t i = 0; i < fine.parts.size(); ++i)
        if (fine.covers(axis, fine.parts[i]) && cuts(fine.parts[i])) list.push_back(i);
  }
  out.devices = sharding.mesh.devices();
  return out;
}

DeviceTiles of_tiles(const Sharding& sharding, int64_t rank) {
  DeviceTiles out{
      sharding.tile_dims, sharding.iota ? sharding.iota->expand() : sharding.devices, {}};
  for (int64_t dim = 0; dim < rank; ++dim) out.cuts.push_back({static_cast<size_t>(dim)});
  return out;
}

DeviceTiles one_tile(int64_t rank, int64_t count) {
  DeviceTiles out{{count}, Dims(count), std::vector<std::vector<size_t>>(rank)};
  std::iota(out.devices.begin(), out.devices.end(), 0);
  return out;
}

}  // namespace

Result<DeviceTiles> DeviceTiles::make(const Sharding& sharding, int64_t rank, int64_t count,
                                      const std::vector<AxisRef>* manual) {
  using Kind = Sharding::Kind;
  DeviceTiles out;
  if (!sharding.unreduced_axes.empty())
    return fail(ErrorKind::Unsupported, "a sharding whose parts are still to be summed");
  if (sharding.kind == Kind::Mesh && !sharding.whole_mesh) {
    HILO_TRY(out, of_mesh(sharding, manual));
  } else if (sharding.kind == Kind::Tiled) {
    out = of_tiles(sharding, rank);
  } else if (sharding.kind == Kind::Replicated || sharding.whole_mesh == Kind::Replicated ||
             (sharding.kind == Kind::Maximal && count == 1)) {
    out = one_tile(rank, count);
  } else {
    return fail(ErrorKind::Unsupported, "a sharding that cuts nothing");
  }
  Dims sorted = out.devices;
  std::ranges::sort(sorted);
  const bool each = static_cast<int64_t>(sorted.size()) == count && !sorted.empty() &&
                    sorted.front() == 0 && sorted.back() == count - 1 &&
                    std::ranges::adjacent_find(sorted) == sorted.end();
  if (!each || element_count(out.sizes) != count || static_cast<int64_t>(out.cuts.size()) != rank)
    return fail(ErrorKind::Structure,
                "the sharding is not one of {} dimensions over each of {} devices", rank, count);
  return out;
}

Dims DeviceTiles::index_of(int64_t device) const {
  int64_t rest = std::ranges::find(devices, device) - devices.begin();
  Dims out(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i]) out[i] = rest % sizes[i];
  return out;
}

int64_t DeviceTiles::tiles(size_t dim) const {
  int64_t out = 1;
  for (size_t axis : cuts[dim]) out *= sizes[axis];
  return out;
}

Dims DeviceTiles::tile_of(int64_t device) const {
  const Dims index = index_of(device);
  Dims out;
  for (const std::vector<size_t>& axes : cuts) {
    int64_t tile = 0;
    for (size_t axis : axes) tile = tile * sizes[axis] + index[axis];
    out.push_back(tile);
  }
  return out;
}

int64_t DeviceTiles::holder(const Dims& tile, int64_t device) const {
  Dims index = index_of(device);
  for (size_t dim = 0; dim < cuts.size(); ++dim) {
    int64_t rest = tile[dim];
    for (size_t i = cuts[dim].size(); i-- > 0; rest /= sizes[cuts[dim][i]])
      index[cuts[dim][i]] = rest % sizes[cuts[dim][i]];
  }
  int64_t position = 0;
  for (size_t i = 0; i < sizes.size(); ++i) position = position * sizes[i] + index[i];
  return devices[position];
}

}  // namespace hilo
