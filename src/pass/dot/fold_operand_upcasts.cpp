// Large products and convolutions read narrow floats as they are: half the memory, none for the
// wide ones, and processors that multiply pairs or tiles of bf16 do so.
//   dot(convert(x), y)  =>  dot(x, y)
// Products of f32 are sums of f32 of what f32 holds exactly, so that the values are the same, but
// for subnormal bf16, which some processors take as zeros where both operands are bf16.
// Assumes plain layouts, and that conversions of conversions are one. Later passes may assume
// nothing.
#include <algorithm>
#include <array>
#include <span>

#include "base/base.h"
#include "pass/dense_arrays.h"
#include "pass/pass.h"
#include "pass/second_cache.h"

namespace hilo {
namespace {

// What an operand of f32 is converted from, if it is a narrower float, else none.
InstructionId narrow_source(const Editor& editor, InstructionId operand) {
  const Module& module = editor.module();
  if (module[operand].op != Op::Convert || !is_unpinned_dense_array(editor, operand)) return {};
  const InstructionId source = module.operand(operand, 0);
  const ElementType type = module.shape(source).type;
  return is_unpinned_dense_array(editor, source) && is_floating(type) && bits_of(type) <= 16
             ? source
             : InstructionId{};
}

bool sums_f32(const Module& module, InstructionId id) {
  const Shape& shape = module.shape(id);
  if (!shape.is_array() || shape.type != ElementType::F32) return false;
  if (module[id].op == Op::Convolution) return true;
  if (module[id].op != Op::Dot) return false;
  const auto& dot = module.attributes<DotAttributes>(id);
  return dot.algorithm == DotAlgorithm::Unset && dot.sparsity.text.empty();
}

// Multiplications for each element of the result.
double terms_of(const Module& module, InstructionId id) {
  const Dims &lhs = module.shape(module.operand(id, 0)).dims,
             &rhs = module.shape(module.operand(id, 1)).dims;
  double out = 1;
  if (module[id].op == Op::Dot) {
    for (int64_t dim : module.attributes<DotAttributes>(id).lhs_contracting_dims)
      out *= static_cast<double>(lhs[static_cast<size_t>(dim)]);
    return out;
  }
  const auto& a = module.attributes<ConvolutionAttributes>(id);
  for (int64_t size : rhs) out *= static_cast<double>(size);
  return out / static_cast<double>(rhs[static_cast<size_t>(a.dim_labels.kernel_output_feature)]);
}

class Products {
 public:
  Products(Module& module, const PassOptions& options)
      : module_(module),
        editor_(module),
        second_cache_(second_cache_bytes(options)),
        near_caches_(deciding_cores(options).near_cache_bytes()) {}

  bool run() {
    bool changed = false;
    for (ComputationId computation : open_computations(module_))
      for (InstructionId id : operands_first(module_, computation))
        if (!module_[id].removed && !editor_.is_pinned(id) && sums_f32(module_, id))
          changed |= read_narrow(id);
    return changed;
  }

 private:
  bool read_narrow(InstructionId id) {
    const std::array sources = {narrow_source(editor_, module_.operand(id, 0)),
                                narrow_source(editor_, module_.operand(id, 1))};
    const bool are_paired = are_multiplied_in_pairs(id, sources);
    bool changed = false;
    for (size_t i = 0; i < sources.size(); ++i) {
      if (!sources[i] || !(are_paired || is_large_beside_product(id, i))) continue;
      editor_.set_operand(id, i, sources[i]);
      changed = true;
    }
    return changed;
  }

  // Products that are large enough for what processors have for bf16.
  bool are_multiplied_in_pairs(InstructionId id, std::span<const InstructionId> sources) const {
    constexpr double min_multiplications = 1 << 21;
    const auto is_bf16 = [&](InstructionId source) {
      return source && module_.shape(source).type == ElementType::BF16;
    };
    return processor().has_fast_bf16() && std::ranges::all_of(sources, is_bf16) &&
           terms_of(module_, id) * static_cast<double>(element_count(module_.shape(id))) >=
               min_multiplications;
  }

  // Whether to store and read the wide numbers takes longer than to widen them wherever they are
  // multiplied: they come from memory, or each is multiplied few times and they take a fourth of
  // the second cache.
  bool is_large_beside_product(InstructionId id, size_t operand) const {
    constexpr double few = 8;
    if (module_[id].op != Op::Dot) return false;
    const int64_t elements = element_count(module_.shape(module_.operand(id, operand)));
    const double times = terms_of(module_, id) *
                         static_cast<double>(element_count(module_.shape(id))) /
                         static_cast<double>(std::max<int64_t>(elements, 1));
    const int64_t bytes = elements * static_cast<int64_t>(sizeof(float));
    return bytes >= near_caches_ || (bytes >= second_cache_ / 4 && times <= few);
  }

  Module& module_;
  Editor editor_;
  const int64_t second_cache_, near_caches_;  // bytes
};

}  // namespace

Result<bool> fold_operand_upcasts(Module& module, const PassOptions& options) {
  return Products(module, options).run();
}

}  // namespace hilo
