// Random meshes and shardings over them.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "ir/ir.h"

namespace hilo {

class RandomSharding {
 public:
  explicit RandomSharding(uint64_t seed) : random_(seed) {}

  int64_t number(int64_t below) { return static_cast<int64_t>(random_() % below); }

  // `device_order`: sometimes not the ascending one.
  SharedMesh mesh(std::span<const int64_t> sizes, int64_t max_axes, bool device_order) {
    Mesh out;
    const int64_t axes = 1 + number(max_axes);
    for (int64_t i = 0; i < axes; ++i)
      out.axes.push_back(
          {std::string(1, static_cast<char>('a' + i)), sizes[number(std::ssize(sizes))]});
    if (device_order && number(3) == 0) {
      out.device_ids.resize(mesh_size(out));
      std::iota(out.device_ids.begin(), out.device_ids.end(), 0);
      std::ranges::shuffle(out.device_ids, random_);
      if (out.device_ids.size() == 1) out.device_ids.clear();
    } else if (device_order && number(3) == 0) {
      IotaDevices iota;
      for (const MeshAxis& axis : out.axes) iota.dims.push_back(axis.size);
      iota.permutation.resize(iota.dims.size());
      std::iota(iota.permutation.begin(), iota.permutation.end(), 0);
      std::ranges::shuffle(iota.permutation, random_);
      out.device_iota = iota;
    }
    return *make_mesh(std::move(out));
  }

  // Axes, some split into sub-axes, each for a dimension, a subgroup, or none of them.
  AxisSharding sharding(const SharedMesh& mesh, size_t rank, bool subgroups) {
    SubAxes axes;
    for (size_t i = 0; i < mesh->axes.size(); ++i) {
      const int64_t size = mesh->axes[i].size;
      int64_t cut = 1;
      for (int64_t d = 2; d < size; ++d)
        if (size % d == 0 && number(2) == 0) cut = d;
      axes.push_back({i, 1, cut});
      axes.push_back({i, cut, size / cut});
    }
    std::ranges::shuffle(axes, random_);
    AxisSharding out = replicated_sharding(mesh, rank);
    for (const SubAxis& axis : axes) {
      const int64_t target = number(static_cast<int64_t>(rank) + (subgroups ? 4 : 1));
      if (target < static_cast<int64_t>(rank)) out.dims[target].axes.push_back(axis);
      else if (target == static_cast<int64_t>(rank) + 1) out.replicated.push_back(axis);
      else if (target == static_cast<int64_t>(rank) + 2) out.unreduced.push_back(axis);
      else if (target == static_cast<int64_t>(rank) + 3) out.manual.push_back(axis);
    }
    for (AxisSharding::Dim& dim : out.dims) dim.is_open = number(4) == 0, dim.priority = number(3);
    return *canonical_sharding(std::move(out));
  }

 private:
  std::mt19937_64 random_;
};

// What a sharding says of each device: its tile, and which devices are with it along the manual and
// along the unreduced axes, numbered as they come.
inline std::vector<Dims> meaning_of(const AxisSharding& sharding) {
  AxisSharding all = sharding;
  all.dims.push_back({sharding.manual, false, 0});
  all.dims.push_back({sharding.unreduced, false, 0});
  const DeviceTiles tiles(all, Dims(all.dims.size(), 1));
  std::vector<Dims> out;
  for (int64_t device = 0; device < tiles.devices(); ++device) out.push_back(tiles.tile_of(device));
  for (size_t column : {sharding.dims.size(), sharding.dims.size() + 1}) {
    std::map<int64_t, int64_t> numbers;
    for (Dims& tile : out)
      tile[column] = numbers.emplace(tile[column], std::ssize(numbers)).first->second;
  }
  return out;
}

}  // namespace hilo
