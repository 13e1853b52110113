#include "pass/shard/new_summands.h"

#include "pass/shard/axis_lists.h"
#include "pass/shard/identity_element.h"

namespace hilo {
namespace {

// A tile along axes where the array's own tile has it. Padding lies behind the array.
InstructionId amid_neutral(LocalCode here, InstructionId tile, const Dims& own, const Mesh& mesh,
                           const std::vector<SubAxes>& axes, const Literal& neutral) {
  const Dims sizes = here.dims(tile);
  Dims padded = sizes;
  std::vector<InstructionId> starts;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    padded[dim] *= axes_size(axes[dim]);
    starts.push_back(here.scaled(here.coordinate(mesh, axes[dim]), sizes[dim]));
  }
  if (padded == sizes) return tile;
  const InstructionId all = here.update(here.splat(padded, neutral), tile, starts);
  return here.slice(all, Dims(sizes.size(), 0), own);
}

}  // namespace

AxisSharding before_new_summands(std::span<const int64_t> dims, const AxisSharding& from,
                                 const AxisSharding& to) {
  AxisSharding out = to;
  if (to.unreduced.empty()) return out;
  const Mesh& mesh = *to.mesh;
  const bool share_mesh = *from.mesh == mesh;
  const bool combine_alike = reduction_of(from.unreduced_op) == reduction_of(to.unreduced_op);
  out.unreduced.clear();
  if (share_mesh && combine_alike && !overlap_in_part(to.unreduced, from.unreduced))
    out.unreduced = axes_within(mesh, to.unreduced, from.unreduced);
  if (out.unreduced.empty()) out.unreduced_op.clear();
  const SubAxes added = axes_outside(mesh, to.unreduced, out.unreduced);
  const bool has_tiles = share_mesh && !overlap_in_part(from.axes(), added);
  for (size_t dim = 0; has_tiles && dim < dims.size(); ++dim) {
    SubAxes axes = to.dims[dim].axes;
    const SubAxes cut = axes_within(mesh, from.dims[dim].axes, added);
    axes.insert(axes.end(), cut.begin(), cut.end());
    // Tiles of a tile are tiles of the array where they are even.
    if (to.dims[dim].axes.empty() || dims[dim] % axes_size(axes) == 0)
      out.dims[dim].axes = merge_axes(axes);
  }
  return out;
}

Result<InstructionId> as_summands(LocalCode here, InstructionId tile, const Dims& dims,
                                  const AxisSharding& before, const AxisSharding& to) {
  const Mesh& mesh = *to.mesh;
  SubAxes whole = axes_outside(mesh, to.unreduced, before.unreduced);
  if (whole.empty()) return tile;
  const auto op = reduction_of(to.unreduced_op);
  const auto neutral = op ? exact_identity(*op, here.type(tile)) : std::nullopt;
  if (!neutral)
    return fail(ErrorKind::Unsupported, "summands of {} that are combined by '{}'",
                text_of(here.type(tile)), to.unreduced_op);
  std::vector<SubAxes> cut;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    cut.push_back(behind_prefix(before.dims[dim].axes, to.dims[dim].axes));
  const InstructionId out = amid_neutral(here, tile, local_dims(dims, to), mesh, cut, *neutral);
  whole = axes_outside(mesh, whole, before.axes());
  if (whole.empty()) return out;
  return here.select(here.is_first(mesh, whole), out, here.splat(here.dims(out), *neutral));
}

}  // namespace hilo
