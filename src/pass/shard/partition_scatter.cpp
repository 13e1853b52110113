// scatter by the cheapest of its ways. Batch dimensions and those that windows cover are local. Of
// a dimension that indices choose from, each device takes the updates of its own tile; what lies
// elsewhere is dropped, as what lies outside is. Of sharded updates each device combines its own,
// and all together, with the array at the end, they are the result.
#include <algorithm>
#include <map>
#include <set>

#include "pass/shard/factor_list.h"
#include "pass/shard/identity_element.h"
#include "pass/shard/new_summands.h"
#include "pass/shard/tile_indices.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

class ScatterPartition {
 public:
  explicit ScatterPartition(OpPartition& op)
      : op_(op),
        a_(op.attributes<ScatterAttributes>()),
        arrays_(op.operand_count() / 2),
        array_(op.operand_shape(0)),
        indices_(op.operand_shape(arrays_)),
        updates_(op.operand_shape(arrays_ + 1)) {
    for (int64_t dim = 0; dim < updates_.rank(); ++dim)
      if (!lists(a_.update_window_dims, dim)) batch_.push_back(dim);
    if (const auto combiner = find_combiner(op.module(), a_.to_apply); combiner && arrays_ == 1)
      monoid_ = op.module()[combiner->instruction].op;
    if (monoid_) neutral_ = exact_identity(*monoid_, array_.type);
  }

  Result<Shards> run() {
    find_factors();
    std::vector<LocalForm> forms = {into_array()};
    if (neutral_ && !reduction_name(*monoid_).empty()) {
      HILO_TRY(LocalForm form, into_neutral());
      forms.push_back(std::move(form));
    }
    return op_.by_cheapest(forms);
  }

 private:
  bool may_shard(size_t factor, Kind most) const {
    return has_small_dims(array_) && op_.factors().factors[factor].kind <= most;
  }

  LocalForm into_array() {
    LocalForm form;
    form.may_shard = [this](size_t factor) { return may_shard(factor, Kind::Pass); };
    form.even_alone = [this](size_t factor) { return is_counting(factor); };
    form.operations = static_cast<double>(element_count(updates_));
    form.emit = [this](const LocalOperands& local) { return emit(local, local.ids()); };
    return form;
  }

  // Updates of a device are combined with nothing, and the array comes in where it is wanted.
  Result<LocalForm> into_neutral() {
    HILO_TRY(const std::vector<SharedSharding> wanted, op_.wanted());
    const Shard array = op_.operand_shards(0)[0];
    LocalForm form = into_array();
    form.before_finish = {combined_sharding(array.sharding, wanted[0])};
    const double sent = op_.partitioner().bytes_to_bring(array, form.before_finish[0]);
    form.may_shard = [this](size_t factor) { return may_shard(factor, Kind::Reduction); };
    form.sent_bytes = [sent](const Roles&) { return sent; };
    form.reduction = reduction_name(*monoid_);
    form.leaves_out = [](size_t leaf) { return leaf == 0; };
    form.emit = [this](const LocalOperands& local) {
      std::vector<InstructionId> operands = local.ids();
      LocalCode code = op_.code();
      operands[0] = code.splat(local_dims(array_.dims, local.results[0]), *neutral_);
      operands[2] =
          op_.masked(local.operands[2], op_.dims_of(2, Kind::Reduction), code.constant(*neutral_));
      return emit(local, std::move(operands));
    };
    form.finish = [this](Shards out) -> Result<Shards> {
      const Shard array = op_.operand_shards(0)[0];
      HILO_TRY(const InstructionId before, op_.partitioner().resharded(array, out[0].sharding));
      out[0].id = op_.code().binary(*monoid_, before, out[0].id);
      return out;
    };
    return form;
  }

  // Where summands are wanted, of another op than combines here: tiles that are such amid neutral
  // elements, the array's own if they can be.
  AxisSharding combined_sharding(AxisSharding array, const AxisSharding& wanted) const {
    if (reduction_of(wanted.unreduced_op) == *monoid_) return wanted;
    array.unreduced.clear();
    return before_new_summands(array_.dims, array, wanted);
  }

