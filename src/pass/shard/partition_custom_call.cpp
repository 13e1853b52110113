// Custom calls by what is known of them: those that move nothing, batches of matrices, the best
// elements of rows. Others work on whole operands.
#include <algorithm>
#include <charconv>

#include "eval/eval.h"
#include "pass/shard/device_parts.h"
#include "pass/shard/factor_list.h"
#include "pass/shard/partition_region.h"
#include "pass/shard/partition_single_device.h"
#include "pass/shard/partition_sort.h"
#include "pass/shard/sharding_rule.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

std::vector<Shape> leaves_of(OpPartition& op) {
  std::vector<Shape> out;
  const auto add = [&](const Shape& leaf, std::span<const int64_t>) { out.push_back(leaf); };
  for (size_t i = 0; i < op.operand_count(); ++i) for_each_leaf(op.operand_shape(i), add);
  for_each_leaf(op.shape(), add);
  return out;
}

// The instruction on tiles. Layouts that it asks for are of tiles too.
Result<std::vector<InstructionId>> call_on_tiles(OpPartition& op, const LocalOperands& local,
                                                 std::span<const InstructionId> operands) {
  const InstructionId out = op.clone_value(operands, local.results);
  auto& layouts =
      op.module().mutable_attributes<CustomCallAttributes>(out).operand_layout_constraints;
  if (layouts && layouts->size() == local.operands.size())
    for (size_t i = 0; i < layouts->size(); ++i)
      if ((*layouts)[i].is_array())
        (*layouts)[i] = local_shape((*layouts)[i], local.operands[i].sharding);
  return op.partitioner().split(out);
}

// By the rule that the framework gave. A factor that only operands or only results have is one that
// the call needs or makes whole.
Result<Shards> by_rule(OpPartition& op) {
  const ShardingFactors& factors = op.factors();
  const auto has = [](const std::vector<DimensionFactors>& arrays, size_t factor) {
    return std::ranges::any_of(arrays, [&](const DimensionFactors& dims) {
      return std::ranges::any_of(
          dims, [&](const auto& one) { return std::ranges::count(one, factor) > 0; });
    });
  };
  LocalForm form;
  form.may_shard = [&](size_t factor) {
    const Kind kind = factors.factors[factor].kind;
    return kind == Kind::Reduction ||
           (kind == Kind::Pass && has(factors.operands, factor) && has(factors.results, factor));
  };
  form.even_alone = [&](size_t factor) { return factors.factors[factor].kind == Kind::Reduction; };
  form.emit = [&](const LocalOperands& local) { return call_on_tiles(op, local, local.ids()); };
  return op.by_factors(form);
}

// How many dimensions in front are a batch, of which each element has its own results: as JAX says,
// and what stands before the matrices of LAPACK's routines.
size_t batch_dims(OpPartition& op, const CustomCallInfo* known) {
  const auto& said = op.module().extra(op.module()[op.id()]).frontend_attributes;
  size_t out = 0;
  if (const auto at = said.find("num_batch_dims"); at != said.end()) {
    const std::string& text = at->second.text;
    std::from_chars(text.data(), text.data() + text.size(), out);
  } else if (known && known->family == "lapack" && op.operand_count() > 0 &&
             op.attributes<CustomCallAttributes>().api_version == CustomCallApiVersion::TypedFfi &&
             op.operand_shape(0).rank() > 2) {
    out = static_cast<size_t>(op.operand_shape(0).rank()) - 2;
  }
  const std::vector<Shape> leaves = leaves_of(op);
  for (const Shape& leaf : leaves) {
    if (!leaf.is_array()) return 0;
    out = std::min(out, leaf.dims.size());
    const auto same = std::ranges::mismatch(leaf.dims, leaves[0].dims).in1 - leaf.dims.begin();
    out = std::min(out, static_cast<size_t>(same));
  }
  return out;
}

