// gather by the cheapest of its ways. Batch dimensions, and those that slices take whole, are
// local; so is a dimension along which the indices count up. Of a dimension that indices choose
// from, each device has the slices that lie in its tile, and all together they are the result.
#include <algorithm>
#include <map>
#include <set>

#include "pass/shard/factor_list.h"
#include "pass/shard/identity_element.h"
#include "pass/shard/tile_indices.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

class GatherPartition {
 public:
  explicit GatherPartition(OpPartition& op)
      : op_(op),
        a_(op.attributes<GatherAttributes>()),
        array_(op.operand_shape(0)),
        indices_(op.operand_shape(1)),
        sum_(neutral_sum(array_.type)) {
    for (int64_t dim = 0; dim < op.shape().rank(); ++dim)
      if (!lists(a_.offset_dims, dim)) batch_.push_back(dim);
  }

  Result<Shards> run() {
    find_factors();
    LocalForm form;
    form.may_shard = [this](size_t factor) {
      const Kind kind = op_.factors().factors[factor].kind;
      return has_small_dims(array_) && (kind == Kind::Pass || (kind == Kind::Reduction && sum_));
    };
    if (sum_) form.reduction = sum_->name;
    form.operations = static_cast<double>(element_count(op_.shape()));
    form.emit = [this](const LocalOperands& local) { return emit(local); };
    return op_.by_factors(form);
  }

 private:
  bool takes_whole(int64_t dim) const { return a_.slice_sizes[dim] == array_.dims[dim]; }
  // The result's dimension of a dimension of the indices.
  int64_t result_of_indices(int64_t dim) const {
    return batch_[static_cast<size_t>(dim - (dim > a_.index_vector_dim ? 1 : 0))];
  }

  void find_factors() {
    FactorList list(op_.module(), op_.id());
    std::map<int64_t, size_t> of_indices;  // by dimension of the indices
    for (int64_t dim = 0; dim < indices_.rank(); ++dim)
      if (dim != a_.index_vector_dim)
        of_indices[dim] =
            list.share(Kind::Pass, {operand_dim(1, dim), result_dim(0, result_of_indices(dim))});
    for (size_t k = 0; k < a_.operand_batching_dims.size(); ++k)
      list.put(of_indices.at(a_.start_indices_batching_dims[k]),
               operand_dim(0, a_.operand_batching_dims[k]));
    size_t window = 0;
    for (int64_t dim = 0; dim < array_.rank(); ++dim) {
      const bool is_collapsed = lists(a_.collapsed_slice_dims, dim);
      if (lists(a_.operand_batching_dims, dim)) continue;
      if (!is_collapsed && takes_whole(dim))
        list.share(Kind::Pass, {operand_dim(0, dim), result_dim(0, a_.offset_dims[window])});
      else find_indexed(list, of_indices, dim);
      window += is_collapsed ? 0 : 1;
    }
    op_.set_factors(list.finish());
  }

  void find_indexed(FactorList& list, const std::map<int64_t, size_t>& of_indices, int64_t dim) {
    const auto component = std::ranges::find(a_.start_index_map, dim);
    if (component == a_.start_index_map.end()) return;
    indexed_.insert(dim);
    const auto counting = counting_dim(op_.module(), op_.operand(1), a_.index_vector_dim,
                                       component - a_.start_index_map.begin());
    const bool counts = counting && a_.slice_sizes[dim] == 1 && !counting_.contains(*counting) &&
                        !lists(a_.start_indices_batching_dims, *counting) &&
                        indices_.dims[*counting] == array_.dims[dim];
    if (!counts) {
      list.share(Kind::Reduction, {operand_dim(0, dim)});
      return;
    }
    list.put(of_indices.at(*counting), operand_dim(0, dim));
    counting_.insert(*counting);
  }

  Result<std::vector<InstructionId>> emit(const LocalOperands& local) {
    const Shard& tile = local.operands[0];
    std::vector<InstructionId> operands = local.ids();
    std::vector<size_t> cut;  // components
    for (size_t c = 0; c < a_.start_index_map.size(); ++c)
      if (is_cut(tile, a_.start_index_map[c])) cut.push_back(c);
    if (cut.empty()) return std::vector{gather(operands, local)};
    LocalCode code = op_.code();
    TileIndices indices(op_, operands[1], a_.start_index_map, a_.index_vector_dim);
    make_local(tile, indices);
    const InstructionId neutral = sum_ ? code.constant(sum_->neutral) : InstructionId();
    operands = {padded(code, tile, neutral), indices.all()};
    const InstructionId out = gather(operands, local);
    return std::vector{masked(code, tile, indices, cut, out, neutral)};
  }

