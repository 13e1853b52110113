// What moves rows along a dimension: pads, slices, reversals, concatenations. Each device gets the
// rows of its tile of the result.
#include <algorithm>

#include "pass/shard/shifts.h"
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

LocalForm shifting_form(OpPartition& op) {
  tie_dimensions(op);
  LocalForm form;
  form.may_shard = [](size_t) { return true; };
  form.sent_bytes = [&op](const Roles& roles) {
    return bytes_to_shift(op.module(), op.id(),
                          sharding_under(op, op.shape(), op.factors().results[0], roles));
  };
  return form;
}

InstructionId slid(OpPartition& op, const LocalOperands& local, Window& window,
                   std::optional<InstructionId> padding) {
  const Shard& operand = local.operands[0];
  return slide_all(op, operand, windows_over(operand.shape, operand.sharding, op.shape(), window),
                   window, padding);
}

// Of each operand a device needs what its tile of the result has of it. The end of an array in
// front, and the beginning of one at the end, come from the array: rolls are one exchange.
class Concatenation {
 public:
  explicit Concatenation(OpPartition& op)
      : op_(op),
        dim_(op.attributes<DimensionsAttributes>().dimensions[0]),
        slices_(concatenation_sources(op.module(), op.id())) {}

  LocalForm form() {
    LocalForm out;
    out.may_shard = [](size_t) { return true; };
    out.sent_bytes = [this](const Roles& roles) -> double {
      const AxisSharding sharding =
          sharding_under(op_, op_.shape(), op_.factors().results[0], roles);
      const ConcatenationSources sources = tile_count(sharding, dim_) > 1
                                               ? sources_at_hand(sharding)
                                               : ConcatenationSources(slices_.size());
      return bytes_to_concatenate(op_.module(), op_.id(), sources, sharding) +
             bytes_for_slices(sources);
    };
    out.emit = [this](const LocalOperands& local) -> Local {
      const AxisSharding& sharding = local.results[0];
      if (tile_count(sharding, dim_) == 1) return op_.clone(local.ids(), local.results);
      Shards arrays = local.operands;
      const ConcatenationSources sources = sources_at_hand(sharding);
      for (size_t i = 0; i < arrays.size(); ++i)
        if (sources[i]) arrays[i] = op_.partitioner().shards(*sources[i])[0];
      return std::vector{halo(sharding, sources).exchange(op_, arrays, dim_, std::nullopt)};
    };
    return out;
  }

 private:
  ConcatenationSources sources_at_hand(const AxisSharding& sharding) {
    ConcatenationSources out = slices_;
    for (auto& source : out)
      if (source && op_.partitioner().shards(*source)[0].sharding != sharding) source.reset();
    return out;
  }
  // Slices in whose place an array can stand are needed where it does not.
  double bytes_for_slices(const ConcatenationSources& sources) {
    double out = 0;
    for (size_t i = 0; i < op_.operand_count(); ++i)
      if (slices_[i] && !sources[i] && op_.module().users(op_.operand(i)).size() == 1)
        out += bytes_to_shift(op_.module(), op_.operand(i), op_.operand_shards(i)[0].sharding);
    return out;
  }
  Halo halo(const AxisSharding& sharding, const ConcatenationSources& sources) {
    return halo_of_concatenation(op_.module(), op_.id(), sources, tile_count(sharding, dim_));
  }

  OpPartition& op_;
  const size_t dim_;
  const ConcatenationSources slices_;  // where an operand is a slice of an array: the array
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
  const Window window = window_of_shift(op.module(), op.id());
  LocalForm form = shifting_form(op);
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
  const Window window = window_of_shift(op.module(), op.id());
  LocalForm form = shifting_form(op);
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
  LocalForm form = shifting_form(op);
  form.emit = [&op, dims](const LocalOperands& local) -> Local {
    Shard operand = local.operands[0];
    const bool is_cut = std::ranges::any_of(
        dims, [&](int64_t dim) { return tile_count(operand.sharding, dim) > 1; });
    if (is_cut && are_filled(op.shape(), operand.sharding, dims))
      operand.id = op.code().permute(operand.id, mirrored(op.shape(), operand.sharding, dims),
                                     op.partitioner().next_channel());
    else if (is_cut)
      for (size_t i = 0;
           const Halo& halo : halos_of_reverse(op.module(), op.id(), operand.sharding))
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