Result<Shards> by_batch(OpPartition& op, size_t batch) {
  FactorList list(op.module(), op.id());
  const auto results = static_cast<size_t>(leaf_count(op.shape()));
  for (int64_t dim = 0; dim < static_cast<int64_t>(batch); ++dim) {
    const size_t factor = list.share(Kind::Pass, {operand_dim(0, dim)});
    for (size_t i = 1; i < op.operand_count(); ++i) list.put(factor, operand_dim(i, dim));
    for (size_t i = 0; i < results; ++i) list.put(factor, result_dim(i, dim));
  }
  op.set_factors(list.finish());
  LocalForm form;
  form.emit = [&](const LocalOperands& local) { return call_on_tiles(op, local, local.ids()); };
  return op.by_factors(form);
}

// The one dimension in which results differ from the arrays; nothing where there are several.
std::optional<int64_t> chosen_dim(OpPartition& op, size_t arrays) {
  std::optional<int64_t> out;
  const std::vector<Shape> leaves = leaves_of(op);
  if (leaves.size() != 3 * arrays) return std::nullopt;
  const Dims &from = leaves[0].dims, &to = leaves.back().dims;
  for (size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].dims != (i < arrays ? from : i < 2 * arrays ? Dims() : to)) return std::nullopt;
  if (from.size() != to.size()) return std::nullopt;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    if (from[dim] == to[dim]) continue;
    if (out) return std::nullopt;
    out = static_cast<int64_t>(dim);
  }
  return out;
}

// Arrays, as many initial numbers, and of each row of the arrays the best elements.
class PartialReducePartition {
 public:
  PartialReducePartition(OpPartition& op, int64_t dim)
      : op_(op), arrays_(op.operand_count() / 2), dim_(dim) {
    for_each_leaf(op.shape(), [&](const Shape& leaf, std::span<const int64_t>) {
      wanted_ = leaf.dims[static_cast<size_t>(dim)];
    });
  }

  Result<Shards> run() {
    FactorList list(op_.module(), op_.id());
    for (int64_t dim = 0; dim < op_.operand_shape(0).rank(); ++dim) {
      const size_t factor =
          list.share(dim == dim_ ? Kind::Permutation : Kind::Pass, {operand_dim(0, dim)});
      if (dim == dim_) row_ = factor;
      for (size_t i = 0; i < arrays_; ++i) {
        if (i > 0) list.put(factor, operand_dim(i, dim));
        if (dim != dim_) list.put(factor, result_dim(i, dim));
      }
    }
    op_.set_factors(list.finish());
    LocalForm form;
    form.may_shard = [this](size_t factor) {
      return factor == row_ || op_.factors().factors[factor].kind == Kind::Pass;
    };
    form.even_alone = [this](size_t factor) { return factor == row_; };
    form.operations = static_cast<double>(element_count(op_.operand_shape(0)));
    form.sent_bytes = [this](const Roles& roles) {
      const double whole = bytes_to_gather(op_, roles, roles.axes[row_]);
      const int64_t tile = row_size() / axes_size(roles.axes[row_]);
      return whole * static_cast<double>(std::min(tile, wanted_)) / static_cast<double>(wanted_);
    };
    form.emit = [this](const LocalOperands& local) { return emit(local); };
    return op_.by_factors(form);
  }

 private:
  int64_t row_size() { return op_.operand_shape(0).dims[static_cast<size_t>(dim_)]; }

  Result<std::vector<InstructionId>> emit(const LocalOperands& local) {
    const SubAxes& axes = local.roles.axes[row_];
    std::vector<InstructionId> operands = local.ids();
    if (axes.empty()) return call_on_tiles(op_, local, operands);
    LocalCode code = op_.code();
    const Dims tile = code.dims(operands[0]);
    const auto found = best(operands, std::min(tile[static_cast<size_t>(dim_)], wanted_));
    for (size_t i = 0; i < arrays_; ++i) {
      Shape shape = *local.question.results[i].shape;
      shape.dims[static_cast<size_t>(dim_)] = code.dims(found[i])[static_cast<size_t>(dim_)];
      HILO_TRY(const InstructionId parts,
               gathered_parts(op_, {found[i], local.results[i], std::move(shape)}, axes));
      operands[i] = side_by_side(code, parts);
    }
    return best(operands, wanted_);
  }

