#include "ir/sharding/mesh_axes.h"

#include <algorithm>
#include <set>

namespace hilo {
namespace {

Result<int64_t> checked_size(const Mesh& mesh) {
  int64_t count = 1;
  std::set<std::string_view> names;
  for (const MeshAxis& axis : mesh.axes) {
    if (!names.insert(axis.name).second)
      return fail(ErrorKind::Structure, "the mesh has two axes '{}'", axis.name);
    if (axis.size < 1 || __builtin_mul_overflow(count, axis.size, &count) ||
        count > max_mesh_devices)
      return fail(ErrorKind::Structure, "expected a mesh of 1 to {} devices, found '{}'={}",
                  max_mesh_devices, axis.name, axis.size);
  }
  return count;
}

Result<void> check_ids(std::span<const int64_t> ids, int64_t count) {
  if (std::ssize(ids) != count)
    return fail(ErrorKind::Structure, "expected {} device ids in the mesh, found {}", count,
                ids.size());
  std::vector<bool> is_listed(ids.size());
  for (int64_t id : ids) {
    if (id < 0 || id >= count)
      return fail(ErrorKind::Structure, "expected device ids of the mesh from 0 to {}, found {}",
                  count - 1, id);
    if (is_listed[id]) return fail(ErrorKind::Structure, "the mesh lists device {} twice", id);
    is_listed[id] = true;
  }
  return {};
}

int64_t end_of(const SubAxis& axis) { return axis.pre_size * axis.size; }

bool is_within(const SubAxis& axis, const SubAxis& other) {
  return axis.axis == other.axis && axis.pre_size >= other.pre_size &&
         end_of(axis) <= end_of(other);
}

// Each of `axes`, cut where `others` begin and end, where that is (not) within one of them.
SubAxes filtered(const Mesh& mesh, std::span<const SubAxis> axes, std::span<const SubAxis> others,
                 bool wanted) {
  if (axes.empty() || others.empty()) return wanted ? SubAxes() : merge_axes(axes);
  SubAxes all(axes.begin(), axes.end());
  all.insert(all.end(), others.begin(), others.end());
  const SubAxes split = split_mesh(mesh, all);
  SubAxes out;
  for (const SubAxis& axis : axes)
    for (const SubAxis& one : split)
      if (is_within(one, axis) && wanted == std::ranges::any_of(others, [&](const SubAxis& other) {
                                    return is_within(one, other);
                                  }))
        out.push_back(one);
  return merge_axes(out);
}

}  // namespace

Result<SharedMesh> make_mesh(Mesh mesh) {
  HILO_TRY(const int64_t count, checked_size(mesh));
  if (mesh.device_iota) {
    if (element_count(std::span<const int64_t>(mesh.device_iota->dims)) != count)
      return fail(ErrorKind::Structure, "expected {} device ids in the mesh", count);
    HILO_DO(check_ids(mesh.device_iota->expand(), count));
  }
  if (is_single_device(mesh)) {
    if (mesh.device_ids[0] < 0)
      return fail(ErrorKind::Structure, "expected a device number, found {}", mesh.device_ids[0]);
  } else if (!mesh.device_ids.empty()) {
    HILO_DO(check_ids(mesh.device_ids, count));
  }
  return std::make_shared<const Mesh>(std::move(mesh));
}

SharedMesh flat_mesh(int64_t devices) {
  return std::make_shared<const Mesh>(Mesh{{{"axis_0", devices}}, {}, {}});
}

int64_t mesh_size(const Mesh& mesh) {
  int64_t out = 1;
  for (const MeshAxis& axis : mesh.axes) out *= axis.size;
  return out;
}

bool is_single_device(const Mesh& mesh) { return mesh.axes.empty() && mesh.device_ids.size() == 1; }

Result<void> check_axis(const Mesh& mesh, const SubAxis& axis) {
  if (axis.axis >= mesh.axes.size())
    return fail(ErrorKind::Structure, "the mesh has {} axes, and axis {} is named",
                mesh.axes.size(), axis.axis);
  const MeshAxis& whole = mesh.axes[axis.axis];
  if (axis.pre_size >= 1 && axis.size >= 1 && axis.pre_size <= whole.size &&
      axis.size <= whole.size / axis.pre_size && whole.size % end_of(axis) == 0)
    return {};
  return fail(ErrorKind::Structure, "the sub-axis ({}){} does not divide axis '{}' of {}",
              axis.pre_size, axis.size, whole.name, whole.size);
}

Result<SubAxis> find_axis(const Mesh& mesh, const AxisRef& reference) {
  const auto found = std::ranges::find(mesh.axes, reference.name, &MeshAxis::name);
  if (found == mesh.axes.end())
    return fail(ErrorKind::Name, "the mesh has no axis '{}'", reference.name);
  SubAxis out{static_cast<size_t>(found - mesh.axes.begin()), 1, found->size};
  if (reference.sub) std::tie(out.pre_size, out.size) = *reference.sub;
  HILO_DO(check_axis(mesh, out));
  return out;
}

Result<SubAxes> find_axes(const Mesh& mesh, std::span<const AxisRef> references) {
  SubAxes out;
  for (const AxisRef& reference : references) {
    HILO_TRY(out.emplace_back(), find_axis(mesh, reference));
  }
  return out;
}

AxisRef axis_ref(const Mesh& mesh, const SubAxis& axis) {
  AxisRef out{mesh.axes[axis.axis].name, std::nullopt};
  if (axis.size != mesh.axes[axis.axis].size) out.sub = {axis.pre_size, axis.size};
  return out;
}

std::vector<AxisRef> axis_refs(const Mesh& mesh, std::span<const SubAxis> axes) {
  std::vector<AxisRef> out;
  for (const SubAxis& axis : axes) out.push_back(axis_ref(mesh, axis));
  return out;
}

std::string axis_text(const Mesh& mesh, const SubAxis& axis) {
  const MeshAxis& whole = mesh.axes[axis.axis];
  if (axis.size == whole.size) return fmt::format("'{}'", whole.name);
  return fmt::format("'{}':({}){}", whole.name, axis.pre_size, axis.size);
}

int64_t axes_size(std::span<const SubAxis> axes) {
  int64_t out = 1;
  for (const SubAxis& axis : axes) out *= axis.size;
  return out;
}

SubAxes merge_axes(std::span<const SubAxis> axes) {
  SubAxes out;
  for (const SubAxis& axis : axes) {
    if (axis.size == 1) continue;
    if (!out.empty() && out.back().axis == axis.axis && end_of(out.back()) == axis.pre_size)
      out.back().size *= axis.size;
    else out.push_back(axis);
  }
  return out;
}

bool axes_overlap(const SubAxis& a, const SubAxis& b) {
  if (a.axis != b.axis || a.size == 1 || b.size == 1) return false;
  if (end_of(a) <= b.pre_size) return b.pre_size % end_of(a) != 0;
  if (end_of(b) <= a.pre_size) return a.pre_size % end_of(b) != 0;
  return true;
}

Result<void> check_axes(const Mesh& mesh, std::span<const SubAxis> axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    HILO_DO(check_axis(mesh, axes[i]));
    for (size_t k = 0; k < i; ++k) {
      if (!axes_overlap(axes[i], axes[k])) continue;
      if (axes[i] == axes[k])
        return fail(ErrorKind::Structure, "the axis {} stands twice", axis_text(mesh, axes[i]));
      return fail(ErrorKind::Structure, "the axes {} and {} overlap", axis_text(mesh, axes[k]),
                  axis_text(mesh, axes[i]));
    }
  }
  return {};
}

SubAxes split_mesh(const Mesh& mesh, std::span<const SubAxis> axes) {
  SubAxes out;
  Dims bounds;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    bounds = {1, mesh.axes[axis].size};
    for (const SubAxis& one : axes)
      if (one.axis == axis) bounds.insert(bounds.end(), {one.pre_size, end_of(one)});
    std::ranges::sort(bounds);
    for (size_t i = 1; i < bounds.size(); ++i)
      if (bounds[i - 1] < bounds[i])
        out.push_back({axis, bounds[i - 1], bounds[i] / bounds[i - 1]});
  }
  return out;
}

SubAxes axes_within(const Mesh& mesh, std::span<const SubAxis> axes,
                    std::span<const SubAxis> others) {
  return filtered(mesh, axes, others, true);
}

SubAxes axes_outside(const Mesh& mesh, std::span<const SubAxis> axes,
                     std::span<const SubAxis> others) {
  return filtered(mesh, axes, others, false);
}

int64_t stride_of(const Mesh& mesh, const SubAxis& axis) {
  int64_t out = mesh.axes[axis.axis].size / end_of(axis);
  for (size_t i = axis.axis + 1; i < mesh.axes.size(); ++i) out *= mesh.axes[i].size;
  return out;
}

}  // namespace hilo
