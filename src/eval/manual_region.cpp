// Manual regions of modules that are not partitioned (shard_map): between FullToShard and
// ShardToFull shapes are those of one device. Every device runs the whole program; outside of the
// regions each holds the global values. FullToShard takes a device's tile of them, and at
// ShardToFull the devices meet and each puts the tiles together again. With some axes of a mesh
// manual, the tiles are those of these axes alone.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "eval/collective.h"
#include "eval/custom_call.h"
#include "eval/strided_copy.h"
#include "text/text.h"

namespace hilo {
namespace {

// How the values of a region's edge are cut.
struct Edge {
  std::vector<AxisSharding> shardings;         // of each value, outside
  std::optional<std::vector<AxisRef>> manual;  // what begins or ends to be
  std::optional<AxisSharding> inside;          // of the one value, where that is said instead
};

const FrontendValue* find(const FrontendAttributes& attributes, const char* name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}

Result<Edge> shardy_edge(const Call& call, const FrontendValue& shardings) {
  const FrontendValue* meshes = find(call.module.header.frontend_attributes, "xla.sdy.meshes");
  HILO_TRY(const ShardyMeshes known, parse_shardy_meshes(meshes ? meshes->text : "{}"));
  Edge edge{};
  HILO_TRY(edge.shardings, parse_shardy_shardings(shardings.text, known));
  const FrontendAttributes& own = call.module.extra(call.instruction).frontend_attributes;
  if (const FrontendValue* axes = find(own, "xla.sdy.manual_axes")) {
    HILO_TRY(edge.manual, parse_shardy_manual_axes(axes->text));
  }
  return edge;
}

std::optional<AxisSharding> stated_sharding(const Call& call, InstructionId holder, int64_t rank) {
  const auto& sharding = call.module.extra(call.module[holder]).sharding;
  if (!sharding) return std::nullopt;
  const int64_t partitions = call.device.traffic.rendezvous->grid().partitions;
  auto out = axis_sharding(*sharding, static_cast<size_t>(rank), flat_mesh(partitions));
  return out ? std::optional(std::move(*out)) : std::nullopt;
}

// `outer`, `inner`: the instructions whose shardings cut the value outside and inside, where no
// Shardy attribute does.
Result<Edge> edge_of(const Call& call, const char* attribute, InstructionId outer,
                     InstructionId inner, int64_t rank) {
  const FrontendAttributes& own = call.module.extra(call.instruction).frontend_attributes;
  if (const FrontendValue* shardings = find(own, attribute)) {
    Result<Edge> out = shardy_edge(call, *shardings);
    if (!out) return call.error(out.error().kind, out.error().message);
    return out;
  }
  const auto& sharding = call.module.extra(call.module[outer]).sharding;
  if (!sharding)
    return call.error(ErrorKind::Unsupported, "no sharding says which part of the array is whose");
  const int64_t partitions = call.device.traffic.rendezvous->grid().partitions;
  auto axes = axis_sharding(*sharding, static_cast<size_t>(rank), flat_mesh(partitions));
  if (!axes) return call.error(axes.error().kind, axes.error().message);
  return Edge{{std::move(*axes)}, std::nullopt, stated_sharding(call, inner, rank)};
}

// By device: its number among the tiles that these axes cut.
std::vector<int64_t> numbers_along(const SharedMesh& mesh, const SubAxes& axes) {
  AxisSharding cut = replicated_sharding(mesh, 1);
  cut.dims[0].axes = axes;
  const DeviceTiles tiles(cut, std::array{axes_size(axes)});
  std::vector<int64_t> out;
  for (int64_t device = 0; device < tiles.devices(); ++device)
    out.push_back(tiles.tile_of(device)[0]);
  return out;
}

// The same tiles over a mesh of an axis for each dimension, in the order of the tiles, so that what
// stands in front of a dimension's tiles is a part of its axis. Devices of one tile keep their
// order, which is that of the regions around.
AxisSharding in_order_of_tiles(const AxisSharding& sharding, const Dims& full) {
  const DeviceTiles tiles(sharding, full);
  const SubAxes cut = sharding.axes();
  const SubAxes others = axes_outside(*sharding.mesh, split_mesh(*sharding.mesh, cut), cut);
  const std::vector<int64_t> copies = numbers_along(sharding.mesh, others);
  std::vector<std::tuple<Dims, int64_t, int64_t>> devices;
  for (int64_t device = 0; device < tiles.devices(); ++device)
    devices.emplace_back(tiles.tile_of(device), copies[device], device);
  std::ranges::sort(devices);
  Mesh mesh;
  int64_t rest = tiles.devices();
  for (int64_t count : tiles.counts()) {
    mesh.axes.push_back({fmt::format("dim_{}", mesh.axes.size()), count});
    rest /= count;
  }
  mesh.axes.push_back({"rest", rest});
  for (const auto& [tile, copy, device] : devices) mesh.device_ids.push_back(device);
  AxisSharding out =
      replicated_sharding(std::make_shared<const Mesh>(std::move(mesh)), full.size());
  for (size_t d = 0; d < full.size(); ++d) out.dims[d].axes = {{d, 1, tiles.counts()[d]}};
  return out;
}

// Of a dimension's tiles, as many in front as the manual axes alone cut: the most that devices of
// one manual number agree on.
int64_t tiles_in_front(const DeviceTiles& tiles, size_t dim, const std::vector<int64_t>& manual) {
  const int64_t all = tiles.counts()[dim];
  for (int64_t count = all; count > 1; --count) {
    if (all % count != 0) continue;
    std::map<int64_t, int64_t> of_number;
    bool agree = true;
    for (int64_t device = 0; device < tiles.devices(); ++device) {
      const int64_t tile = tiles.tile_of(device)[dim] / (all / count);
      agree &= of_number.try_emplace(manual[device], tile).first->second == tile;
    }
    if (agree) return count;
  }
  return 1;
}

// The fewest tiles in front that cut so many elements into so many; all where none do.
void keep_front(int64_t full, int64_t local, SubAxis& axis) {
  for (int64_t tiles = 1; tiles < axis.size; ++tiles)
    if (axis.size % tiles == 0 && (full + tiles - 1) / tiles == local) {
      axis.size = tiles;
      return;
    }
}

// What of the sharding cuts the value into those of the region.
Result<void> keep_manual(const Call& call, const Edge& edge, const Shape& full, const Shape& local,
                         AxisSharding& sharding) {
  if (edge.inside && *edge.inside->mesh == *sharding.mesh) {
    for (AxisSharding::Dim& dim : sharding.dims)
      dim.axes = axes_within(*sharding.mesh, dim.axes, edge.inside->manual);
    return {};
  }
  if (edge.inside && !edge.inside->manual.empty()) {  // over another mesh
    const std::vector<int64_t> manual = numbers_along(edge.inside->mesh, edge.inside->manual);
    const DeviceTiles tiles(sharding, full.dims);
    sharding = in_order_of_tiles(sharding, full.dims);
    for (size_t d = 0; d < full.dims.size(); ++d)
      sharding.dims[d].axes[0].size = tiles_in_front(tiles, d, manual);
    return {};
  }
  if (!edge.manual) {  // what is not cut belongs to axes that are not manual
    AxisSharding cut = sharding;
    for (size_t d = 0; d < full.dims.size(); ++d)
      if (local.dims[d] == full.dims[d]) cut.dims[d].axes.clear();
    if (local_dims(full.dims, cut) == local.dims) {
      sharding = std::move(cut);
      return {};
    }
    // Those in front, as many as leave what is inside.
    sharding = in_order_of_tiles(sharding, full.dims);
    for (size_t d = 0; d < full.dims.size(); ++d)
      keep_front(full.dims[d], local.dims[d], sharding.dims[d].axes[0]);
    return {};
  }
  const auto manual = find_axes(*sharding.mesh, *edge.manual);
  if (!manual) return call.error(manual.error().kind, manual.error().message);
  for (AxisSharding::Dim& dim : sharding.dims)
    dim.axes = axes_within(*sharding.mesh, dim.axes, *manual);
  return {};
}

Result<DeviceTiles> tiles_of(const Call& call, const Edge& edge, size_t value, const Shape& full,
                             const Shape& local) {
  if (value >= edge.shardings.size() || !full.is_array() || !local.is_array() ||
      full.type != local.type || full.rank() != local.rank() ||
      std::ssize(edge.shardings[value].dims) != full.rank())
    return call.error(ErrorKind::Shape, fmt::format("value {} has no sharding that fits", value));
  AxisSharding sharding = edge.shardings[value];
  const int64_t partitions = call.device.traffic.rendezvous->grid().partitions;
  if (mesh_size(*sharding.mesh) != partitions)
    return call.error(ErrorKind::Structure, fmt::format("expected a sharding over {} devices, "
                                                        "found one over {}",
                                                        partitions, mesh_size(*sharding.mesh)));
  if (!sharding.unreduced.empty())
    return call.error(ErrorKind::Unsupported, "a sharding whose parts are still to be summed");
  HILO_DO(keep_manual(call, edge, full, local, sharding));
  if (const Dims dims = local_dims(full.dims, sharding); dims != local.dims)
    return call.error(
        ErrorKind::Shape,
        fmt::format("the tiles of {} are [{}], not {}", to_string_without_layout(full),
                    fmt::join(dims, ","), to_string_without_layout(local)));
  return DeviceTiles(sharding, full.dims);
}

// Copies a tile out of the whole, or (`join`) into it; what of the last tiles lies beyond the whole
// is padding.
void copy_tile(const Call& call, ArrayBox tile, Literal& local, Literal& full, bool join) {
  StridedCopy copy{std::move(tile.sizes), row_major_strides(full.shape().dims),
                   row_major_strides(local.shape().dims), 0, 0};
  for (size_t d = 0; d < tile.offset.size(); ++d)
    copy.from += tile.offset[d] * copy.from_strides[d];
  const int64_t bytes = storage_bytes(full.type());
  if (join) {
    std::swap(copy.from, copy.to);
    std::swap(copy.from_strides, copy.to_strides);
    copy_strided(call, bytes, local.raw().data(), full.mutable_raw().data(), std::move(copy));
  } else {
    copy_strided(call, bytes, full.raw().data(), local.mutable_raw().data(), std::move(copy));
  }
}

std::span<const Shape> parts_of(const Shape& shape) {
  return shape.is_tuple() ? std::span<const Shape>(shape.elements) : std::span(&shape, 1);
}

Literal packed(const Call& call, std::vector<Literal> values) {
  return call.shape().is_tuple() ? Literal::tuple(std::move(values)) : std::move(values[0]);
}

Result<void> need_operands(const Call& call) {
  if (!call.operands.empty() && call.operands.size() == parts_of(call.shape()).size()) return {};
  return call.error(ErrorKind::Shape, "expected an operand for each result");
}

// One device alone: the region is as good as none where its shapes are whole.
Result<Literal> pass_on(Call& call) {
  const Shape held = call.held(call.shape());
  std::vector<Literal> values;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (!same_dims(call.operands[i].shape(), parts_of(held)[i]))
      return call.error(ErrorKind::Unsupported,
                        fmt::format("{} begins or ends a manual region for more devices than one, "
                                    "and the module names no num_partitions",
                                    call.attributes<CustomCallAttributes>().custom_call_target));
    values.push_back(call.operands[i].with_shape(parts_of(held)[i]));
  }
  return packed(call, std::move(values));
}

bool is_alone(const Call& call) { return call.device.traffic.rendezvous->grid().partitions == 1; }

}  // namespace

