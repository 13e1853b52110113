#include "ir/attribute_types.h"

#include <algorithm>
#include <numeric>

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

// The mesh as a finer mesh in which each group axis is whole: sizes, and which of them are grouped.
void split_axes(const ReplicaGroups& groups, Dims& sizes, std::vector<int>& rank_in_group) {
  for (const MeshAxis& axis : groups.mesh.axes) {
    int rank = -1;
    std::pair<int64_t, int64_t> sub = {1, axis.size};
    for (size_t i = 0; i < groups.axes.size(); ++i)
      if (groups.axes[i].name == axis.name) {
        rank = static_cast<int>(i);
        if (groups.axes[i].sub) sub = *groups.axes[i].sub;
      }
    for (int64_t part : {sub.first, sub.second, axis.size / (sub.first * sub.second)}) {
      const bool grouped = rank >= 0 && sizes.size() % 3 == 1;
      sizes.push_back(part);
      rank_in_group.push_back(grouped ? rank : -1);
    }
  }
}

std::vector<Dims> mesh_groups(const ReplicaGroups& groups) {
  Dims sizes;
  std::vector<int> rank_in_group;
  split_axes(groups, sizes, rank_in_group);
  const Dims devices = groups.mesh.devices(), strides = row_major_strides(sizes);
  std::vector<size_t> outer, inner;
  for (size_t i = 0; i < sizes.size(); ++i) (rank_in_group[i] < 0 ? outer : inner).push_back(i);
  std::sort(inner.begin(), inner.end(),
            [&](size_t a, size_t b) { return rank_in_group[a] < rank_in_group[b]; });
  const auto walk = [&](const std::vector<size_t>& which) {
    Dims dims, index(which.size()), positions;
    for (size_t i : which) dims.push_back(sizes[i]);
    do {
      int64_t position = 0;
      for (size_t i = 0; i < which.size(); ++i) position += index[i] * strides[which[i]];
      positions.push_back(position);
    } while (next_index(index, dims));
    return positions;
  };
  std::vector<Dims> out;
  const Dims members = walk(inner);
  for (int64_t start : walk(outer)) {
    Dims& group = out.emplace_back();
    for (int64_t member : members) group.push_back(devices[start + member]);
  }
  return out;
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