  bool is_cut(const Shard& tile, int64_t dim) const {
    return indexed_.contains(dim) && tile_count(tile.sharding, static_cast<size_t>(dim)) > 1;
  }
  bool is_padded(const Shard& tile, int64_t dim) const {
    return is_cut(tile, dim) && a_.slice_sizes[dim] > 1;
  }

  // Slices may begin before the tile and end behind it: as much of the filling lies around it.
  InstructionId padded(LocalCode& code, const Shard& tile, InstructionId neutral) {
    Dims around(array_.dims.size());
    for (int64_t dim : a_.start_index_map)
      if (is_padded(tile, dim)) around[dim] = a_.slice_sizes[dim];
    if (std::ranges::count(around, 0) == std::ssize(around)) return tile.id;
    return code.pad(tile.id, around, around, neutral);
  }

  void make_local(const Shard& tile, TileIndices& indices) {
    LocalCode code = op_.code();
    Dims least, greatest;
    std::vector<InstructionId> offsets;
    for (int64_t dim : a_.start_index_map) {
      least.push_back(0);
      greatest.push_back(array_.dims[dim] - a_.slice_sizes[dim]);
      offsets.emplace_back();
      if (!is_cut(tile, dim)) continue;
      offsets.back() = op_.offset(tile.sharding, tile.shape, static_cast<size_t>(dim));
      if (is_padded(tile, dim))
        offsets.back() =
            code.binary(Op::Subtract, offsets.back(), code.number(a_.slice_sizes[dim]));
    }
    indices.clamp(least, greatest);
    indices.subtract(offsets);
  }

  // What other devices have is the filling.
  InstructionId masked(LocalCode& code, const Shard& tile, TileIndices& indices,
                       std::span<const size_t> cut, InstructionId out, InstructionId neutral) {
    InstructionId mask;
    for (size_t c : cut) {
      const int64_t dim = a_.start_index_map[c];
      const auto counts = std::ranges::any_of(counting_, [&](int64_t one) {
        return op_.factors().operands[1][one] == op_.factors().operands[0][dim];
      });
      if (is_padded(tile, dim) || counts) continue;
      const InstructionId at = indices.component(c);
      const auto compared = [&](int64_t bound, ComparisonDirection direction) {
        return code.compare(at, code.broadcast(code.number(bound), code.dims(at), {}), direction);
      };
      const InstructionId is_here =
          code.binary(Op::And, compared(0, ComparisonDirection::Ge),
                      compared(code.dims(tile.id)[dim], ComparisonDirection::Lt));
      mask = mask ? code.binary(Op::And, mask, is_here) : is_here;
    }
    if (!mask) return out;
    const Dims dims = code.dims(out);
    return code.select_each(code.broadcast(mask, dims, batch_), out,
                            code.broadcast(neutral, dims, {}));
  }

  InstructionId gather(std::span<const InstructionId> operands, const LocalOperands& local) {
    const InstructionId out = op_.clone_value(operands, local.results);
    const Dims tile = op_.module().shape(operands[0]).dims;
    auto& a = op_.module().mutable_attributes<GatherAttributes>(out);
    // Neither those that a device has made nor padding are in the order that the program says.
    if (operands[1] != local.operands[1].id || !is_even(local.operands[1]))
      a.indices_are_sorted = false;
    for (size_t dim = 0; dim < tile.size(); ++dim)
      if (a.slice_sizes[dim] == array_.dims[dim] && array_.dims[dim] != 1)
        a.slice_sizes[dim] = tile[dim];
    return out;
  }

  OpPartition& op_;
  const GatherAttributes a_;
  const Shape array_, indices_;
  const std::optional<NeutralSum> sum_;
  Dims batch_;                  // dimensions of the result
  std::set<int64_t> indexed_;   // dimensions of the array that indices choose from
  std::set<int64_t> counting_;  // dimensions of the indices that are one of the array
};

}  // namespace

Result<Shards> partition_Gather(OpPartition& op) { return GatherPartition(op).run(); }

}  // namespace hilo
