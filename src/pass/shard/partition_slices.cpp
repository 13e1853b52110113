// dynamic-slice and dynamic-update-slice. Dimensions that are read or written whole are local. Of
// the others each device has what lies in its tile: of a slice the devices' parts are added up, an
// update is written where it lies.
#include <algorithm>

#include "pass/shard/factor_list.h"
#include "pass/shard/identity_element.h"
#include "pass/shard/tile_window.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

// Scalars: operands from `first` on, or the elements of one vector.
std::vector<InstructionId> start_scalars(OpPartition& op, const LocalOperands& local,
                                         size_t first) {
  LocalCode code = op.code();
  std::vector<InstructionId> out;
  for (size_t i = first; i < local.operands.size(); ++i) {
    const InstructionId index = local.operands[i].id;
    const Dims dims = code.dims(index);
    if (dims.empty()) out.push_back(index);
    for (int64_t k = 0; dims.size() == 1 && k < dims[0]; ++k)
      out.push_back(code.reshape(code.slice(index, std::array{k}, {1}), {}));
  }
  return out;
}

// The window's elements at their positions in the slice, `filling` at the others.
InstructionId part_of_slice(LocalCode& code, InstructionId part, const TileWindow& window,
                            const Dims& sizes, InstructionId filling) {
  const size_t rank = window.sizes.size();
  Dims around(rank);
  std::vector<InstructionId> starts;
  for (size_t dim = 0; dim < rank; ++dim) {
    around[dim] = window.shifts[dim] ? sizes[dim] : 0;
    starts.push_back(code.number(around[dim]));
    if (window.shifts[dim])
      starts.back() = code.binary(Op::Subtract, starts.back(), window.shifts[dim]);
  }
  Dims result = window.sizes;
  for (size_t dim = 0; dim < rank; ++dim)
    if (window.shifts[dim]) result[dim] = sizes[dim];
  return code.dynamic_slice(code.pad(part, around, around, filling), starts, result);
}

// The elements of the update that come where the window's are, any where there are none.
InstructionId part_of_update(LocalCode& code, InstructionId update, const TileWindow& window) {
  const size_t rank = window.sizes.size();
  Dims around(rank);
  std::vector<InstructionId> starts;
  for (size_t dim = 0; dim < rank; ++dim) {
    around[dim] = window.shifts[dim] ? window.sizes[dim] : 0;
    starts.push_back(code.number(around[dim]));
    if (window.shifts[dim]) starts[dim] = code.binary(Op::Add, starts[dim], window.shifts[dim]);
  }
  const InstructionId filling = code.zeros(code.type(update), {});
  return code.dynamic_slice(code.pad(update, around, around, filling), starts, window.sizes);
}

// pred: which of the window's elements the update, of these sizes, has.
InstructionId is_updated(LocalCode& code, const TileWindow& window, const Dims& sizes) {
  InstructionId out;
  for (size_t dim = 0; dim < window.sizes.size(); ++dim) {
    if (!window.shifts[dim]) continue;
    const Dims& all = window.sizes;
    const InstructionId index =
        code.binary(Op::Add, code.iota(ElementType::S32, all, static_cast<int64_t>(dim)),
                    code.broadcast(window.shifts[dim], all, {}));
    const auto compared = [&](int64_t bound, ComparisonDirection direction) {
      return code.compare(index, code.broadcast(code.number(bound), all, {}), direction);
    };
    const InstructionId is_inside = code.binary(Op::And, compared(0, ComparisonDirection::Ge),
                                                compared(sizes[dim], ComparisonDirection::Lt));
    out = out ? code.binary(Op::And, out, is_inside) : is_inside;
  }
  return out;
}

}  // namespace

Result<Shards> partition_DynamicSlice(OpPartition& op) {
  const Shape whole = op.operand_shape(0);
  const Dims sizes = op.shape().dims;
  FactorList list(op.module(), op.id());
  for (int64_t dim = 0; dim < whole.rank(); ++dim)
    if (whole.dims[dim] == sizes[dim])
      list.share(Kind::Pass, {operand_dim(0, dim), result_dim(0, dim)});
    else list.share(Kind::Reduction, {operand_dim(0, dim)});
  op.set_factors(list.finish());
  const auto sum = neutral_sum(whole.type);
  LocalForm form;
  form.may_shard = [&](size_t factor) {
    const Kind kind = op.factors().factors[factor].kind;
    return has_small_dims(whole) && (kind == Kind::Pass || (kind == Kind::Reduction && sum));
  };
  if (sum) form.reduction = sum->name;
  form.operations = static_cast<double>(element_count(op.shape()));
  form.emit = [&](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
    LocalCode code = op.code();
    const Shard& tile = local.operands[0];
    if (!cuts_slices(tile, sizes)) {
      const InstructionId out = op.clone_value(local.ids(), local.results);
      op.module().mutable_attributes<DynamicSliceAttributes>(out).dynamic_slice_sizes =
          code.dims(out);
      return std::vector{out};
    }
    const TileWindow window = tile_window(op, tile, start_scalars(op, local, 1), sizes);
    const InstructionId part = code.dynamic_slice(tile.id, window.starts, window.sizes);
    return std::vector{part_of_slice(code, part, window, sizes, code.constant(sum->neutral))};
  };
  return op.by_factors(form);
}

Result<Shards> partition_DynamicUpdateSlice(OpPartition& op) {
  const Shape whole = op.operand_shape(0);
  const Dims sizes = op.operand_shape(1).dims;
  FactorList list(op.module(), op.id());
  for (int64_t dim = 0; dim < whole.rank(); ++dim) {
    const size_t factor = list.share(Kind::Pass, {operand_dim(0, dim), result_dim(0, dim)});
    if (whole.dims[dim] == sizes[dim]) list.put(factor, operand_dim(1, dim));
  }
  op.set_factors(list.finish());
  LocalForm form;
  form.may_shard = [&](size_t factor) {
    return op.factors().factors[factor].kind == Kind::Pass && has_small_dims(whole) &&
           has_small_dims(op.operand_shape(1));
  };
  form.operations = static_cast<double>(element_count(op.operand_shape(1)));
  form.emit = [&](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
    LocalCode code = op.code();
    const Shard& tile = local.operands[0];
    if (!cuts_slices(tile, sizes)) return op.clone(local.ids(), local.results);
    const TileWindow window = tile_window(op, tile, start_scalars(op, local, 2), sizes);
    const InstructionId old = code.dynamic_slice(tile.id, window.starts, window.sizes);
    const InstructionId update = part_of_update(code, local.operands[1].id, window);
    const InstructionId mixed = code.select_each(is_updated(code, window, sizes), update, old);
    return std::vector{code.update(tile.id, mixed, window.starts)};
  };
  return op.by_factors(form);
}

}  // namespace hilo
