// What moves rows along a dimension: pads, slices, reversals, concatenations. Each device gets the
// rows of its tile of the result.
#include <algorithm>

#include "pass/shard/window_tiles.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;
using Local = Result<std::vector<InstructionId>>;

// Each dimension of the first operand is one of the result.
void tie_dimensions(OpPartition& op) {
  ShardingFactors factors = op.factors();
  factors.factors.clear();
  for (size_t dim = 0; dim < op.shape().dims.size(); ++dim) {
    const int64_t from = op.operand_shape(0).dims[dim], to = op.shape().dims[dim];
    factors.factors.push_back({std::max(from, to), Kind::Permutation});
    factors.operands[0][dim] = factors.results[0][dim] = {dim};
  }
  op.set_factors(std::move(factors));
}

// Windows of one element, in the first operand.
LocalForm shifting_form(OpPartition& op, const Window& window) {
  tie_dimensions(op);
  LocalForm form;
  form.may_shard = [](size_t) { return true; };
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

// Pairs of devices whose tiles mirror each other in these dimensions.
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

bool are_filled(const Shape& shape, const AxisSharding& sharding, const Dims& dims) {
  return std::ranges::all_of(dims, [&](int64_t dim) {
    return shape.dims[dim] % tile_count(sharding, static_cast<size_t>(dim)) == 0;
  });
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

// Of each operand a device needs what its tile of the result has of it. The end of an array in
// front, and the beginning of one at the end, come from the array: rolls are one exchange.
class Concatenation {
 public:
  explicit Concatenation(OpPartition& op)
      : op_(op), dim_(op.attributes<DimensionsAttributes>().dimensions[0]) {}

  LocalForm form() {
    LocalForm out;
    out.may_shard = [](size_t) { return true; };
    out.sent_bytes = [this](const Roles& roles) -> double {
      const AxisSharding sharding =
          sharding_under(op_, op_.shape(), op_.factors().results[0], roles);
      if (tile_count(sharding, dim_) == 1) return 0;
      const Dims dims = {static_cast<int64_t>(dim_)};
      return bytes_to_exchange(local_shape(op_.shape(), sharding), dims,
                               std::array{halo(sharding)});
    };
    out.emit = [this](const LocalOperands& local) -> Local {
      const AxisSharding& sharding = local.results[0];
      if (tile_count(sharding, dim_) == 1) return op_.clone(local.ids(), local.results);
      Shards arrays = local.operands;
      for (size_t i = 0; i < arrays.size(); ++i)
        if (const auto value = sliced_from(i, sharding))
          arrays[i] = op_.partitioner().shards(*value)[0];
      return std::vector{halo(sharding).exchange(op_, arrays, dim_, std::nullopt)};
    };
    return out;
  }

 private:
  // The array that an operand is the end or the beginning of, where its tiles are at hand.
  std::optional<InstructionId> sliced_from(size_t i, const AxisSharding& sharding) {
    const Module& module = op_.module();
    const InstructionId operand = op_.operand(i);
    if (module[operand].op != Op::Slice) return std::nullopt;
    const InstructionId value = module.operand(operand, 0);
    if (op_.partitioner().shards(value)[0].sharding != sharding) return std::nullopt;
    const auto& slice = module.attributes<SliceAttributes>(operand).slice.dims;
    const Dims& sizes = module.shape(value).dims;
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      const bool from_begin =
          slice[dim].start == 0 && (dim != dim_ || i + 1 == op_.operand_count());
      const bool to_end = slice[dim].limit == sizes[dim] && (dim != dim_ || i == 0);
      if (slice[dim].stride != 1 || (dim == dim_ ? !from_begin && !to_end : !from_begin || !to_end))
        return std::nullopt;
    }
    return value;
  }

  Halo halo(const AxisSharding& sharding) {
    const Module& module = op_.module();
    Dims sizes;
    std::vector<size_t> values;
    std::vector<InstructionId> ids;
    int64_t start = 0;
    for (size_t i = 0; i < op_.operand_count(); ++i) {
      const InstructionId operand = op_.operand(i);
      const auto value = sliced_from(i, sharding);
      if (value && i == 0)
        start = module.attributes<SliceAttributes>(operand).slice.dims[dim_].start;
      ids.push_back(value.value_or(operand));
      sizes.push_back(module.shape(ids.back()).dims[dim_]);
      values.push_back(static_cast<size_t>(std::ranges::find(ids, ids.back()) - ids.begin()));
    }
    RowWindows windows = plain_windows(op_.shape().dims[dim_], tile_count(sharding, dim_));
    for (RowWindows::Tile& tile : windows.tiles)
      tile.start += start, tile.begin += start, tile.end += start;
    return Halo(std::move(sizes), std::move(windows), std::nullopt, std::move(values));
  }

  OpPartition& op_;
  const size_t dim_;
};

// A slice of a pad as one pad.
std::optional<InstructionId> pad_with_edges(OpPartition& op) {
  Module& module = op.module();
  const InstructionId pad = op.operand(0);
  const auto is_slice = [&](InstructionId user) { return module[user].op == Op::Slice; };
  if (module[pad].op != Op::Pad || !std::ranges::all_of(module.users(pad), is_slice))
    return std::nullopt;
  PadAttributes attributes = module.attributes<PadAttributes>(pad);
  const auto& slice = op.attributes<SliceAttributes>().slice.dims;
  for (size_t dim = 0; dim < slice.size(); ++dim) {
    if (slice[dim].stride != 1) return std::nullopt;
    attributes.padding.dims[dim].low -= slice[dim].start;
    attributes.padding.dims[dim].high -= op.operand_shape(0).dims[dim] - slice[dim].limit;
  }
  const std::array operands = {module.operand(pad, 0), module.operand(pad, 1)};
  const Shape shape = op.shape();
  const ComputationId computation = module[op.id()].computation;
  const InstructionId root = module[computation].root;
  const InstructionId out =
      module.add_instruction(computation, Op::Pad, shape, operands, std::move(attributes));
  module[computation].root = root;
  const auto sharding = module.extra(module[op.id()]).sharding;
  module.mutable_extra(out).sharding = sharding;
  op.partitioner().add_manual(out, op.id());
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

// Slices of what is padded for them alone are pads with other edges: rows that slices drop need
// not be sent.
Result<Shards> partition_Slice(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  if (const auto pad = pad_with_edges(op)) {
    OpPartition with_edges(op.partitioner(), *pad);
    return partition_Pad(with_edges);
  }
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

// Whole tiles go to the devices that mirror their own, where no tile has padding.
Result<Shards> partition_Reverse(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  const Dims dims = op.attributes<DimensionsAttributes>().dimensions;
  LocalForm form = shifting_form(op, {});
  const auto halos = [&op, dims](const AxisSharding& sharding) {
    std::vector<Halo> out;
    for (int64_t dim : dims) {
      const int64_t size = op.shape().dims[dim];
      out.emplace_back(Dims{size}, reversed_windows(size, tile_count(sharding, dim)));
    }
    return out;
  };
  form.sent_bytes = [&op, dims, halos](const Roles& roles) {
    const AxisSharding sharding = sharding_under(op, op.shape(), op.factors().results[0], roles);
    const Shape tile = local_shape(op.shape(), sharding);
    if (!are_filled(op.shape(), sharding, dims))
      return bytes_to_exchange(tile, dims, halos(sharding));
    const auto pairs = mirrored(op.shape(), sharding, dims);
    const auto moved =
        std::ranges::count_if(pairs, [](const auto& pair) { return pair.first != pair.second; });
    return static_cast<double>(element_count(tile)) * bits_of(tile.type) / 8 *
           static_cast<double>(moved) / static_cast<double>(pairs.size());
  };
  form.emit = [&op, dims, halos](const LocalOperands& local) -> Local {
    Shard operand = local.operands[0];
    const bool is_cut = std::ranges::any_of(
        dims, [&](int64_t dim) { return tile_count(operand.sharding, dim) > 1; });
    if (is_cut && are_filled(op.shape(), operand.sharding, dims))
      operand.id = op.code().permute(operand.id, mirrored(op.shape(), operand.sharding, dims),
                                     op.partitioner().next_channel());
    else if (is_cut)
      for (size_t i = 0; const Halo& halo : halos(operand.sharding))
        operand.id = halo.exchange(op, std::span(&operand, 1), dims[i++], std::nullopt);
    return op.clone(std::array{operand.id}, local.results);
  };
  return op.by_factors(form);
}

Result<Shards> partition_Concatenate(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  Concatenation concatenation(op);
  return op.by_factors(concatenation.form());
}

}  // namespace hilo
