#include "pass/shard/shifts.h"

#include <algorithm>

#include "pass/shard/window_tiles.h"

namespace hilo {
namespace {

RowWindows reversed_windows(int64_t size, int64_t tiles) {
  const int64_t rows = (size + tiles - 1) / tiles;
  RowWindows out{rows, false, {}};
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t valid = std::clamp<int64_t>(size - tile * rows, 0, rows);
    const int64_t end = size - tile * rows;
    out.tiles.push_back({end - rows, end - valid, end});
  }
  return out;
}

// The result's tiles of a concatenation.
RowWindows plain_windows(int64_t size, int64_t tiles) {
  const int64_t rows = (size + tiles - 1) / tiles;
  RowWindows out{rows, false, {}};
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t begin = std::min(size, tile * rows);
    out.tiles.push_back({tile * rows, begin, std::min(size, begin + rows)});
  }
  return out;
}

size_t concatenated_dim(const Module& module, InstructionId id) {
  return static_cast<size_t>(module.attributes<DimensionsAttributes>(id).dimensions[0]);
}

// The array that operand i is the end or the beginning of.
std::optional<InstructionId> source_of(const Module& module, InstructionId id, size_t i) {
  const InstructionId operand = module.operand(id, i);
  if (module[operand].op != Op::Slice) return std::nullopt;
  const size_t along = concatenated_dim(module, id);
  const InstructionId value = module.operand(operand, 0);
  const auto& slice = module.attributes<SliceAttributes>(operand).slice.dims;
  const Dims& sizes = module.shape(value).dims;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    const bool from_begin =
        slice[dim].start == 0 && (dim != along || i + 1 == module[id].operand_count);
    const bool to_end = slice[dim].limit == sizes[dim] && (dim != along || i == 0);
    if (slice[dim].stride != 1 || (dim == along ? !from_begin && !to_end : !from_begin || !to_end))
      return std::nullopt;
  }
  return value;
}

double bytes_to_reverse(const Module& module, InstructionId id, const AxisSharding& sharding) {
  const Shape& shape = module.shape(id);
  const Dims& dims = module.attributes<DimensionsAttributes>(id).dimensions;
  const Shape tile = local_shape(shape, sharding);
  if (!are_filled(shape, sharding, dims))
    return bytes_to_exchange(tile, dims, halos_of_reverse(module, id, sharding));
  const auto pairs = mirrored(shape, sharding, dims);
  const auto moved =
      std::ranges::count_if(pairs, [](const auto& pair) { return pair.first != pair.second; });
  return static_cast<double>(element_count(tile)) * bits_of(tile.type) / 8 *
         static_cast<double>(moved) / static_cast<double>(pairs.size());
}

}  // namespace

Window window_of_shift(const Module& module, InstructionId id) {
  Window out;
  if (module[id].op == Op::Pad)
    for (const PaddingDim& dim : module.attributes<PadAttributes>(id).padding.dims)
      out.dims.push_back(
          {.padding_low = dim.low, .padding_high = dim.high, .base_dilation = dim.interior + 1});
  else
    for (const SliceDim& dim : module.attributes<SliceAttributes>(id).slice.dims)
      out.dims.push_back({.stride = dim.stride, .padding_low = -dim.start});
  return out;
}

std::vector<Halo> halos_of_reverse(const Module& module, InstructionId id,
                                   const AxisSharding& sharding) {
  std::vector<Halo> out;
  for (int64_t dim : module.attributes<DimensionsAttributes>(id).dimensions) {
    const int64_t size = module.shape(id).dims[dim];
    out.emplace_back(Dims{size},
                     reversed_windows(size, tile_count(sharding, static_cast<size_t>(dim))));
  }
  return out;
}

bool are_filled(const Shape& shape, const AxisSharding& sharding, const Dims& dims) {
  return std::ranges::all_of(dims, [&](int64_t dim) {
    return shape.dims[dim] % tile_count(sharding, static_cast<size_t>(dim)) == 0;
  });
}

std::vector<std::pair<int64_t, int64_t>> mirrored(const Shape& shape, const AxisSharding& sharding,
                                                  const Dims& dims) {
  const DeviceTiles grid(sharding, shape.dims);
  std::vector<std::pair<int64_t, int64_t>> out;
  for (int64_t device = 0; device < grid.devices(); ++device) {
    Dims tile = grid.tile_of(device);
    for (int64_t dim : dims) tile[dim] = grid.counts()[dim] - 1 - tile[dim];
    out.push_back({grid.holder(tile, device), device});
  }
  return out;
}

ConcatenationSources concatenation_sources(const Module& module, InstructionId id) {
  ConcatenationSources out;
  for (size_t i = 0; i < module[id].operand_count; ++i) out.push_back(source_of(module, id, i));
  return out;
}

Halo halo_of_concatenation(const Module& module, InstructionId id,
                           const ConcatenationSources& sources, int64_t tiles) {
  const size_t dim = concatenated_dim(module, id);
  Dims sizes;
  std::vector<size_t> values;
  std::vector<InstructionId> ids;
  int64_t start = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const InstructionId operand = module.operand(id, i);
    if (sources[i] && i == 0)
      start = module.attributes<SliceAttributes>(operand).slice.dims[dim].start;
    ids.push_back(sources[i].value_or(operand));
    sizes.push_back(module.shape(ids.back()).dims[dim]);
    values.push_back(static_cast<size_t>(std::ranges::find(ids, ids.back()) - ids.begin()));
  }
  RowWindows windows = plain_windows(module.shape(id).dims[dim], tiles);
  for (RowWindows::Tile& tile : windows.tiles)
    tile.start += start, tile.begin += start, tile.end += start;
  return Halo(std::move(sizes), std::move(windows), std::nullopt, std::move(values));
}

double bytes_to_concatenate(const Module& module, InstructionId id,
                            const ConcatenationSources& sources, const AxisSharding& sharding) {
  const size_t dim = concatenated_dim(module, id);
  const int64_t tiles = tile_count(sharding, dim);
  if (tiles == 1) return 0;
  const Dims dims = {static_cast<int64_t>(dim)};
  return bytes_to_exchange(local_shape(module.shape(id), sharding), dims,
                           std::array{halo_of_concatenation(module, id, sources, tiles)});
}

double bytes_to_shift(const Module& module, InstructionId id, const AxisSharding& sharding) {
  const Op op = module[id].op;
  if (op == Op::Reverse) return bytes_to_reverse(module, id, sharding);
  if (op == Op::Concatenate)
    return bytes_to_concatenate(module, id, concatenation_sources(module, id), sharding);
  if (op != Op::Pad && op != Op::Slice) return 0;
  const Shape& operand = module.shape(module.operand(id, 0));
  return bytes_to_slide(
      local_shape(operand, sharding),
      windows_over(operand, sharding, module.shape(id), window_of_shift(module, id)));
}

}  // namespace hilo
