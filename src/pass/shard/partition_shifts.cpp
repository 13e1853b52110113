// What moves rows along a dimension: pads, slices, reversals, concatenations. Each device gets the
// rows of its tile of the result.
#include <algorithm>

#include "pass/shard/window_tiles.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;
using Local = Result<std::vector<InstructionId>>;

bool has_factor(const DimensionFactors& dims, size_t factor) {
  return std::ranges::any_of(
      dims, [&](const auto& of_dim) { return std::ranges::count(of_dim, factor) > 0; });
}

// Windows of one element, in the first operand. Rows and the holes behind them may be two factors
// of a dimension: of the holes no device has a part alone.
LocalForm shifting_form(OpPartition& op, const Window& window) {
  LocalForm form;
  form.may_shard = [&op](size_t factor) {
    const Kind kind = op.factors().factors[factor].kind;
    return (kind == Kind::Pass || kind == Kind::Permutation) &&
           has_factor(op.factors().operands[0], factor) &&
           has_factor(op.factors().results[0], factor);
  };
  form.sent_bytes = [&op, window](const Roles& roles) {
    const Shape& operand = op.operand_shape(0);
    const AxisSharding sharding = sharding_under(op, operand, op.factors().operands[0], roles);
    return bytes_to_slide(local_shape(operand, sharding),
                          windows_over(operand, sharding, op.shape(), window));
  };
  return form;
}

InstructionId slid(OpPartition& op, const LocalOperands& local, Window& window,
                   std::optional<InstructionId> padding) {
  const Shard& operand = local.operands[0];
  return slide_all(op, operand, windows_over(operand.shape, operand.sharding, op.shape(), window),
                   window, padding);
}

// The result's tile t of a reversed dimension: rows in the order of the operand.
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

}  // namespace

Result<Shards> partition_Pad(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  Window window;
  for (const PaddingDim& dim : op.attributes<PadAttributes>().padding.dims)
    window.dims.push_back(
        {.padding_low = dim.low, .padding_high = dim.high, .base_dilation = dim.interior + 1});
  LocalForm form = shifting_form(op, window);
  form.emit = [&op, window](const LocalOperands& local) -> Local {
    Window here = window;
    const InstructionId padding = local.operands[1].id;
    const InstructionId value = slid(op, local, here, padding);
    PaddingConfig config;
    for (const WindowDim& dim : here.dims)
      config.dims.push_back({dim.padding_low, dim.padding_high, dim.base_dilation - 1});
    const bool is_nothing =
        std::ranges::count(config.dims, PaddingDim{}) == std::ssize(config.dims);
    if (is_nothing) return std::vector{value};
    const InstructionId out = op.clone_value(std::array{value, padding}, local.results);
    op.module().mutable_attributes<PadAttributes>(out).padding = config;
    return std::vector{out};
  };
  return op.by_factors(form);
}

Result<Shards> partition_Slice(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  const SliceDims slice = op.attributes<SliceAttributes>().slice;
  Window window;
  for (const SliceDim& dim : slice.dims)
    window.dims.push_back({.stride = dim.stride, .padding_low = -dim.start});
  LocalForm form = shifting_form(op, window);
  form.emit = [&op, window, slice](const LocalOperands& local) -> Local {
    Window here = window;
    InstructionId value = slid(op, local, here, std::nullopt);
    LocalCode code = op.code();
    for (size_t dim = 0; dim < slice.dims.size(); ++dim) {
      const auto [start, limit, stride] = slice.dims[dim];
      const bool is_whole = tile_count(local.results[0], dim) == 1;
      value = is_whole ? code.slice_rows(value, dim, start, limit, stride)
                       : code.slice_rows(value, dim, 0, code.dims(value)[dim], stride);
    }
    return std::vector{value};
  };
  return op.by_factors(form);
}

Result<Shards> partition_Reverse(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  const Dims dims = op.attributes<DimensionsAttributes>().dimensions;
  LocalForm form = shifting_form(op, {});
  const auto halo = [&op](int64_t dim, int64_t tiles) {
    const int64_t size = op.shape().dims[dim];
    return Halo({size}, reversed_windows(size, tiles));
  };
  form.sent_bytes = [&op, dims, halo](const Roles& roles) {
    const AxisSharding sharding = sharding_under(op, op.shape(), op.factors().results[0], roles);
    std::vector<Halo> halos;
    for (int64_t dim : dims) halos.push_back(halo(dim, tile_count(sharding, dim)));
    return bytes_to_exchange(local_shape(op.shape(), sharding), dims, halos);
  };
  form.emit = [&op, dims, halo](const LocalOperands& local) -> Local {
    Shard operand = local.operands[0];
    for (int64_t dim : dims) {
      const int64_t tiles = tile_count(operand.sharding, dim);
      if (tiles == 1) continue;
      operand.id = halo(dim, tiles).exchange(op, std::span(&operand, 1), dim, std::nullopt);
    }
    return op.clone(std::array{operand.id}, local.results);
  };
  return op.by_factors(form);
}

// Of each operand a device needs what its tile of the result has of it.
Result<Shards> partition_Concatenate(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  const auto dim = static_cast<size_t>(op.attributes<DimensionsAttributes>().dimensions[0]);
  Dims sizes;
  for (size_t i = 0; i < op.operand_count(); ++i) sizes.push_back(op.operand_shape(i).dims[dim]);
  const auto halo = [&op, dim, sizes](int64_t tiles) {
    return Halo(sizes, plain_windows(op.shape().dims[dim], tiles));
  };
  LocalForm form = shifting_form(op, {});
  form.may_shard = [](size_t) { return true; };
  form.sent_bytes = [&op, dim, halo](const Roles& roles) -> double {
    const AxisSharding sharding = sharding_under(op, op.shape(), op.factors().results[0], roles);
    const int64_t tiles = tile_count(sharding, dim);
    if (tiles == 1) return 0;
    const Dims dims = {static_cast<int64_t>(dim)};
    return bytes_to_exchange(local_shape(op.shape(), sharding), dims, std::array{halo(tiles)});
  };
  form.emit = [&op, dim, halo](const LocalOperands& local) -> Local {
    const int64_t tiles = tile_count(local.results[0], dim);
    if (tiles == 1) return op.clone(local.ids(), local.results);
    return std::vector{halo(tiles).exchange(op, local.operands, dim, std::nullopt)};
  };
  return op.by_factors(form);
}

}  // namespace hilo
