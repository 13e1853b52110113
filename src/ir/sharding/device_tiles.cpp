#include "ir/sharding/device_tiles.h"

#include <algorithm>

namespace hilo {

ArrayBox intersection(const ArrayBox& a, const ArrayBox& b) {
  ArrayBox out;
  out.offset.reserve(a.sizes.size());
  out.sizes.reserve(a.sizes.size());
  for (size_t dim = 0; dim < a.sizes.size(); ++dim) {
    const int64_t begin = std::max(a.offset[dim], b.offset[dim]);
    const int64_t end = std::min(a.offset[dim] + a.sizes[dim], b.offset[dim] + b.sizes[dim]);
    out.offset.push_back(begin);
    out.sizes.push_back(std::max<int64_t>(0, end - begin));
  }
  return out;
}

int64_t tile_count(const AxisSharding& sharding, size_t dim) {
  return axes_size(sharding.dims[dim].axes);
}

namespace {

void cut(Dims& dims, const AxisSharding& sharding) {
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    const int64_t tiles = tile_count(sharding, dim);
    dims[dim] = dims[dim] / tiles + (dims[dim] % tiles != 0);
  }
}

}  // namespace

Dims local_dims(std::span<const int64_t> dims, const AxisSharding& sharding) {
  Dims out(dims.begin(), dims.end());
  cut(out, sharding);
  return out;
}

Shape local_shape(const Shape& shape, const AxisSharding& sharding) {
  Shape out = shape;
  cut(out.dims, sharding);
  return out;
}

DeviceTiles::DeviceTiles(const AxisSharding& sharding, std::span<const int64_t> dims)
    : devices_(mesh_size(*sharding.mesh)),
      array_(dims.begin(), dims.end()),
      local_(local_dims(dims, sharding)) {
  check(sharding.dims.size() == dims.size(), "a sharding of another rank than its array");
  const Mesh& mesh = *sharding.mesh;
  for (const AxisSharding::Dim& dim : sharding.dims) {
    counts_.push_back(axes_size(dim.axes));
    std::vector<Digit>& digits = digits_.emplace_back();
    for (const SubAxis& axis : dim.axes) digits.push_back({stride_of(mesh, axis), axis.size});
  }
  if (is_single_device(mesh) || (mesh.device_ids.empty() && !mesh.device_iota)) return;
  device_at_ = mesh.devices();
  position_of_.resize(device_at_.size());
  for (size_t i = 0; i < device_at_.size(); ++i)
    position_of_[device_at_[i]] = static_cast<int64_t>(i);
}

int64_t DeviceTiles::position(int64_t device) const {
  return position_of_.empty() ? device : position_of_[device];
}

Dims DeviceTiles::tile_of(int64_t device) const {
  const int64_t at = position(device);
  Dims out;
  out.reserve(digits_.size());
  for (const std::vector<Digit>& digits : digits_) {
    int64_t tile = 0;
    for (const Digit& digit : digits) tile = tile * digit.size + at / digit.stride % digit.size;
    out.push_back(tile);
  }
  return out;
}

ArrayBox DeviceTiles::box_of(int64_t device) const {
  ArrayBox out{tile_of(device), {}};
  out.sizes.reserve(array_.size());
  for (size_t dim = 0; dim < array_.size(); ++dim) {
    out.offset[dim] = std::min(out.offset[dim] * local_[dim], array_[dim]);
    out.sizes.push_back(std::min(local_[dim], array_[dim] - out.offset[dim]));
  }
  return out;
}

int64_t DeviceTiles::holder(std::span<const int64_t> tile, int64_t device) const {
  int64_t at = position(device);
  for (size_t dim = 0; dim < digits_.size(); ++dim) {
    int64_t rest = tile[dim];
    for (size_t i = digits_[dim].size(); i-- > 0;) {
      const auto [stride, size] = digits_[dim][i];
      at += (rest % size - at / stride % size) * stride;
      rest /= size;
    }
  }
  return device_at_.empty() ? at : device_at_[at];
}

std::vector<Dims> device_groups(const Mesh& mesh, std::span<const SubAxis> axes) {
  const SubAxes whole = split_mesh(mesh, {});
  const auto numbers = [&](std::span<const SubAxis> of) {  // of positions along these axes alone
    Dims out = {0};
    for (const SubAxis& axis : of) {
      Dims next;
      for (int64_t number : out)
        for (int64_t i = 0; i < axis.size; ++i) next.push_back(number + i * stride_of(mesh, axis));
      out = std::move(next);
    }
    return out;
  };
  const Dims members = numbers(axes), devices = mesh.devices();
  std::vector<Dims> out;
  for (int64_t first : numbers(axes_outside(mesh, whole, axes))) {
    Dims& group = out.emplace_back();
    for (int64_t member : members) group.push_back(devices[first + member]);
  }
  return out;
}

ReplicaGroups replica_groups(const Mesh& mesh, std::span<const SubAxis> axes) {
  ReplicaGroups out;
  out.form = ReplicaGroups::Form::Mesh;
  out.mesh = mesh;
  out.axes = axis_refs(mesh, merge_axes(axes));  // XLA takes no list whose neighbours are one axis
  return out;
}

}  // namespace hilo