  bool is_counting(size_t factor) const {
    return std::ranges::any_of(counting_, [&](int64_t dim) {
      return op_.factors().operands[arrays_][static_cast<size_t>(dim)][0] == factor;
    });
  }

  void find_factors() {
    FactorList list(op_.module(), op_.id());
    std::map<int64_t, size_t> of_indices;  // by dimension of the indices: of the array's dimension
    for (size_t k = 0; k < a_.input_batching_dims.size(); ++k)
      of_indices[a_.scatter_indices_batching_dims[k]] =
          share_array(list, a_.input_batching_dims[k]);
    size_t window = 0;
    for (int64_t dim = 0; dim < array_.rank(); ++dim) {
      const bool is_inserted = lists(a_.inserted_window_dims, dim);
      if (lists(a_.input_batching_dims, dim)) continue;
      windows_.push_back(is_inserted ? 1 : updates_.dims[a_.update_window_dims[window]]);
      find_window_dim(list, of_indices, dim, is_inserted ? -1 : a_.update_window_dims[window]);
      window += is_inserted ? 0 : 1;
    }
    for (int64_t dim = 0; dim < indices_.rank(); ++dim) {
      if (dim == a_.index_vector_dim) continue;
      if (!of_indices.contains(dim))
        of_indices[dim] = list.share(Kind::Reduction, {operand_dim(arrays_, dim)});
      else list.put(of_indices.at(dim), operand_dim(arrays_, dim));
      const int64_t of_updates = batch_[static_cast<size_t>(dim - (dim > a_.index_vector_dim))];
      for (size_t i = 0; i < arrays_; ++i)
        list.put(of_indices.at(dim), operand_dim(arrays_ + 1 + i, of_updates));
    }
    op_.set_factors(list.finish());
  }

  // A factor of all arrays and results.
  size_t share_array(FactorList& list, int64_t dim) {
    const size_t factor = list.share(Kind::Pass, {operand_dim(0, dim), result_dim(0, dim)});
    for (size_t i = 1; i < arrays_; ++i) {
      list.put(factor, operand_dim(i, dim));
      list.put(factor, result_dim(i, dim));
    }
    return factor;
  }

  // `of_updates`: the dimension of the updates' windows; -1 of an inserted one.
  void find_window_dim(FactorList& list, std::map<int64_t, size_t>& of_indices, int64_t dim,
                       int64_t of_updates) {
    if (of_updates >= 0 && updates_.dims[of_updates] == array_.dims[dim]) {
      const size_t factor = share_array(list, dim);
      for (size_t i = 0; i < arrays_; ++i)
        list.put(factor, operand_dim(arrays_ + 1 + i, of_updates));
      return;
    }
    const auto component = std::ranges::find(a_.scatter_dims_to_operand_dims, dim);
    if (component == a_.scatter_dims_to_operand_dims.end()) return;
    indexed_[dim] = windows_.back();
    const size_t factor = share_array(list, dim);
    if (of_updates >= 0) return;
    const auto counting = counting_dim(op_.module(), op_.operand(arrays_), a_.index_vector_dim,
                                       component - a_.scatter_dims_to_operand_dims.begin());
    if (!counting || of_indices.contains(*counting) || indices_.dims[*counting] != array_.dims[dim])
      return;
    of_indices[*counting] = factor;
    counting_.insert(*counting);
  }