Result<Literal> call_full_to_shard(Call& call) {
  HILO_DO(need_operands(call));
  if (is_alone(call)) return pass_on(call);
  HILO_TRY(const Edge edge, edge_of(call, "xla.sdy.in_shardings", call.module.operand(call.id, 0),
                                    call.id, call.operands[0].shape().rank()));
  std::vector<Literal> values;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const Shape local = call.held(parts_of(call.shape())[i]);
    HILO_TRY(const DeviceTiles tiles, tiles_of(call, edge, i, call.operands[i].shape(), local));
    values.push_back(call.make_held(local));
    std::ranges::fill(values[i].mutable_raw(), std::byte{0});
    copy_tile(call, tiles.box_of(call.device.partition), values[i], call.operands[i], false);
  }
  return packed(call, std::move(values));
}

Result<Literal> call_shard_to_full(Call& call) {
  HILO_DO(need_operands(call));
  if (is_alone(call)) return pass_on(call);
  HILO_TRY(const Edge edge,
           edge_of(call, "xla.sdy.out_shardings", call.id, call.module.operand(call.id, 0),
                   parts_of(call.shape())[0].rank()));
  std::vector<DeviceTiles> tiles;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const Shape full = call.held(parts_of(call.shape())[i]);
    HILO_TRY(DeviceTiles one, tiles_of(call, edge, i, full, call.operands[i].shape()));
    tiles.push_back(std::move(one));
  }
  const int64_t partitions = call.device.traffic.rendezvous->grid().partitions;
  DeviceGroup group{call.device.replica, {}, static_cast<size_t>(call.device.partition)};
  for (int64_t p = 0; p < partitions; ++p)
    group.members.push_back(call.device.replica * partitions + p);
  HILO_TRY(auto meeting, call.device.traffic.rendezvous->meet(call, group, move_operands(call)));
  std::vector<Literal> values;
  for (size_t i = 0; i < tiles.size(); ++i) {
    values.push_back(call.make_held(call.held(parts_of(call.shape())[i])));
    Dims tile(tiles[i].counts().size(), 0);
    do {
      const int64_t from = tiles[i].holder(tile, call.device.partition);
      Literal local = meeting->brought[from][i];
      copy_tile(call, tiles[i].box_of(from), local, values[i], true);
    } while (next_index(tile, tiles[i].counts()));
  }
  return packed(call, std::move(values));
}

}  // namespace hilo
