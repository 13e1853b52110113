// Batch norms: each device sums its tile, and the sums of each feature are added over the devices.
// Formulas as in pass/expand/batch_norm.cpp; narrow floats are computed in f32.
#include <algorithm>

#include "pass/shard/window_tiles.h"

namespace hilo {
namespace {

using Local = Result<std::vector<InstructionId>>;

class BatchNormPartition {
 public:
  // `arrays`: operands of the operand's shape.
  BatchNormPartition(OpPartition& op, std::vector<size_t> arrays)
      : op_(op),
        attributes_(op.attributes<BatchNormAttributes>()),
        shape_(op.operand_shape(0)),
        type_(bits_of(shape_.type) < 32 ? ElementType::F32 : shape_.type),
        arrays_(std::move(arrays)) {
    const int64_t features = std::max<int64_t>(1, shape_.dims[attributes_.feature_index]);
    count_ = static_cast<double>(element_count(shape_)) / static_cast<double>(features);
    share_factors();
  }

  LocalForm form(Local (BatchNormPartition::*emit)(const LocalOperands&)) {
    LocalForm out;
    out.may_shard = [this](size_t factor) {
      return op_.factors().factors[factor].kind == ShardingFactor::Kind::Pass;
    };
    out.sent_bytes = [this](const Roles& roles) { return sent_bytes(roles); };
    out.emit = [this, emit](const LocalOperands& local) -> Local {
      sharding_ = local.operands[0].sharding;
      return (this->*emit)(local);
    };
    return out;
  }

  // (x - mean) / sqrt(variance + epsilon) * scale + offset, mean, variance
  Local training(const LocalOperands& local) {
    const InstructionId x = taken(local, 0);
    const InstructionId mean = divided(sum(x));
    const InstructionId centred = code().binary(Op::Subtract, x, broadcast(mean));
    const InstructionId variance = divided(sum(code().binary(Op::Multiply, centred, centred)));
    const InstructionId factor =
        code().binary(Op::Multiply, reciprocal_deviation(variance), taken(local, 1));
    const InstructionId y =
        code().binary(Op::Add, code().binary(Op::Multiply, centred, broadcast(factor)),
                      broadcast(taken(local, 2)));
    return given({y, mean, variance});
  }

  Local gradient(const LocalOperands& local) {
    const InstructionId x = taken(local, 0), dy = taken(local, 4);
    const InstructionId factor = reciprocal_deviation(taken(local, 3));
    const InstructionId centred = code().binary(Op::Subtract, x, broadcast(taken(local, 2)));
    const InstructionId d = code().binary(Op::Multiply, centred, broadcast(factor));
    const InstructionId offset = sum(dy), scale = sum(code().binary(Op::Multiply, dy, d));
    const InstructionId common =
        code().binary(Op::Add, broadcast(divided(offset)),
                      code().binary(Op::Multiply, d, broadcast(divided(scale))));
    const InstructionId slope = code().binary(Op::Multiply, taken(local, 1), factor);
    const InstructionId dx =
        code().binary(Op::Multiply, broadcast(slope), code().binary(Op::Subtract, dy, common));
    return given({dx, scale, offset});
  }

 private:
  LocalCode code() { return op_.code(); }

  // Dimensions that are summed over are cut alike in all arrays.
  void share_factors() {
    ShardingFactors factors = op_.factors();
    for (size_t dim = 0; dim < shape_.dims.size(); ++dim) {
      if (static_cast<int64_t>(dim) == attributes_.feature_index) continue;
      summed_.push_back(static_cast<int64_t>(dim));
      const size_t factor = factors.factors.size();
      factors.factors.push_back({shape_.dims[dim]});
      for (size_t array : arrays_) factors.operands[array][dim] = {factor};
      factors.results[0][dim] = {factor};
    }
    op_.set_factors(std::move(factors));
  }

  SubAxes summed_axes(const AxisSharding& sharding) const {
    SubAxes out;
    for (int64_t dim : summed_)
      out.insert(out.end(), sharding.dims[dim].axes.begin(), sharding.dims[dim].axes.end());
    return out;
  }

  // Two sums of a number for each feature.
  double sent_bytes(const Roles& roles) {
    const AxisSharding sharding = sharding_under(op_, shape_, op_.factors().operands[0], roles);
    const auto group = static_cast<double>(axes_size(summed_axes(sharding)));
    const int64_t features = local_dims(shape_.dims, sharding)[attributes_.feature_index];
    if (group == 1) return 0;
    return 2 * (2 * static_cast<double>(features * storage_bytes(type_)) * (group - 1) / group + 1);
  }

  InstructionId taken(const LocalOperands& local, size_t i) {
    return code().convert(local.operands[i].id, type_);
  }
  Local given(std::vector<InstructionId> values) {
    for (InstructionId& value : values) value = code().convert(value, shape_.type);
    return values;
  }

  InstructionId broadcast(InstructionId feature) {
    return code().broadcast(feature, local_dims(shape_.dims, sharding_),
                            {attributes_.feature_index});
  }
  InstructionId divided(InstructionId feature) {
    return code().binary(Op::Divide, feature,
                         code().splat(code().dims(feature), scalar_of(type_, count_)));
  }
  InstructionId reciprocal_deviation(InstructionId variance) {
    const Literal epsilon = scalar_of(type_, static_cast<float>(attributes_.epsilon));
    const InstructionId sum =
        code().binary(Op::Add, variance, code().splat(code().dims(variance), epsilon));
    return op_.editor().add_inferred(code().like(), Op::Rsqrt, std::array{sum});
  }

  InstructionId sum(InstructionId value) {
    LocalCode here = code();
    const std::vector<size_t> dims(summed_.begin(), summed_.end());
    const InstructionId zero = here.zeros(type_, {});
    const InstructionId masked = op_.masked({value, sharding_, shape_}, dims, zero);
    const ComputationId add = here.reducer(Op::Add, type_);
    const InstructionId own =
        op_.editor().add_inferred(here.like(), Op::Reduce, std::array{masked, zero},
                                  ReduceAttributes{.dimensions = summed_, .to_apply = add});
    const SubAxes axes = summed_axes(sharding_);
    if (axes.empty()) return own;
    return here.all_reduce(own, *sharding_.mesh, axes, add, op_.partitioner().next_channel());
  }

  OpPartition& op_;
  const BatchNormAttributes attributes_;
  const Shape shape_;
  const ElementType type_;
  const std::vector<size_t> arrays_;
  double count_ = 1;
  Dims summed_;
  AxisSharding sharding_;  // of the arrays, under the roles
};

}  // namespace

Result<Shards> partition_BatchNormTraining(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  BatchNormPartition norm(op, {0});
  return op.by_factors(norm.form(&BatchNormPartition::training));
}

Result<Shards> partition_BatchNormGrad(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  BatchNormPartition norm(op, {0, 4});
  return op.by_factors(norm.form(&BatchNormPartition::gradient));
}

}  // namespace hilo
