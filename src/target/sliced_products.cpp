// A product of few rows or columns reads its other operand once, as fast as memory gives it: where
// that is one piece of an array, as in a loop over layers, it is read where it stands.
//
//   dot(x, reshape(dynamic-slice(w, i)))  =>  fusion(x, w, i)
//
// Assumes plain layouts. Stands before the fusion of loops, which leaves products alone.
#include "target/sliced_products.h"

#include <algorithm>
#include <unordered_map>

#include "target/fused_computations.h"

namespace hilo {
namespace {

constexpr int64_t few = 4;  // rows or columns; products of more are left to routines

bool is_plain_array(const Shape& shape) { return shape.is_array() && !shape.has_dynamic_dims(); }

// Whether a slice of these sizes is one piece of its operand.
bool is_one_piece(const Dims& sizes, const Dims& dims) {
  size_t d = 0;
  while (d < sizes.size() && sizes[d] == 1) ++d;
  const size_t whole = std::min(d + 1, sizes.size());
  return std::ranges::equal(std::span(sizes).subspan(whole), std::span(dims).subspan(whole));
}

class ProductFuser {
 public:
  explicit ProductFuser(Module& module) : module_(module), editor_(module) {}

  bool run() {
    const std::vector<bool> fused = fused_computations(module_);
    bool changed = false;
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (module_[id].removed || fused[module_[id].computation.value]) continue;
      changed |= is_thin_product(id) && fuse(id);
    }
    return changed;
  }

 private:
  bool is_pinned(InstructionId id) const {
    return editor_.is_pinned(id) || editor_.effects().has(id);
  }

  bool is_thin_product(InstructionId id) const {
    if (module_[id].op != Op::Dot || is_pinned(id) || !is_plain_array(module_.shape(id)))
      return false;
    const auto& a = module_.attributes<DotAttributes>(id);
    const Shape &lhs = module_.shape(module_.operand(id, 0)),
                &rhs = module_.shape(module_.operand(id, 1));
    for (InstructionId operand : module_.operands(id))
      if (module_[operand].op == Op::Constant) return false;
    for (const Shape* shape : {&lhs, &rhs, &module_.shape(id)})
      if (shape->type != ElementType::F32 && shape->type != ElementType::BF16) return false;
    if (!a.lhs_batch_dims.empty() || a.lhs_contracting_dims.size() != 1 || lhs.rank() > 2 ||
        rhs.rank() > 2 || !a.sparsity.text.empty())
      return false;
    const int64_t depth = lhs.dims[static_cast<size_t>(a.lhs_contracting_dims[0])];
    const bool in_columns = rhs.rank() == 2 && a.rhs_contracting_dims[0] == 0 && rhs.dims[1] > 1;
    const bool in_depths =
        a.lhs_contracting_dims[0] + 1 == lhs.rank() && a.rhs_contracting_dims[0] + 1 == rhs.rank();
    return (in_columns || in_depths) && depth > 0 &&
           std::min(element_count(lhs), element_count(rhs)) <= few * depth;
  }

  // One piece of an array, perhaps under another shape, that nobody else reads.
  bool is_piece(InstructionId id) const {
    if (module_.users(id).size() != 1 || is_pinned(id) || !is_plain_array(module_.shape(id)))
      return false;
    if (module_[id].op == Op::Reshape) return is_piece(module_.operand(id, 0));
    if (module_[id].op != Op::DynamicSlice) return false;
    const InstructionId from = module_.operand(id, 0);
    const Shape& whole = module_.shape(from);
    return module_[from].op != Op::Constant &&
           std::ssize(module_.operands(id)) == whole.rank() + 1 &&
           is_one_piece(module_.shape(id).dims, whole.dims);
  }

  bool fuse(InstructionId product) {
    const auto operands = module_.operands(product);
    if (std::ranges::none_of(operands, [&](InstructionId id) { return is_piece(id); }))
      return false;
    body_ = module_.add_computation(fmt::format("fused_{}", module_[product].name));
    copies_.clear();
    outer_.clear();
    module_[body_].root = copy(product);
    const Shape shape = module_.shape(product);
    const InstructionId fusion = editor_.add(product, Op::Fusion, shape, outer_,
                                             FusionAttributes{FusionKind::Loop, {}, body_});
    editor_.replace(product, fusion);
    return true;
  }

  InstructionId copy(InstructionId id) {
    const auto given = module_.operands(id);
    std::vector<InstructionId> operands(given.begin(), given.end());
    for (InstructionId& operand : operands) operand = inside(operand);
    return editor_.clone(id, body_, operands);
  }
  InstructionId inside(InstructionId id) {
    if (const auto known = copies_.find(id.value); known != copies_.end()) return known->second;
    const bool is_number = module_[id].op == Op::Constant && module_.shape(id).is_scalar();
    if (is_number || is_piece(id)) return copies_[id.value] = copy(id);
    outer_.push_back(id);
    const Shape shape = module_.shape(id);
    return copies_[id.value] = editor_.add_parameter(body_, id, shape);
  }

  Module& module_;
  Editor editor_;
  ComputationId body_;
  std::unordered_map<uint32_t, InstructionId> copies_;
  std::vector<InstructionId> outer_;  // operands of the fusion
};

}  // namespace

Result<bool> fuse_sliced_products(Module& module, const PassOptions&) {
  return ProductFuser(module).run();
}

}  // namespace hilo
