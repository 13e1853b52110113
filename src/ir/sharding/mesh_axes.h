// Axes of a device mesh and sub-axes of them. After Shardy's AxisRefAttr and SubAxisInfoAttr
// (openxla.org/shardy/sharding_representation). Shown through ir.h.
#pragma once

#include <compare>

#include "ir/attribute_types.h"

namespace hilo {

using SharedMesh = std::shared_ptr<const Mesh>;

// An axis of size n seen as [pre_size, size, n / (pre_size * size)], most major first: the middle
// one. The whole axis has pre_size 1 and size n.
struct SubAxis {
  size_t axis = 0;  // in Mesh::axes
  int64_t pre_size = 1, size = 1;
  auto operator<=>(const SubAxis&) const = default;
};
using SubAxes = std::vector<SubAxis>;  // of one dimension: most major first

constexpr int64_t max_mesh_devices = int64_t{1} << 24;

// Names differ, sizes are positive, there are at most max_mesh_devices, and device ids, where they
// stand, name each device from 0 once. Structure where not. No axes and one id: that device alone.
Result<SharedMesh> make_mesh(Mesh mesh);
// One axis over so many devices: what a module without a mesh has.
SharedMesh flat_mesh(int64_t devices);
int64_t mesh_size(const Mesh& mesh);
bool is_single_device(const Mesh& mesh);  // no axes and one id

// Name where the mesh has no such axis, Structure where the sub-axis does not divide it.
Result<SubAxis> find_axis(const Mesh& mesh, const AxisRef& reference);
Result<SubAxes> find_axes(const Mesh& mesh, std::span<const AxisRef> references);
// Structure where it is no sub-axis of the mesh.
Result<void> check_axis(const Mesh& mesh, const SubAxis& axis);
// That, and that each stands once and no two overlap.
Result<void> check_axes(const Mesh& mesh, std::span<const SubAxis> axes);
AxisRef axis_ref(const Mesh& mesh, const SubAxis& axis);
std::vector<AxisRef> axis_refs(const Mesh& mesh, std::span<const SubAxis> axes);
std::string axis_text(const Mesh& mesh, const SubAxis& axis);  // 'x':(1)2, as HLO has it

int64_t axes_size(std::span<const SubAxis> axes);  // of their sizes
// Without what is of size 1, and with neighbours merged: (1)2 (2)4 is (1)8.
SubAxes merge_axes(std::span<const SubAxis> axes);
// Whether the two cannot stand beside each other: (1)4 and (2)4 of 8 share devices, and no split of
// 12 has both (1)2 and (3)4.
bool axes_overlap(const SubAxis& a, const SubAxis& b);
// The whole mesh in its order, cut where given axes begin and end, which do not overlap.
SubAxes split_mesh(const Mesh& mesh, std::span<const SubAxis> axes);
// What of `axes` is, and what is not, within one of `others`; none of both overlap in part.
SubAxes axes_within(const Mesh& mesh, std::span<const SubAxis> axes,
                    std::span<const SubAxis> others);
SubAxes axes_outside(const Mesh& mesh, std::span<const SubAxis> axes,
                     std::span<const SubAxis> others);

// Positions of a mesh are numbered row-major over its axes; a sub-axis is a digit of the number.
// How many positions lie between neighbours along a sub-axis.
int64_t stride_of(const Mesh& mesh, const SubAxis& axis);

// A list of the numbers from 0 as an iota that is reshaped, transposed and flattened: the digits,
// most major first, as sub-axes of one axis. Nothing where the list is no such iota.
std::optional<SubAxes> find_digits(std::span<const int64_t> list);
// Of positions of a mesh: digits of one flat axis as sub-axes of the mesh's axes, and back. Nothing
// where a digit and an axis do not divide each other.
std::optional<SubAxes> over_mesh(const Mesh& mesh, std::span<const SubAxis> digits);
SubAxes digits_of(const Mesh& mesh, std::span<const SubAxis> axes);

}  // namespace hilo