  std::vector<InstructionId> best(std::span<const InstructionId> operands, int64_t count) {
    const InstructionId out = op_.partitioner().clone(op_.id(), operands);
    Module& module = op_.module();
    module.mutable_extra(out).sharding = nullptr;
    module.mutable_attributes<CustomCallAttributes>(out).operand_layout_constraints.reset();
    Shape shape = op_.shape();
    const std::function<void(Shape&)> cut = [&](Shape& one) {
      for (Shape& element : one.elements) cut(element);
      if (one.is_tuple()) return;
      Dims dims = module.shape(operands[0]).dims;
      dims[static_cast<size_t>(dim_)] = count;
      one = Shape::array(one.type, std::move(dims));
    };
    cut(shape);
    op_.editor().set_shape(out, shape);
    return op_.partitioner().split(out);
  }

  // [devices, dims]: one device's behind the other's in the dimension.
  InstructionId side_by_side(LocalCode& code, InstructionId parts) const {
    Dims order, dims = code.dims(parts);
    for (int64_t dim = 1; dim < std::ssize(dims); ++dim) order.push_back(dim);
    order.insert(order.begin() + dim_, 0);
    parts = code.transpose(parts, std::move(order));
    dims[static_cast<size_t>(dim_ + 1)] *= dims[0];
    dims.erase(dims.begin());
    return code.reshape(parts, std::move(dims));
  }

  OpPartition& op_;
  const size_t arrays_;
  const int64_t dim_;
  int64_t wanted_ = 0;
  size_t row_ = 0;  // factor
};

// Whether the call's computation puts smaller elements first.
bool wants_smallest(OpPartition& op) {
  const auto& called = op.attributes<CustomCallAttributes>().called_computations;
  if (called.empty()) return false;
  const InstructionId root = op.module()[called[0]].root;
  if (op.module()[root].op != Op::Compare) return false;
  const auto direction = op.module().attributes<CompareAttributes>(root).direction;
  return direction == ComparisonDirection::Lt || direction == ComparisonDirection::Le;
}

bool is_top_k(OpPartition& op) {
  const Shape& shape = op.shape();
  return op.operand_count() == 1 && shape.is_tuple() && shape.elements.size() == 2 &&
         shape.elements[0].is_array() && shape.elements[1].is_array() &&
         shape.elements[0].dims == shape.elements[1].dims &&
         op.operand_shape(0).rank() == shape.elements[0].rank() && shape.elements[0].rank() > 0;
}

}  // namespace

Result<Shards> partition_CustomCall(OpPartition& op) {
  const std::string& target = op.attributes<CustomCallAttributes>().custom_call_target;
  const CustomCallInfo* known = find_custom_call(target);
  if (target == "SPMDFullToShardShape") return cross_region(op, true);
  if (target == "SPMDShardToFullShape") return cross_region(op, false);
  if (is_identity_call(op.module(), op.id())) return op.as_stated(op.operand_shards(0));
  if (const auto device = only_device(op)) return on_device(op, *device);
  if (target == "TopK" && is_top_k(op))
    return partition_top_k(op, op.shape().elements[0].dims.back(), !wants_smallest(op));
  if (target == "PartialReduce" || target == "ApproxTopK")
    if (const auto dim = chosen_dim(op, op.operand_count() / 2))
      return PartialReducePartition(op, *dim).run();
  if (op.module().extra(op.module()[op.id()]).frontend_attributes.contains("xla.sdy.sharding_rule"))
    return by_rule(op);
  if (const size_t batch = batch_dims(op, known)) return by_batch(op, batch);
  return op.replicated();
}

}  // namespace hilo
