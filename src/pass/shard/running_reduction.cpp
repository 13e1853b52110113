#include "pass/shard/running_reduction.h"

#include <algorithm>

namespace hilo {
namespace {

// Tiles that a device takes over in each round: the neighbour's, then what devices 1, 2, 4 before
// it have gathered. Each has all tiles before its own in the end.
std::vector<int64_t> distances(int64_t tiles) {
  std::vector<int64_t> out = {1};
  for (int64_t distance = 1; distance + 1 < tiles; distance *= 2) out.push_back(distance);
  return out;
}
// The first tile that receives in a round; all behind it do.
int64_t first_receiver(size_t round, int64_t distance) { return round == 0 ? 1 : distance + 1; }

}  // namespace

std::optional<RunningDim> find_running(const Window& window, const Shape& operand,
                                       const Shape& result) {
  std::optional<RunningDim> out;
  for (size_t dim = 0; dim < window.dims.size(); ++dim) {
    const WindowDim& one = window.dims[dim];
    const int64_t size = operand.dims[dim];
    if (one == WindowDim{}) continue;
    const bool is_plain = one.stride == 1 && one.window_dilation == 1 && one.base_dilation == 1;
    const bool is_whole = size > 0 && one.size >= size && result.dims[dim] == size;
    const bool runs_up = one.padding_low == one.size - 1 && one.padding_high == 0;
    const bool runs_down = one.padding_low == 0 && one.padding_high == one.size - 1;
    if (out || !is_plain || !is_whole || (!runs_up && !runs_down)) return std::nullopt;
    out = RunningDim{dim, runs_down};
  }
  return out;
}

double bytes_to_run(const Shape& tile, size_t dim, int64_t tiles) {
  Dims row = tile.dims;
  row[dim] = 1;
  double rows = 0, rounds = 0;
  for (int64_t distance : distances(tiles)) {
    rows += static_cast<double>(tiles - first_receiver(static_cast<size_t>(rounds), distance));
    ++rounds;
  }
  return rows / static_cast<double>(tiles) * static_cast<double>(element_count(row)) *
             bits_of(tile.type) / 8 +
         rounds;
}

InstructionId run_over_tiles(OpPartition& op, const RunningDim& running, const Shard& own,
                             Op combiner, InstructionId initial, InstructionId neutral) {
  LocalCode code = op.code();
  const auto& axes = own.sharding->dims[running.dim].axes;
  const DeviceTiles grid(own.sharding, own.shape->dims);
  const int64_t tiles = axes_size(axes), rows = code.dims(own.id)[running.dim];
  const InstructionId tile = code.coordinate(*own.sharding->mesh, axes);
  const auto received = [&](InstructionId value, int64_t distance, int64_t first) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (int64_t device = 0; device < grid.devices(); ++device) {
      Dims at = grid.tile_of(device);
      int64_t& own_tile = at[running.dim];
      if ((running.from_end ? tiles - 1 - own_tile : own_tile) < first) continue;
      own_tile += running.from_end ? distance : -distance;
      pairs.push_back({grid.holder(at, device), device});
    }
    const InstructionId out = code.permute(value, pairs, op.partitioner().next_channel());
    const InstructionId receives =
        running.from_end ? code.compare(tile, code.number(tiles - first), ComparisonDirection::Lt)
                         : code.compare(tile, code.number(first), ComparisonDirection::Ge);
    return code.select(receives, out, code.broadcast(neutral, code.dims(out), {}));
  };
  const int64_t last = running.from_end ? 0 : rows - 1;
  InstructionId before =
      received(code.slice_rows(own.id, running.dim, last, last + 1), 1, first_receiver(0, 1));
  const std::vector<int64_t> all = distances(tiles);
  for (size_t round = 1; round < all.size(); ++round)
    before = code.binary(combiner, received(before, all[round], first_receiver(round, all[round])),
                         before);
  before = code.binary(combiner, code.broadcast(initial, code.dims(before), {}), before);
  Dims row = code.dims(before), kept;
  for (int64_t dim = 0; dim < std::ssize(row); ++dim)
    if (dim != static_cast<int64_t>(running.dim)) kept.push_back(dim);
  row.erase(row.begin() + static_cast<int64_t>(running.dim));
  return code.binary(combiner, code.broadcast(code.reshape(before, row), code.dims(own.id), kept),
                     own.id);
}

}  // namespace hilo
