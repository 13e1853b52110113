// Where manual regions begin and end. Inside, shapes are those of the manual axes' tiles, and other
// axes cut these.
#include "pass/shard/partition_region.h"

#include <algorithm>

#include "pass/shard/axis_lists.h"
#include "pass/shard/sharding_text.h"

namespace hilo {
namespace {

// An array at the border of a manual region, in two descriptions of the same tiles: those of the
// manual axes, and within them those of other axes where these divide what the manual ones leave.
struct Border {
  AxisSharding outside, inside;
};

// `has`: of the side that the array comes from; `wanted`: of the side that it goes to.
Result<Border> find_border(const AxisSharding& has, const AxisSharding& wanted, bool begins,
                           const Shape& local) {
  const AxisSharding &outer = begins ? has : wanted, &inner = begins ? wanted : has;
  const Mesh& mesh = *has.mesh;
  const SubAxes begun = axes_outside(mesh, inner.manual, outer.manual);
  const SubAxes summed = axes_within(mesh, outer.unreduced, begun);
  Border out{has, has};
  out.outside.manual = outer.manual, out.inside.manual = inner.manual;
  for (size_t dim = 0; dim < has.dims.size(); ++dim) {
    const SubAxes manual = axes_within(mesh, outer.dims[dim].axes, begun);
    if (!is_prefix(manual, outer.dims[dim].axes))
      return fail(ErrorKind::Structure, "expected manual axes in front of others in {}",
                  axes_text(outer));
    SubAxes others = begins ? behind_prefix(outer.dims[dim].axes, manual) : inner.dims[dim].axes;
    if (!manual.empty() && local.dims[dim] % axes_size(others) != 0) others.clear();
    out.inside.dims[dim].axes = merge_axes(others);
    others.insert(others.begin(), manual.begin(), manual.end());
    out.outside.dims[dim].axes = merge_axes(others);
  }
  SubAxes& unreduced = (begins ? out.inside : out.outside).unreduced;
  if (begins) unreduced = axes_outside(mesh, unreduced, begun);
  else unreduced.insert(unreduced.end(), summed.begin(), summed.end());
  std::ranges::sort(unreduced);
  unreduced = merge_axes(unreduced);
  if (!summed.empty()) out.outside.unreduced_op = outer.unreduced_op;
  if (out.inside.unreduced.empty()) out.inside.unreduced_op.clear();
  return out;
}

// The same tiles over the mesh of the other side.
Result<AxisSharding> over_mesh_of(const AxisSharding& sharding, const AxisSharding& other) {
  if (*sharding.mesh == *other.mesh) return sharding;
  auto out = axis_sharding(tile_sharding(sharding), sharding.dims.size(), other.mesh);
  if (!out || *out->mesh != *other.mesh)
    return fail(ErrorKind::Unsupported,
                "the two sides of a border of a manual region over other meshes: {} and {}",
                axes_text(sharding), axes_text(other));
  out->unreduced_op = sharding.unreduced_op;
  return out;
}

// That the manual axes do not divide.
std::vector<size_t> uneven_dims(const Shape& full, const Shape& local) {
  std::vector<size_t> out;
  for (size_t dim = 0; dim < full.dims.size(); ++dim)
    if (local.dims[dim] > 0 && full.dims[dim] % local.dims[dim] != 0) out.push_back(dim);
  return out;
}

// One number in each tile, by devices: outside of the region it is not one number everywhere, as
// what broadcasts a scalar is taken to be.
InstructionId apart(OpPartition& op, InstructionId tile) {
  const Module& module = op.module();
  if (module[tile].op != Op::Broadcast || constant_of(module, module.operand(tile, 0))) return tile;
  return op.editor().add_inferred(op.code().like(), Op::Copy, std::array{tile});
}

}  // namespace

// A manual region begins or ends: tiles stay, other dimensions describe them. What is no element
// of the whole array is zero in the region.
Result<Shards> cross_region(OpPartition& op, bool begins) {
  if (op.operand_count() != 1 || !op.shape().is_array() || !op.operand_shape(0).is_array() ||
      op.shape().dims.size() != op.operand_shape(0).dims.size())
    return fail(ErrorKind::Shape,
                "expected an array and one of as many dimensions that enters or "
                "leaves a manual region");
  HILO_TRY(const auto stated, op.partitioner().stated(op.id()));
  Shard tile = op.operand_shards(0)[0];
  const AxisSharding wanted =
      stated.empty() ? op.partitioner().replicated(op.shape().dims.size()) : *stated[0];
  HILO_TRY(tile.sharding, over_mesh_of(tile.sharding, wanted));
  const Shape local = begins ? op.shape() : *tile.shape;
  HILO_TRY(const Border border, find_border(tile.sharding, wanted, begins, local));
  const AxisSharding before = begins ? border.outside : border.inside;
  const AxisSharding after = begins ? border.inside : border.outside;
  HILO_TRY(tile.id, op.partitioner().resharded(tile, before));
  tile.sharding = before;
  if (local_dims(op.shape().dims, after) != op.module().shape(tile.id).dims)
    return fail(ErrorKind::Shape,
                "expected tiles of {} at the border of a manual region, found {}: {} outside and "
                "{} inside",
                to_string_without_layout(local_shape(op.shape(), after)),
                to_string_without_layout(op.module().shape(tile.id)),
                axes_text(begins ? *tile.sharding : after),
                axes_text(begins ? after : *tile.sharding));
  if (begins) {
    LocalCode code = op.code();
    tile.id =
        op.masked(tile, uneven_dims(tile.shape, op.shape()), code.zeros(tile.shape->type, {}));
  }
  if (!begins) tile.id = apart(op, tile.id);
  const Shard crossed = {tile.id, after, op.shape()};
  HILO_TRY(const InstructionId out, op.partitioner().resharded(crossed, wanted));
  return Shards{{out, wanted, op.shape()}};
}

}  // namespace hilo
