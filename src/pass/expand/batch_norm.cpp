// batch-norm-training, -inference and -grad as sums and elementwise ops.
//   training:  m = Σx/n, v = Σ(x-m)²/n, y = (x-m) / √(v+ε) · scale + offset
//   inference: y = (x-m) / √(v+ε) · scale + offset
//   grad:      d = (x-m) / √(v+ε), offset' = Σy', scale' = Σ(y' d),
//              x' = scale / √(v+ε) · (y' - (offset' + d scale') / n)
// Formulas: XLA's operation semantics. Narrow floats are computed in f32. Assumes nothing. Later
// passes may assume that no batch-norm is left but dynamic ones. Before simplification.
#include "pass/expand/formula.h"

namespace hilo {
namespace {

// A batch-norm's arrays in the type it is computed in, feature vectors spread over the array.
class Normalization {
 public:
  explicit Normalization(Formula& formula)
      : formula_(formula), a_(formula.module().attributes<BatchNormAttributes>(formula.root())) {
    const Shape& shape = formula.module().shape(formula.module().operand(formula.root(), 0));
    declared_ = shape.type;
    type_ = bits_of(declared_) < 32 ? ElementType::F32 : declared_;
    dims_ = shape.dims;
    for (int64_t i = 0; i < shape.rank(); ++i)
      if (i != a_.feature_index) summed_.push_back(i);
    count_ = static_cast<double>(element_count(shape)) /
             static_cast<double>(std::max<int64_t>(1, dims_[a_.feature_index]));
  }

  Term operand(size_t i) { return formula_.convert(formula_.operand(i), type_); }
  Term sum(Term x) { return formula_.sum(x, summed_); }
  Term mean(Term x) { return sum(x) / count_; }
  Term broadcast(Term feature) { return formula_.broadcast(feature, dims_, {a_.feature_index}); }
  // 1 / √(v+ε)
  Term reciprocal_deviation(Term variance) {
    const double epsilon = static_cast<float>(a_.epsilon);
    return formula_.apply(Op::Rsqrt, variance + epsilon);
  }
  Term declared(Term x) { return formula_.convert(x, declared_); }
  double count() const { return count_; }

 private:
  Formula& formula_;
  BatchNormAttributes a_;
  ElementType declared_, type_;
  Dims dims_, summed_;
  double count_;
};

Term expand_training(Formula& f) {
  Normalization n(f);
  const Term x = n.operand(0), scale = n.operand(1), offset = n.operand(2);
  const Term mean = n.mean(x);
  const Term centred = x - n.broadcast(mean);
  const Term variance = n.mean(centred * centred);
  const Term y =
      centred * n.broadcast(n.reciprocal_deviation(variance) * scale) + n.broadcast(offset);
  return f.tuple(std::array{n.declared(y), n.declared(mean), n.declared(variance)});
}

Term expand_inference(Formula& f) {
  Normalization n(f);
  const Term x = n.operand(0), scale = n.operand(1), offset = n.operand(2);
  const Term mean = n.operand(3), variance = n.operand(4);
  return n.declared((x - n.broadcast(mean)) *
                        n.broadcast(n.reciprocal_deviation(variance) * scale) +
                    n.broadcast(offset));
}

Term expand_grad(Formula& f) {
  Normalization n(f);
  const Term x = n.operand(0), scale = n.operand(1), mean = n.operand(2);
  const Term variance = n.operand(3), dy = n.operand(4);
  const Term factor = n.reciprocal_deviation(variance);
  const Term d = (x - n.broadcast(mean)) * n.broadcast(factor);
  const Term offset_grad = n.sum(dy), scale_grad = n.sum(dy * d);
  const Term mean_part = (n.broadcast(offset_grad) + d * n.broadcast(scale_grad)) / n.count();
  const Term dx = n.broadcast(scale * factor) * (dy - mean_part);
  return f.tuple(std::array{n.declared(dx), n.declared(scale_grad), n.declared(offset_grad)});
}

}  // namespace

Result<bool> expand_batch_norms(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = expand(editor, Op::BatchNormTraining, expand_training);
  changed |= expand(editor, Op::BatchNormInference, expand_inference);
  return expand(editor, Op::BatchNormGrad, expand_grad) || changed;
}

}  // namespace hilo
