// The producers of operands of a batch of small products, which nothing else reads, are fused into
// the products batch by batch: operands of one batch lie in the function's frame, and the arrays
// are never stored (emit/dot_producer_batches.cpp). Batches are mostly the parts of a long product,
// as of the covariances of what is less its mean, or of weighted rows with the rows themselves.
//
//   dot(bitcast(fusion(x) { f(x) }), y)  =>  fusion(x, y) { dot(bitcast(f(x)), y) }
//
// Assumes plain layouts, that fusions are made, and that rows of products are made where these are
// better (`fuse-dot-producer-rows`). Later passes may assume nothing.
#include "pass/pass.h"

#include <algorithm>
#include <map>

#include "pass/dense_arrays.h"
#include "pass/fuse/fused_computations.h"
#include "pass/fuse/fusible_producer.h"
#include "pass/layout/permutation.h"

namespace hilo {
namespace {

// Elements of an operand, smaller ones being no burden; what the frame holds; and batches, which
// are the pieces of the work.
constexpr int64_t min_producer_elements = 1 << 16, max_bytes = 1 << 17, min_batches = 8;

class BatchFuser {
 public:
  explicit BatchFuser(Module& module) : module_(module), editor_(module) {}

  bool run() {
    return change_unfused(module_, [this](InstructionId id) {
      if (!is_fitting_product(id)) return false;
      const std::array made = {is_fusible_producer(id, 0), is_fusible_producer(id, 1)};
      const bool fits = (made[0] || made[1]) && fits_frame(id, made);
      if (fits) fuse(id, made);
      return fits;
    });
  }

 private:
  using Fused = std::array<bool, 2>;  // the left operand, and the right one

  int64_t batches_of(InstructionId id) const {
    int64_t out = 1;
    const Shape& result = module_.shape(id);
    const auto count = std::ssize(module_.attributes<DotAttributes>(id).lhs_batch_dims);
    for (size_t d = 0; std::cmp_less(d, count); ++d) out *= result.dims[d];
    return out;
  }

  // Terms, or one of them and what the operand alone has, in either order, behind the batches.
  static bool is_matrix(const Shape& shape, const Dims& batches, const Dims& contracting) {
    return leads(batches) && contracting.size() == 1 && shape.rank() == std::ssize(batches) + 2;
  }

  // Whose right operand stands in lines, so that they are lanes.
  bool is_fitting_product(InstructionId id) const {
    if (module_[id].op != Op::Dot || !is_unpinned_dense_array(editor_, id)) return false;
    const auto& a = module_.attributes<DotAttributes>(id);
    const Shape &lhs = module_.shape(module_.operand(id, 0)),
                &rhs = module_.shape(module_.operand(id, 1));
    const ElementType type = module_.shape(id).type;
    if ((type != ElementType::F32 && type != ElementType::F64) || lhs.type != type ||
        rhs.type != type || !a.sparsity.text.empty() ||
        !is_matrix(lhs, a.lhs_batch_dims, a.lhs_contracting_dims) ||
        !is_matrix(rhs, a.rhs_batch_dims, a.rhs_contracting_dims) ||
        a.rhs_contracting_dims[0] != rhs.rank() - 2 || rhs.dims.back() < 2)
      return false;
    const int64_t batches = batches_of(id);
    return batches >= min_batches &&
           element_count(lhs) / batches * rhs.dims.back() <= LoopLimits::small_product;
  }

  // What an operand is before reshapes.
  InstructionId source(InstructionId id) const {
    while (is_reshape(id)) id = module_.operand(id, 0);
    return id;
  }
  bool is_reshape(InstructionId id) const {
    return (module_[id].op == Op::Reshape || module_[id].op == Op::Bitcast) &&
           is_unpinned_dense_array(editor_, id) &&
           is_unpinned_dense_array(editor_, module_.operand(id, 0)) &&
           module_.shape(id).type == module_.shape(module_.operand(id, 0)).type;
  }

  // By a loop over its elements, for this product alone.
  bool is_fusible_producer(InstructionId product, size_t operand) const {
    std::map<InstructionId, uint32_t> uses;  // by this product, of what it reads through `passes`
    const auto passes = [&](InstructionId id) {
      return is_reshape(id) || is_output_of_fusion(module_, id);
    };
    for (InstructionId id : module_.operands(product))
      while (++uses[id] == 1 && passes(id)) id = module_.operand(id, 0);
    InstructionId id = module_.operand(product, operand);
    const InstructionId made = source(id);
    for (; passes(id); id = module_.operand(id, 0))
      if (editor_.use_count(id) != uses[id]) return false;
    return editor_.use_count(id) == uses[id] && is_elementwise_producer(editor_, made) &&
           element_count(module_.shape(made)) >= min_producer_elements;
  }

  // Those of one batch, which are one array where they are reshapes of one.
  bool fits_frame(InstructionId id, const Fused& made) const {
    const auto [lhs, rhs] = std::array{module_.operand(id, 0), module_.operand(id, 1)};
    int64_t elements = made[0] ? element_count(module_.shape(lhs)) : 0;
    if (made[1] && !(made[0] && source(lhs) == source(rhs)))
      elements += element_count(module_.shape(rhs));
    return elements / batches_of(id) * storage_bytes(module_.shape(id).type) <= max_bytes;
  }

  void fuse(InstructionId product, const Fused& made) {
    const ComputationId body =
        module_.add_computation(fmt::format("fused_{}", module_[product].name));
    std::vector<InstructionId> operands;
    std::map<InstructionId, InstructionId> inside;
    const auto read = [&](InstructionId id) {
      if (const auto found = inside.find(id); found != inside.end()) return found->second;
      operands.push_back(id);
      const Shape shape = module_.shape(id);
      return inside[id] = editor_.add_parameter(body, id, shape);
    };
    std::vector<InstructionId> tuples;
    const auto copy = [&](auto& self, InstructionId id) -> InstructionId {
      if (const auto found = inside.find(id); found != inside.end()) return found->second;
      const auto of = module_.operands(id);
      std::vector<InstructionId> given(of.begin(), of.end());
      const bool is_output = is_output_of_fusion(module_, id);
      for (InstructionId& operand : given)
        operand = is_reshape(id) || is_output ? self(self, operand) : read(operand);
      if (is_output) {
        tuples.push_back(given[0]);
        const auto number = module_.attributes<GetTupleElementAttributes>(id).index;
        return inside[id] = module_.operand(given[0], static_cast<size_t>(number));
      }
      return inside[id] = clone_producer(editor_, id, body, given);
    };
    std::array<InstructionId, 2> factors;
    for (size_t i = 0; i < 2; ++i) {
      const InstructionId operand = module_.operand(product, i);
      factors[i] = made[i] ? copy(copy, operand) : read(operand);
    }
    module_[body].root = editor_.clone(product, body, factors);
    for (InstructionId tuple : tuples)
      if (!module_[tuple].removed) editor_.remove_unused(tuple);
    replace_by_fusion(editor_, product, body, operands);
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> fuse_dot_producer_batches(Module& module, const PassOptions&) {
  return BatchFuser(module).run();
}

}  // namespace hilo