  Result<std::vector<InstructionId>> emit(const LocalOperands& local,
                                          std::vector<InstructionId> operands) {
    const AxisSharding& result = local.results[0];
    const auto is_cut = [&](int64_t dim) {
      return indexed_.contains(dim) && tile_count(result, static_cast<size_t>(dim)) > 1;
    };
    if (std::ranges::none_of(a_.scatter_dims_to_operand_dims, is_cut))
      return op_.partitioner().split(clone(operands, local));
    LocalCode code = op_.code();
    Dims around(array_.dims.size());
    std::vector<InstructionId> offsets;
    TileIndices indices(op_, operands[arrays_], a_.scatter_dims_to_operand_dims,
                        a_.index_vector_dim);
    InstructionId is_inside;
    for (size_t c = 0; c < a_.scatter_dims_to_operand_dims.size(); ++c) {
      const int64_t dim = a_.scatter_dims_to_operand_dims[c];
      offsets.emplace_back();
      if (!is_cut(dim)) continue;
      around[dim] = indexed_.at(dim) - 1;
      offsets.back() =
          code.binary(Op::Subtract, op_.offset(result, array_, dim), code.number(around[dim]));
      const InstructionId here = lies_inside(code, indices.component(c), dim);
      is_inside = is_inside ? code.binary(Op::And, is_inside, here) : here;
    }
    indices.subtract(offsets);
    indices.keep_where(is_inside, -1);
    operands[arrays_] = indices.all();
    return scatter(code, std::move(operands), local, around);
  }

  // Neither those that a device has made nor padding are in the order that the program says.
  InstructionId clone(std::span<const InstructionId> operands, const LocalOperands& local) {
    const InstructionId out = op_.clone_value(operands, local.results);
    if (operands[arrays_] == local.operands[arrays_].id && is_even(local.operands[arrays_]))
      return out;
    auto& a = op_.module().mutable_attributes<ScatterAttributes>(out);
    a.indices_are_sorted = a.unique_indices = false;
    return out;
  }

  // Of the whole array: what is not is dropped wherever it may lie after an offset.
  InstructionId lies_inside(LocalCode& code, InstructionId at, int64_t dim) {
    const auto compared = [&](int64_t bound, ComparisonDirection direction) {
      return code.compare(at, code.broadcast(code.number(bound), code.dims(at), {}), direction);
    };
    return code.binary(Op::And, compared(0, ComparisonDirection::Ge),
                       compared(array_.dims[dim] - indexed_.at(dim), ComparisonDirection::Le));
  }

  // Windows may begin before the tile and end behind it: so much lies around it meanwhile.
  Result<std::vector<InstructionId>> scatter(LocalCode& code, std::vector<InstructionId> operands,
                                             const LocalOperands& local, const Dims& around) {
    const bool is_padded = std::ranges::any_of(around, [](int64_t size) { return size > 0; });
    const Dims tile = local_dims(array_.dims, local.results[0]);
    for (size_t i = 0; i < arrays_ && is_padded; ++i)
      operands[i] = code.pad(operands[i], around, around, code.zeros(code.type(operands[i]), {}));
    const InstructionId out = clone(operands, local);
    if (is_padded) {
      std::vector<Shape> shapes;
      for (size_t i = 0; i < arrays_; ++i)
        shapes.push_back(Shape::array(code.type(operands[i]), code.dims(operands[i])));
      op_.editor().set_shape(out, arrays_ == 1 ? shapes[0] : Shape::tuple(shapes));
    }
    std::vector<InstructionId> leaves = op_.partitioner().split(out);
    for (InstructionId& leaf : leaves) leaf = code.slice(leaf, around, tile);
    return leaves;
  }

  OpPartition& op_;
  const ScatterAttributes a_;
  const size_t arrays_;
  const Shape array_, indices_, updates_;
  std::optional<Op> monoid_;
  std::optional<Literal> neutral_;
  Dims batch_;                          // dimensions of the updates
  Dims windows_;                        // sizes, of dimensions that are no batch
  std::map<int64_t, int64_t> indexed_;  // dimensions that indices choose from: sizes of windows
  std::set<int64_t> counting_;          // dimensions of the indices that are one of the array
};

}  // namespace

Result<Shards> partition_Scatter(OpPartition& op) { return ScatterPartition(op).run(); }

}  // namespace hilo
