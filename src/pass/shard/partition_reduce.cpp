// reduce. Dimensions that are kept are local. Of those that are reduced each device reduces its
// tile: what a sum is made of is added up, of the greatest value and its index the value is told to
// all and then the index, and parts under any other computation are gathered, as few as there are
// devices, and reduced again.
#include <algorithm>
#include <cstring>

#include "eval/eval.h"
#include "pass/extreme_index.h"
#include "pass/shard/device_parts.h"
#include "pass/shard/identity_element.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

bool is_sharded(const LocalOperands& local, std::span<const size_t> factors) {
  return std::ranges::any_of(factors,
                             [&](size_t factor) { return !local.roles.axes[factor].empty(); });
}

// The initial value on the first device of each group, the neutral element on the others.
InstructionId initial_once(OpPartition& op, InstructionId initial, InstructionId neutral,
                           const AxisSharding& result) {
  LocalCode code = op.code();
  const Literal *given = constant_of(op.module(), initial),
                *none = constant_of(op.module(), neutral);
  if (given && none && std::ranges::equal(given->raw(), none->raw())) return initial;
  return code.select(code.is_first(*result.mesh, result.unreduced), initial, neutral);
}

class ReducePartition {
 public:
  explicit ReducePartition(OpPartition& op) : op_(op), arrays_(op.operand_count() / 2) {
    for (int64_t dim : op.attributes<ReduceAttributes>().dimensions)
      reduced_.push_back(static_cast<size_t>(dim));
    for (size_t factor = 0; factor < op.factors().factors.size(); ++factor)
      if (op.factors().factors[factor].kind == Kind::Reduction) factors_.push_back(factor);
    const auto combiner = find_combiner(op.module(), op.attributes<ReduceAttributes>().to_apply);
    if (combiner && arrays_ == 1) monoid_ = op.module()[combiner->instruction].op;
    if (monoid_)
      neutral_ = neutral_beside(constant_of(op.module(), op.operand(arrays_)), *monoid_,
                                op.operand_shape(0).type);
    if (arrays_ == 2)
      extreme_ = find_extreme(op.module(), op.attributes<ReduceAttributes>().to_apply);
  }

  Result<Shards> run() {
    if (neutral_ && !reduction_name(*monoid_).empty()) return op_.by_factors(by_summands());
    const bool can_gather = extreme_ || stays_at_rest();
    ShardingFactors factors = op_.factors();
    for (ShardingFactor& factor : factors.factors)
      if (factor.kind == Kind::Reduction && can_gather) factor.kind = Kind::Permutation;
    op_.set_factors(std::move(factors));
    return op_.by_factors(extreme_ ? by_extreme() : by_parts());
  }

 private:
  LocalForm by_summands() {
    LocalForm form;
    form.reduction = reduction_name(*monoid_);
    form.emit = [this](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
      std::vector<InstructionId> operands = local.ids();
      if (is_sharded(local, factors_)) {
        LocalCode code = op_.code();
        const InstructionId filling = code.constant(*neutral_);
        operands[0] = op_.masked(local.operands[0], reduced_, filling);
        operands[1] = initial_once(op_, operands[1], filling, local.results[0]);
      }
      return op_.clone(operands, local.results);
    };
    return form;
  }

  LocalForm by_parts() {
    LocalForm form = by_tiles();
    form.sent_bytes = [this](const Roles& roles) {
      return bytes_to_gather(op_, roles, axes_of(roles, factors_));
    };
    form.emit = [this](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
      std::vector<InstructionId> operands = local.ids();
      const std::vector<InstructionId> parts = reduced_tiles(local);
      if (!is_sharded(local, factors_)) return parts;
      for (size_t i = 0; i < arrays_; ++i) {
        const Shard part = {parts[i], local.results[i], *local.question.results[i].shape};
        HILO_TRY(operands[i], gathered_parts(op_, part, axes_of(local.roles, factors_)));
      }
      const InstructionId out = op_.clone_value(operands, local.results);
      op_.module().mutable_attributes<ReduceAttributes>(out).dimensions = {0};
      return op_.partitioner().split(out);
    };
    return form;
  }

  // All devices learn the greatest value, and those that have it say at which index.
  LocalForm by_extreme() {
    LocalForm form = by_tiles();
    form.sent_bytes = [this](const Roles& roles) {
      const SubAxes axes = axes_of(roles, factors_);
      return 2 * bytes_to_gather(op_, roles, axes) / static_cast<double>(axes_size(axes));
    };
    form.emit = [this](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
      const std::vector<InstructionId> own = reduced_tiles(local);
      if (!is_sharded(local, factors_)) return own;
      const SubAxes axes = axes_of(local.roles, factors_);
      LocalCode code = op_.code();
      const auto combined = [&](Op op, InstructionId value) {
        return code.all_reduce(value, *op_.partitioner().mesh(), axes,
                               code.reducer(op, code.type(value)),
                               op_.partitioner().next_channel());
      };
      const InstructionId greatest = combined(*extreme_, own[0]);
      InstructionId has_it = code.compare(own[0], greatest, ComparisonDirection::Eq);
      if (is_floating(code.type(own[0])))
        has_it = code.binary(Op::Or, has_it, code.compare(own[0], own[0], ComparisonDirection::Ne));
      const auto no_index = identity_element(Op::Minimum, code.type(own[1]));
      check(no_index.has_value(), "indices without a greatest one");
      const InstructionId index =
          code.select_each(has_it, own[1], code.splat(code.dims(own[1]), *no_index));
      return std::vector{greatest, combined(Op::Minimum, index)};
    };
    return form;
  }

  LocalForm by_tiles() {
    LocalForm form;
    form.may_shard = [this](size_t factor) {
      const Kind kind = op_.factors().factors[factor].kind;
      return kind == Kind::Pass || kind == Kind::Permutation;
    };
    return form;
  }

  // The instruction of tiles, whose padding is what reductions begin with.
  std::vector<InstructionId> reduced_tiles(const LocalOperands& local) {
    std::vector<InstructionId> operands = local.ids();
    for (size_t i = 0; is_sharded(local, factors_) && i < arrays_; ++i)
      operands[i] = op_.masked(local.operands[i], reduced_, operands[arrays_ + i]);
    return op_.clone(operands, local.results);
  }

  // Whether initial values combined with themselves stay what they are, so that it does not matter
  // how often they are combined with a commutative and associative computation's elements.
  bool stays_at_rest() {
    std::vector<Literal> arguments;
    for (size_t i = 0; i < 2 * arrays_; ++i) {
      const Literal* initial = constant_of(op_.module(), op_.operand(arrays_ + i % arrays_));
      if (!initial) return false;
      arguments.push_back(*initial);
    }
    const auto combined =
        evaluate_computation(op_.module(), op_.attributes<ReduceAttributes>().to_apply, arguments,
                             {.threads = 1, .is_verified = true});
    if (!combined) return false;
    for (size_t i = 0; i < arrays_; ++i) {
      const Literal& one = combined->shape().is_tuple() ? combined->elements()[i] : *combined;
      if (!std::ranges::equal(one.raw(), arguments[i].raw())) return false;
    }
    return true;
  }

  OpPartition& op_;
  const size_t arrays_;
  std::vector<size_t> reduced_;  // dimensions
  std::vector<size_t> factors_;  // of these
  std::optional<Op> monoid_;
  std::optional<Literal> neutral_;
  std::optional<Op> extreme_;  // of a value with its index
};

}  // namespace

Result<Shards> partition_Reduce(OpPartition& op) { return ReducePartition(op).run(); }

}  // namespace hilo
