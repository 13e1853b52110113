// The producer of a product's left operand, which nothing else reads, is fused into the product row
// by row: a few rows at a time lie in the function's frame, and the array is never stored
// (emit/dot.cpp).
//
//   dot(fusion(x) { f(x) }, w)  =>  fusion(x, w) { dot(f(x), w) }
//
// Where sums go along whole rows and w has few columns: of many a library has better blocks, for
// which the operand must stand in memory. Assumes plain layouts, and that fusions are made. Later
// passes may assume nothing.
#include "pass/pass.h"

#include <algorithm>

#include "pass/dense_arrays.h"
#include "pass/fuse/fused_computations.h"
#include "pass/fuse/fusible_producer.h"
#include "pass/layout/permutation.h"

namespace hilo {
namespace {

// Elements of the left operand, smaller ones being no burden; of a row of it, of which the frame
// holds four; and columns of w.
constexpr int64_t min_producer_elements = 1 << 14, longest_row = 4096, max_columns = 8;

class RowFuser {
 public:
  explicit RowFuser(Module& module) : module_(module), editor_(module) {}

  bool run() {
    return change_unfused(module_, [this](InstructionId id) {
      const bool fits = is_fitting_product(id) && is_fusible_producer(module_.operand(id, 0));
      if (fits) fuse(id);
      return fits;
    });
  }

 private:
  bool is_fitting_product(InstructionId id) const {
    if (module_[id].op != Op::Dot || !is_unpinned_dense_array(editor_, id)) return false;
    const auto& a = module_.attributes<DotAttributes>(id);
    const Shape &lhs = module_.shape(module_.operand(id, 0)),
                &rhs = module_.shape(module_.operand(id, 1));
    const ElementType type = module_.shape(id).type;
    const auto batches = std::ssize(a.lhs_batch_dims);
    if (!leads(a.lhs_batch_dims) || !leads(a.rhs_batch_dims)) return false;
    if ((type != ElementType::F32 && type != ElementType::F64) || lhs.type != type ||
        rhs.type != type || !a.sparsity.text.empty() ||
        a.lhs_contracting_dims != Dims{lhs.rank() - 1} || a.rhs_contracting_dims != Dims{batches} ||
        rhs.rank() > batches + 2)
      return false;
    const int64_t columns = rhs.rank() == batches + 2 ? rhs.dims.back() : 1;
    const int64_t row = lhs.dims.back();
    return element_count(lhs) >= min_producer_elements && row >= LoopLimits::short_row &&
           row <= longest_row && columns <= max_columns && columns > 0;
  }

  // By a loop over its elements, for the product alone.
  bool is_fusible_producer(InstructionId id) const {
    return editor_.use_count(id) == 1 && !is_output_of_fusion(module_, id) &&
           is_elementwise_producer(editor_, id);
  }

  void fuse(InstructionId product) {
    const InstructionId left = module_.operand(product, 0), right = module_.operand(product, 1);
    const ComputationId body =
        module_.add_computation(fmt::format("fused_{}", module_[product].name));
    const auto given = module_.operands(left);
    std::vector<InstructionId> operands(given.begin(), given.end()), inside;
    for (InstructionId operand : operands) {
      const Shape shape = module_.shape(operand);
      inside.push_back(editor_.add_parameter(body, operand, shape));
    }
    const InstructionId rows = clone_producer(editor_, left, body, inside);
    const Shape shape_of_right = module_.shape(right);
    operands.push_back(right);
    const std::array factors = {rows, editor_.add_parameter(body, right, shape_of_right)};
    module_[body].root = editor_.clone(product, body, factors);
    replace_by_fusion(editor_, product, body, operands);
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> fuse_dot_producer_rows(Module& module, const PassOptions&) {
  return RowFuser(module).run();
}

}  // namespace hilo
