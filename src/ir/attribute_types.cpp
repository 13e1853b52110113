#include "ir/attribute_types.h"

#include <algorithm>
#include <numeric>

#include "ir/sharding/device_tiles.h"

namespace hilo {

Dims IotaDevices::expand() const {
  const int64_t count = element_count(std::span<const int64_t>(dims));
  Dims out;
  out.reserve(count);
  Dims order = permutation;
  if (order.empty()) {
    order.resize(dims.size());
    std::iota(order.begin(), order.end(), 0);
  }
  const Dims strides = row_major_strides(dims);
  Dims sizes(order.size()), index(order.size());
  for (size_t i = 0; i < order.size(); ++i) sizes[i] = dims[order[i]];
  if (count == 0) return out;
  do {
    int64_t device = 0;
    for (size_t i = 0; i < order.size(); ++i) device += index[i] * strides[order[i]];
    out.push_back(device);
  } while (next_index(index, sizes));
  return out;
}

Dims Mesh::devices() const {
  if (!device_ids.empty()) return device_ids;
  if (device_iota) return device_iota->expand();
  int64_t count = 1;
  for (const MeshAxis& axis : axes) count *= axis.size;
  Dims out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

namespace {

std::vector<Dims> mesh_groups(const ReplicaGroups& groups) {
  const auto axes = find_axes(groups.mesh, groups.axes);
  if (!axes || !check_axes(groups.mesh, *axes)) return {};  // found by `verify`
  return device_groups(groups.mesh, *axes);
}

}  // namespace

std::vector<Dims> ReplicaGroups::expand() const {
  if (form == Form::Explicit) return groups;
  if (form == Form::Mesh) return mesh_groups(*this);
  const Dims devices = iota.expand();
  const int64_t size = iota.reshape.size() > 1 ? iota.reshape[1] : 1;
  std::vector<Dims> out;
  for (size_t i = 0; size > 0 && i + size <= devices.size(); i += size)
    out.emplace_back(devices.begin() + i, devices.begin() + i + size);
  return out;
}

bool LiteralRef::operator==(const LiteralRef& other) const {
  if (elided != other.elided || !literal != !other.literal) return false;
  return literal == other.literal || same_bits(*literal, *other.literal);
}

}  // namespace hilo
