// Which tile of a sharded array each device holds. Shown through eval.h.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Devices as an array of their own, and the dimensions of it that cut each dimension of the sharded
// array, most major first. Devices that differ in other dimensions hold the same tile, or values
// that have nothing to do with each other.
struct DeviceTiles {
  Dims sizes, devices;  // row-major
  std::vector<std::vector<size_t>> cuts;

  // With `manual`: only these axes of the mesh cut. An error where the sharding is of another form,
  // or does not name each of `count` devices once.
  static Result<DeviceTiles> make(const Sharding& sharding, int64_t rank, int64_t count,
                                  const std::vector<AxisRef>* manual = nullptr);

  int64_t tiles(size_t dim) const;
  Dims tile_of(int64_t device) const;  // its index, in numbers of tiles
  // The device that holds another tile and stands like this one otherwise.
  int64_t holder(const Dims& tile, int64_t device) const;

 private:
  Dims index_of(int64_t device) const;
};

}  // namespace hilo
