#include "wire/proto_devices.h"

#include <algorithm>
#include <numeric>

namespace hilo {
namespace {

constexpr int64_t max_devices = int64_t{1} << 24;

}  // namespace

Result<IotaDevices> read_iota(Dims reshape, Dims dims, Dims permutation) {
  const auto product = [](const Dims& sizes) {
    const bool positive = std::all_of(sizes.begin(), sizes.end(), [](int64_t s) { return s > 0; });
    return positive ? element_count(std::span<const int64_t>(sizes)) : int64_t{-1};
  };
  const int64_t count = product(dims);
  if (count < 1 || (!reshape.empty() && product(reshape) != count))
    return fail(ErrorKind::Shape, "a device list whose sizes do not fit");
  if (count > max_devices) return fail(ErrorKind::Limit, "more than {} devices", max_devices);
  Dims identity(dims.size());
  std::iota(identity.begin(), identity.end(), int64_t{0});
  if (!permutation.empty() && !std::is_permutation(permutation.begin(), permutation.end(),
                                                   identity.begin(), identity.end()))
    return fail(ErrorKind::Shape, "a device list whose transposition is no permutation");
  if (permutation == identity) permutation.clear();
  return IotaDevices{std::move(reshape), std::move(dims), std::move(permutation)};
}

Dims permutation_of(const IotaDevices& iota) {
  Dims permutation = iota.permutation;
  if (!permutation.empty()) return permutation;
  permutation.resize(iota.dims.size());
  std::iota(permutation.begin(), permutation.end(), int64_t{0});
  return permutation;
}

void write_mesh(const Mesh& mesh, proto::MeshProto& to) {
  for (const MeshAxis& axis : mesh.axes) {
    to.add_axes()->set_name(axis.name);
    to.mutable_axes()->rbegin()->set_size(axis.size);
  }
  put_dims(mesh.device_ids, *to.mutable_device_ids());
  if (!mesh.device_iota) return;
  put_dims(mesh.device_iota->dims, *to.mutable_iota_transform()->mutable_reshape_dims());
  put_dims(permutation_of(*mesh.device_iota),
           *to.mutable_iota_transform()->mutable_transpose_perm());
}

Result<Mesh> read_mesh(const proto::MeshProto& from) {
  Mesh mesh;
  int64_t count = 1;
  for (const auto& axis : from.axes()) {
    mesh.axes.push_back({axis.name(), axis.size()});
    if (axis.size() < 1 || __builtin_mul_overflow(count, axis.size(), &count) ||
        count > max_devices)
      return fail(ErrorKind::Limit, "a mesh has from 1 to {} devices", max_devices);
  }
  mesh.device_ids = dims_of(from.device_ids());
  if (!from.axes().empty() && !mesh.device_ids.empty() &&
      static_cast<int64_t>(mesh.device_ids.size()) != count)
    return fail(ErrorKind::Shape, "a mesh of {} devices that lists {}", count,
                mesh.device_ids.size());
  if (!from.has_iota_transform()) return mesh;
  HILO_TRY(IotaDevices iota, read_iota({}, dims_of(from.iota_transform().reshape_dims()),
                                       dims_of(from.iota_transform().transpose_perm())));
  if (element_count(std::span<const int64_t>(iota.dims)) != count)
    return fail(ErrorKind::Shape, "a mesh whose device order has another size");
  mesh.device_iota = std::move(iota);
  return mesh;
}

void write_axes(const std::vector<AxisRef>& axes, const Mesh& mesh, AxisRefProtos& to) {
  for (const AxisRef& axis : axes) {
    const auto found = std::find_if(mesh.axes.begin(), mesh.axes.end(),
                                    [&](const MeshAxis& known) { return known.name == axis.name; });
    proto::AxisRefProto& ref = *to.Add();
    ref.set_mesh_axis_index(found - mesh.axes.begin());
    if (!axis.sub) continue;
    ref.mutable_sub_axis_info()->set_pre_size(axis.sub->first);
    ref.mutable_sub_axis_info()->set_size(axis.sub->second);
  }
}

Result<std::vector<AxisRef>> read_axes(const AxisRefProtos& from, const Mesh& mesh) {
  std::vector<AxisRef> axes;
  for (const proto::AxisRefProto& ref : from) {
    const uint64_t index = static_cast<uint64_t>(ref.mesh_axis_index());
    if (index >= mesh.axes.size())
      return fail(ErrorKind::Shape, "axis {} of a mesh with {}", ref.mesh_axis_index(),
                  mesh.axes.size());
    axes.push_back({mesh.axes[index].name, std::nullopt});
    if (ref.has_sub_axis_info())
      axes.back().sub = {ref.sub_axis_info().pre_size(), ref.sub_axis_info().size()};
  }
  return axes;
}

void write_groups(const ReplicaGroups& groups, proto::HloInstructionProto& to) {
  using Form = ReplicaGroups::Form;
  if (groups.form == Form::Explicit) {
    for (const Dims& group : groups.groups)
      put_dims(group,
               *to.mutable_collective_device_list()->add_replica_groups()->mutable_replica_ids());
  } else if (groups.form == Form::Iota) {
    proto::IotaReplicaGroupListProto& list = *to.mutable_iota_collective_device_list();
    list.set_num_replica_groups(groups.iota.reshape.empty() ? 0 : groups.iota.reshape.front());
    list.set_num_devices_per_group(groups.iota.reshape.size() < 2 ? 0 : groups.iota.reshape.back());
    put_dims(groups.iota.dims, *list.mutable_iota_reshape_dims());
    put_dims(permutation_of(groups.iota), *list.mutable_iota_transpose_perm());
  } else {
    proto::MeshAxesReplicaGroupListProto& list = *to.mutable_mesh_axes_replica_group_list();
    write_mesh(groups.mesh, *list.mutable_mesh());
    write_axes(groups.axes, groups.mesh, *list.mutable_axes());
  }
}

Result<ReplicaGroups> read_groups(const proto::HloInstructionProto& from) {
  using Form = ReplicaGroups::Form;
  ReplicaGroups groups;
  if (from.has_iota_collective_device_list()) {
    const auto& list = from.iota_collective_device_list();
    groups.form = Form::Iota;
    HILO_TRY(groups.iota,
             read_iota({list.num_replica_groups(), list.num_devices_per_group()},
                       dims_of(list.iota_reshape_dims()), dims_of(list.iota_transpose_perm())));
    return groups;
  }
  if (from.has_mesh_axes_replica_group_list()) {
    groups.form = Form::Mesh;
    HILO_TRY(groups.mesh, read_mesh(from.mesh_axes_replica_group_list().mesh()));
    HILO_TRY(groups.axes, read_axes(from.mesh_axes_replica_group_list().axes(), groups.mesh));
    return groups;
  }
  const auto& lists = from.has_collective_device_list()
                          ? from.collective_device_list().replica_groups()
                          : from.replica_groups();
  for (const proto::ReplicaGroup& group : lists)
    groups.groups.push_back(dims_of(group.replica_ids()));
  return groups;
}

}  // namespace hilo
