// One element of a convolution by itself: a product for each place of the window and each feature,
// all in one expression, so that the loop over the result's innermost dimension becomes vectors
// along it. For results of few features, whose lanes would be empty side by side.
#include "emit/op_functions.h"
#include "plan/plan.h"

namespace hilo {
namespace {

using llvm::Value;

size_t at(int64_t dim) { return static_cast<size_t>(dim); }

class Element {
 public:
  Element(ElementEmitter& e, InstructionId id, const Index& index)
      : e_(e),
        b_(e.b),
        id_(id),
        a_(e.module.attributes<ConvolutionAttributes>(id)),
        input_(e.module.shape(e.module.operand(id, 0)).dims),
        kernel_(e.module.shape(e.module.operand(id, 1)).dims),
        index_(index),
        type_(e.module.shape(id).type == ElementType::F64 ? b_.getDoubleTy() : b_.getFloatTy()) {}

  Value* sum() {
    const ConvolutionLabels& labels = a_.dim_labels;
    from_.assign(input_.size(), nullptr);
    weight_.assign(kernel_.size(), nullptr);
    from_[at(labels.input_batch)] = index_.at(b_, at(labels.output_batch));
    weight_[at(labels.kernel_output_feature)] = index_.at(b_, at(labels.output_feature));
    sum_ = llvm::ConstantFP::get(type_, 0);
    add_window_positions(0, b_.getTrue());
    return round_to(b_, e_.module.shape(id_).type, sum_);
  }

 private:
  // All places of the window from dimension d on.
  void add_window_positions(size_t d, Value* inside) {
    if (d == a_.window.dims.size()) return add_features(inside);
    const WindowDim& dim = a_.window.dims[d];
    const ConvolutionLabels& labels = a_.dim_labels;
    const size_t spatial = at(labels.input_spatial[d]);
    Value* window = index_.at(b_, at(labels.output_spatial[d]));
    for (int64_t k = 0; k < dim.size; ++k) {
      Value* place = window_element_index(b_, dim, window, int64(b_, k));
      from_[spatial] = clamp_index(b_, place, 0, input_[spatial] - 1);
      weight_[at(labels.kernel_spatial[d])] = int64(b_, dim.reversal ? dim.size - 1 - k : k);
      add_window_positions(d + 1, b_.CreateAnd(inside, is_in_bounds(b_, place, input_[spatial])));
    }
  }

  void add_features(Value* inside) {
    const ConvolutionLabels& labels = a_.dim_labels;
    const int64_t features = kernel_[at(labels.kernel_input_feature)];
    const int64_t side_by_side = kernel_[at(labels.kernel_output_feature)] / a_.feature_group_count;
    Value* group =
        b_.CreateSDiv(weight_[at(labels.kernel_output_feature)], int64(b_, side_by_side));
    for (int64_t f = 0; f < features; ++f) {
      from_[at(labels.input_feature)] =
          add_index(b_, multiply_index(b_, group, features), int64(b_, f));
      weight_[at(labels.kernel_input_feature)] = int64(b_, f);
      Value* value = operand(0, Index(b_, input_, from_));
      Value* seen = b_.CreateSelect(inside, value, llvm::ConstantFP::get(type_, 0));
      sum_ = b_.CreateFAdd(sum_, b_.CreateFMul(seen, operand(1, Index(b_, kernel_, weight_))));
    }
  }

  Value* operand(size_t i, const Index& index) {
    return b_.CreateFPExt(e_.operand(id_, i, index), type_);
  }

  ElementEmitter& e_;
  Builder& b_;
  InstructionId id_;
  const ConvolutionAttributes& a_;
  const Dims &input_, &kernel_;
  const Index& index_;
  llvm::Type* type_;
  std::vector<Value*> from_, weight_;  // places in the operands
  Value* sum_ = nullptr;
};

}  // namespace

llvm::Value* element_Convolution(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  check(has_few_products(e.module, id), "convolution: the command has few products");
  return Element(e, id, index).sum();
}

}  // namespace hilo
