// batch-norm-training, -inference and -grad, in f64. Formulas: XLA's operation semantics
// (openxla.org/xla/operation_semantics); the variance is the biased one.
#include <cmath>

#include "eval/dynamic_sizes.h"
#include "eval/values.h"

namespace hilo {
namespace {

using Numbers = std::vector<double>;

struct Normalization {
  int64_t features, inner, count;  // elements of each feature
  double epsilon;

  explicit Normalization(const Call& call) {
    const auto& a = call.attributes<BatchNormAttributes>();
    const Shape& shape = call.operands[0].shape();
    features = shape.dims[a.feature_index];
    inner = row_major_strides(shape.dims)[a.feature_index];
    count = features ? element_count(shape) / features : 0;
    epsilon = static_cast<float>(a.epsilon);  // XLA keeps it as a float
  }
  int64_t feature(int64_t position) const { return position / inner % features; }
  // The sums over each feature of term(position, feature).
  Numbers sums(int64_t elements, const auto& term) const {
    Numbers out(features, 0);
    for (int64_t i = 0; i < elements; ++i) out[feature(i)] += term(i, feature(i));
    return out;
  }
};

Numbers divided(Numbers values, double by) {
  for (double& value : values) value /= by;
  return values;
}

Numbers normalized(const Normalization& n, const Numbers& x, const Numbers& scale,
                   const Numbers& offset, const Numbers& mean, const Numbers& variance) {
  Numbers out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t f = n.feature(i);
    out[i] = (x[i] - mean[f]) / std::sqrt(variance[f] + n.epsilon) * scale[f] + offset[f];
  }
  return out;
}

// Of the operand, and of each feature; elements that are not there do not count.
Result<Literal> on_sizes(Call& call, OpFunction op) {
  const Dims sizes = sizes_of(call.operands[0]);
  const Dims features = {sizes[call.attributes<BatchNormAttributes>().feature_index]};
  return evaluate_cut(call, op, std::array{sizes, features, features});
}

}  // namespace

Result<Literal> evaluate_BatchNormTraining(Call& call) {
  if (has_cut_operand(call)) return on_sizes(call, evaluate_BatchNormTraining);
  const Normalization n(call);
  const Numbers x = values_of<double>(call.operands[0]),
                scale = values_of<double>(call.operands[1]);
  const Numbers offset = values_of<double>(call.operands[2]);
  const int64_t size = x.size();
  const Numbers mean = divided(n.sums(size, [&](auto i, auto) { return x[i]; }), n.count);
  const Numbers variance = divided(
      n.sums(size, [&](auto i, auto f) { return (x[i] - mean[f]) * (x[i] - mean[f]); }), n.count);
  Literal out = call.make();
  store_values<double>(normalized(n, x, scale, offset, mean, variance), out.mutable_elements()[0]);
  store_values<double>(mean, out.mutable_elements()[1]);
  store_values<double>(variance, out.mutable_elements()[2]);
  return out;
}

Result<Literal> evaluate_BatchNormInference(Call& call) {
  if (has_cut_operand(call)) return on_sizes(call, evaluate_BatchNormInference);
  Literal out = call.make();
  store_values<double>(
      normalized(Normalization(call), values_of<double>(call.operands[0]),
                 values_of<double>(call.operands[1]), values_of<double>(call.operands[2]),
                 values_of<double>(call.operands[3]), values_of<double>(call.operands[4])),
      out);
  return out;
}

Result<Literal> evaluate_BatchNormGrad(Call& call) {
  if (has_cut_operand(call)) return on_sizes(call, evaluate_BatchNormGrad);
  const Normalization n(call);
  const Numbers x = values_of<double>(call.operands[0]),
                scale = values_of<double>(call.operands[1]);
  const Numbers mean = values_of<double>(call.operands[2]);
  const Numbers variance = values_of<double>(call.operands[3]);
  const Numbers dy = values_of<double>(call.operands[4]);
  const int64_t size = x.size();
  const auto deviation = [&](int64_t i, int64_t f) {
    return (x[i] - mean[f]) / std::sqrt(variance[f] + n.epsilon);
  };
  const Numbers offset_grad = n.sums(size, [&](auto i, auto) { return dy[i]; });
  const Numbers scale_grad = n.sums(size, [&](auto i, auto f) { return dy[i] * deviation(i, f); });
  Numbers operand_grad(size);
  for (int64_t i = 0; i < size; ++i) {
    const int64_t f = n.feature(i);
    const double mean_part = (offset_grad[f] + deviation(i, f) * scale_grad[f]) / n.count;
    operand_grad[i] = scale[f] / std::sqrt(variance[f] + n.epsilon) * (dy[i] - mean_part);
  }
  Literal out = call.make();
  store_values<double>(operand_grad, out.mutable_elements()[0]);
  store_values<double>(scale_grad, out.mutable_elements()[1]);
  store_values<double>(offset_grad, out.mutable_elements()[2]);
  return out;
}

}  // namespace hilo
