// Windows see what stands around an array without an array that holds it:
//
//   convolution(pad(x, 0), k), window=w  =>  convolution(x, k), window=w with more padding
//   reduce-window(pad(x, c), c), window=w  =>  reduce-window(x, c), window=w with more padding
//
// Values are the same where c may be combined with a result once more, as zeros are added; and
// where the kernel has neither NaN nor infinities, which zeros of an array would be multiplied by.
// Assumes plain layouts. Stands behind simplify, which finds the number that is padded with, and
// before fusion.
#include "pass/pass.h"

#include <algorithm>

#include "pass/dense_arrays.h"

namespace hilo {
namespace {

class PaddedWindows {
 public:
  explicit PaddedWindows(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (module_[id].removed || module_[id].operand_count != 2) continue;
      const Op op = module_[id].op;
      if (op == Op::Convolution) changed |= run_convolution(id);
      else if (op == Op::ReduceWindow) changed |= run_reduction(id);
    }
    return changed;
  }

 private:
  // A pad of an array that only has more around it, which some window reads.
  bool is_pad(InstructionId id) const {
    if (module_[id].op != Op::Pad || !is_unpinned_dense_array(editor_, id)) return false;
    return std::ranges::all_of(
        module_.attributes<PadAttributes>(id).padding.dims,
        [](const PaddingDim& dim) { return dim.low >= 0 && dim.high >= 0 && dim.interior == 0; });
  }

  bool is_zero(InstructionId id) const {
    const Literal* literal = constant_of(module_, id);
    return literal && is_real_number(literal->shape().type) && literal->number_at(0) == 0;
  }
  static bool is_real_number(ElementType type) { return is_floating(type) || is_integral(type); }
  bool is_same(InstructionId a, InstructionId b) const {
    if (a == b) return true;
    const Literal *left = constant_of(module_, a), *right = constant_of(module_, b);
    return left && right && same_bits(*left, *right);
  }

  // Whether a result is the same when its initial value is combined with it once more, as it is for
  // an element of the padding of an array, and not for one of a window's.
  bool is_idempotent(ComputationId reducer, InstructionId init) const {
    const auto combiner = find_combiner(module_, reducer);
    if (!combiner) return false;
    const Op op = module_[combiner->instruction].op;
    if (has_trait(op, TraitIdempotent)) return true;
    const Literal* literal = constant_of(module_, init);
    if (!literal || !is_real_number(literal->shape().type)) return false;
    return (op == Op::Multiply && literal->number_at(0) == 1) ||
           ((op == Op::Add || op == Op::Xor) && literal->number_at(0) == 0);
  }
  // In places of the dilated array.
  static void add(const PaddingDim& padding, WindowDim& window) {
    window.padding_low += padding.low * window.base_dilation;
    window.padding_high += padding.high * window.base_dilation;
  }
  static bool pads_nothing(const PaddingDim& dim) { return dim.low == 0 && dim.high == 0; }

  bool run_convolution(InstructionId id) {
    const InstructionId pad = module_.operand(id, 0);
    if (!is_unpinned_dense_array(editor_, id) || !is_pad(pad) || !is_zero(module_.operand(pad, 1)))
      return false;
    ConvolutionAttributes a = module_.attributes<ConvolutionAttributes>(id);
    const auto& dims = module_.attributes<PadAttributes>(pad).padding.dims;
    const ConvolutionLabels& labels = a.dim_labels;
    if (!pads_nothing(dims[static_cast<size_t>(labels.input_batch)]) ||
        !pads_nothing(dims[static_cast<size_t>(labels.input_feature)]))
      return false;
    for (size_t d = 0; d < a.window.dims.size(); ++d)
      add(dims[static_cast<size_t>(labels.input_spatial[d])], a.window.dims[d]);
    const Shape shape = module_.shape(id);
    const InstructionId x = module_.operand(pad, 0), kernel = module_.operand(id, 1);
    editor_.replace(id,
                    editor_.add(id, Op::Convolution, shape, std::array{x, kernel}, std::move(a)));
    return true;
  }

  bool run_reduction(InstructionId id) {
    const InstructionId pad = module_.operand(id, 0), init = module_.operand(id, 1);
    ReduceWindowAttributes a = module_.attributes<ReduceWindowAttributes>(id);
    if (!is_unpinned_dense_array(editor_, id) || !is_pad(pad) ||
        !is_same(module_.operand(pad, 1), init) || !is_idempotent(a.to_apply, init))
      return false;
    const auto& dims = module_.attributes<PadAttributes>(pad).padding.dims;
    for (size_t d = 0; d < dims.size(); ++d) add(dims[d], a.window.dims[d]);
    const Shape shape = module_.shape(id);
    const InstructionId x = module_.operand(pad, 0);
    editor_.replace(id,
                    editor_.add(id, Op::ReduceWindow, shape, std::array{x, init}, std::move(a)));
    return true;
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> pad_by_windows(Module& module, const PassOptions&) {
  return PaddedWindows(module).run();
}

}  // namespace hilo
