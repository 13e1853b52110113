// Which tile of a sharded array each device holds, and which devices form groups along axes. Shown
// through ir.h.
#pragma once

#include "ir/sharding/axis_sharding.h"

namespace hilo {

// Elements from `offset` on.
struct ArrayBox {
  Dims offset, sizes;
  bool operator==(const ArrayBox&) const = default;
  int64_t elements() const { return element_count(std::span(sizes)); }
};
ArrayBox intersection(const ArrayBox& a, const ArrayBox& b);  // sizes of 0 where there is none

int64_t tile_count(const AxisSharding& sharding, size_t dim);
// Of a whole tile: ceil(size / tiles) in each dimension. Devices with less have padding behind it.
Dims local_dims(std::span<const int64_t> dims, const AxisSharding& sharding);
Shape local_shape(const Shape& shape, const AxisSharding& sharding);  // layout kept

// Manual axes cut nothing: where an array's shape is local along them, this is of what is left.
class DeviceTiles {
 public:
  // The sharding is canonical and has as many dimensions as the array.
  DeviceTiles(const AxisSharding& sharding, std::span<const int64_t> dims);

  int64_t devices() const { return devices_; }
  const Dims& counts() const { return counts_; }  // of tiles in each dimension
  Dims tile_of(int64_t device) const;             // its index, in numbers of tiles
  // The elements of the array: tile k of a dimension of tiles of t is [k t, min((k+1) t, size)),
  // and is empty beyond the end.
  ArrayBox box_of(int64_t device) const;
  // The device that holds another tile and stands like this one otherwise.
  int64_t holder(std::span<const int64_t> tile, int64_t device) const;

 private:
  struct Digit {
    int64_t stride, size;  // of positions of the mesh
  };
  int64_t position(int64_t device) const;

  int64_t devices_;
  Dims array_, local_, counts_;
  std::vector<std::vector<Digit>> digits_;  // of each dimension
  Dims device_at_, position_of_;            // empty: the same number
};

// Devices that differ only along the axes are one group. Members in the order of the axes as given,
// most major first; groups in the mesh's order of what is left.
std::vector<Dims> device_groups(const Mesh& mesh, std::span<const SubAxis> axes);
ReplicaGroups replica_groups(const Mesh& mesh, std::span<const SubAxis> axes);  // by name

}  // namespace hilo
