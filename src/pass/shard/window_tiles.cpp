#include "pass/shard/window_tiles.h"

#include <algorithm>

namespace hilo {
namespace {

int64_t ceil_of(int64_t a, int64_t b) { return a / b + (a % b > 0); }
int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b < 0); }
int64_t remainder_of(int64_t a, int64_t b) { return a - floor_of(a, b) * b; }

// Of one device's windows, rows counted with holes: [start, start + length), of which [start +
// skip, start + skip + read) are under windows of the array.
struct Span {
  int64_t start = 0, skip = 0, read = 0;
};
struct Spans {
  std::vector<Span> tiles;
  int64_t length = 0;
  WindowDim window;  // of each device, over its rows
};

Spans spans_of(const SlidingWindows& all) {
  const WindowDim& window = all.window;
  const int64_t cut = all.of_elements ? window.size : all.count;
  const int64_t tile = ceil_of(cut, all.tiles);
  const int64_t step = all.of_elements ? window.window_dilation : window.stride;
  const int64_t others = all.of_elements ? (all.count - 1) * window.stride
                                         : (window.size - 1) * window.window_dilation;
  Spans out{{}, (tile - 1) * step + others + 1, window};
  out.window.padding_low = out.window.padding_high = 0;
  if (all.of_elements) out.window.size = tile;
  for (int64_t i = 0; i < all.tiles; ++i) {
    const int64_t valid = std::clamp<int64_t>(cut - i * tile, 0, tile);
    const bool is_reversed = all.of_elements && window.reversal;
    const int64_t first = is_reversed ? cut - (i + 1) * tile : i * tile;
    Span span{first * step - window.padding_low};
    if (is_reversed) span.skip = (tile - valid) * step;
    if (valid > 0) span.read = (valid - 1) * step + others + 1;
    out.tiles.push_back(span);
  }
  return out;
}

// Without holes: the first row of the device's, and those that are read.
RowWindows::Tile row_window(const Span& span, int64_t dilation) {
  RowWindows::Tile out;
  out.start = ceil_of(span.start, dilation);
  out.begin = ceil_of(span.start + span.skip, dilation);
  out.end = floor_of(span.start + span.skip + span.read - 1, dilation) + 1;
  if (span.read == 0 || out.end <= out.begin) out.end = out.begin;
  return out;
}

}  // namespace

LocalWindows local_windows(const SlidingWindows& all) {
  const int64_t dilation = all.window.base_dilation;
  const Spans spans = spans_of(all);
  LocalWindows out{{1, all.of_elements, {}}, spans.window};
  bool is_alike = true;
  for (const Span& span : spans.tiles) {
    out.rows.tiles.push_back(row_window(span, dilation));
    const int64_t last = floor_of(span.start + spans.length - 1, dilation);
    out.rows.length = std::max(out.rows.length, last + 1 - out.rows.tiles.back().start);
    is_alike &= remainder_of(span.start - spans.tiles[0].start, dilation) == 0;
  }
  const int64_t dilated_rows = (out.rows.length - 1) * dilation + 1;
  if (is_alike) {
    const int64_t low = out.rows.tiles[0].start * dilation - spans.tiles[0].start;
    out.window.padding_low = low;
    out.window.padding_high = spans.length - low - dilated_rows;
    return out;
  }
  out.window.base_dilation = 1;
  out.dilation = dilation;
  out.length = spans.length;
  for (size_t i = 0; i < spans.tiles.size(); ++i)
    out.offsets.push_back(dilation - 1 + spans.tiles[i].start - out.rows.tiles[i].start * dilation);
  return out;
}

WindowedRows slide(OpPartition& op, const Shard& operand, size_t dim, const SlidingWindows& all,
                   std::optional<InstructionId> padding) {
  const LocalWindows local = local_windows(all);
  const Halo halo({all.rows}, local.rows);
  const InstructionId rows = halo.exchange(op, std::span(&operand, 1), dim, padding);
  if (local.dilation == 1) return {rows, local.window};
  LocalCode code = op.code();
  const int64_t dilated_rows = (local.rows.length - 1) * local.dilation + 1;
  const int64_t high = std::max<int64_t>(0, local.length - dilated_rows);
  const InstructionId dilated =
      code.pad_rows(rows, dim, {local.dilation - 1, high, local.dilation - 1}, *padding);
  const InstructionId offset = number_by_tile(code, operand.sharding, dim, local.offsets);
  return {code.rows_from(dilated, dim, offset, local.length), local.window};
}

double bytes_to_slide(const Shape& local, const WindowsByDim& windows) {
  Dims dims;
  std::vector<Halo> halos;
  for (size_t dim = 0; dim < windows.size(); ++dim) {
    if (!windows[dim]) continue;
    dims.push_back(static_cast<int64_t>(dim));
    halos.emplace_back(Dims{windows[dim]->rows}, local_windows(*windows[dim]).rows);
  }
  return bytes_to_exchange(local, dims, halos);
}

InstructionId slide_all(OpPartition& op, Shard operand, const WindowsByDim& windows, Window& window,
                        std::optional<InstructionId> padding) {
  for (size_t dim = 0; dim < windows.size(); ++dim)
    if (windows[dim]) {
      const WindowedRows rows = slide(op, operand, dim, *windows[dim], padding);
      operand.id = rows.value, window.dims[dim] = rows.window;
    }
  return operand.id;
}

WindowsByDim windows_over(const Shape& operand, const AxisSharding& sharding, const Shape& result,
                          const Window& window) {
  WindowsByDim out(operand.dims.size());
  for (size_t dim = 0; dim < out.size(); ++dim) {
    const int64_t tiles = tile_count(sharding, dim);
    const bool is_plain = window.dims[dim] == WindowDim{} && operand.dims[dim] == result.dims[dim];
    if (tiles == 1 || is_plain) continue;
    out[dim] = SlidingWindows{operand.dims[dim], result.dims[dim], tiles, window.dims[dim]};
  }
  return out;
}

bool stays_whole(OpPartition& op) {
  bool out = false;
  const auto look = [&](const Shape& leaf, std::span<const int64_t>) {
    out |= leaf.has_dynamic_dims() || (leaf.is_array() && element_count(leaf) == 0);
  };
  for (size_t i = 0; i < op.operand_count(); ++i) for_each_leaf(op.operand_shape(i), look);
  for_each_leaf(op.shape(), look);
  return out;
}

AxisSharding sharding_under(OpPartition& op, const Shape& shape, const DimensionFactors& factors,
                            const Roles& roles) {
  const RoleQuestion question{op.factors(), {}, {}, op.partitioner().mesh(), op.manual()};
  return operand_sharding(question, {&shape, &factors, nullptr}, roles);
}

}  // namespace hilo
