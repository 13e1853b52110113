// Operands of products that are one piece of an array, as the weights of one layer among those of
// all, are read where they stand, and not copied.
//
//   dot(x, reshape(dynamic-slice(w, i)))  =>  fusion(x, w, i)
//   dot(x, reshape(slice(w)))             =>  fusion(x, w)
//
// Of products of few rows or columns, which read the other operand once, as fast as memory gives
// it: any piece. Of others: static slices of parameters, which are there in any case.
// Not where the product must wait for a write over the array, which would then need a copy. Assumes
// plain layouts. Stands before the fusion of loops, which leaves products alone.
#include "pass/pass.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/analysis.h"
#include "pass/fuse/fused_computations.h"
#include "pass/layout/permutation.h"

namespace hilo {
namespace {

// Bytes of a part of a parameter that is not copied: fewer stay in the first cache.
constexpr int64_t worth_no_copy = 1 << 14;

bool is_plain_array(const Shape& shape) { return shape.is_array() && !shape.has_dynamic_dims(); }

// What no loop computes where it is read: of other arrays a loop makes the slice alone.
bool is_in_memory(Op op) { return has_trait(op, TraitStored) || op == Op::DynamicUpdateSlice; }

class ProductFuser {
 public:
  explicit ProductFuser(Module& module) : module_(module), editor_(module) {}

  bool run() {
    return change_unfused(module_, [this](InstructionId id) {
      if (module_[id].op != Op::Dot || is_pinned(id) || !is_plain_array(module_.shape(id)))
        return false;
      is_thin_ = is_thin_product(id);
      return fuse(id);
    });
  }

 private:
  bool is_pinned(InstructionId id) const {
    return editor_.is_pinned(id) || editor_.effects().has(id);
  }

  bool is_thin_product(InstructionId id) const {
    const auto& a = module_.attributes<DotAttributes>(id);
    const Shape &lhs = module_.shape(module_.operand(id, 0)),
                &rhs = module_.shape(module_.operand(id, 1));
    for (InstructionId operand : module_.operands(id))
      if (module_[operand].op == Op::Constant) return false;
    for (const Shape* shape : {&lhs, &rhs, &module_.shape(id)})
      if (shape->type != ElementType::F32 && shape->type != ElementType::BF16) return false;
    const auto batches = std::ssize(a.lhs_batch_dims);
    if (!leads(a.lhs_batch_dims) || !leads(a.rhs_batch_dims) ||
        a.lhs_contracting_dims.size() != 1 || lhs.rank() > batches + 2 ||
        rhs.rank() > batches + 2 || !a.sparsity.text.empty())
      return false;
    const int64_t depth = lhs.dims[static_cast<size_t>(a.lhs_contracting_dims[0])];
    const int64_t left = a.lhs_contracting_dims[0], right = a.rhs_contracting_dims[0];
    const bool in_columns =
        rhs.rank() == batches + 2 && right + 2 == std::ssize(rhs.dims) && rhs.dims.back() > 1;
    const bool in_depths = left + 1 == std::ssize(lhs.dims) && right + 1 == std::ssize(rhs.dims);
    int64_t products = 1;
    for (int64_t d = 0; d < batches; ++d) products *= lhs.dims[static_cast<size_t>(d)];
    return (in_columns || in_depths) && depth > 0 && products > 0 &&
           std::min(element_count(lhs), element_count(rhs)) <= LoopLimits::few * depth * products;
  }

  bool is_contiguous_static_slice(InstructionId slice) const {
    return module_[slice].op == Op::Slice && contiguous_slice_start(module_, slice) >= 0;
  }
  // A part of a parameter that is read where it stands by any reader.
  bool is_part_of_parameter(InstructionId id) const {
    if (!is_plain_array(module_.shape(id)) || is_pinned(id)) return false;
    if (module_[id].op == Op::Reshape) return is_part_of_parameter(module_.operand(id, 0));
    const Shape& shape = module_.shape(id);
    if (!(is_contiguous_static_slice(id) || is_contiguous_dynamic_slice(module_, id)) ||
        bits_of(shape.type) < 8 || literal_bytes(shape) < worth_no_copy)
      return false;
    InstructionId from = module_.operand(id, 0);
    while (module_[from].op == Op::GetTupleElement) from = module_.operand(from, 0);
    return module_[from].op == Op::Parameter;
  }

  // A contiguous slice, perhaps reshaped, that nobody else reads.
  bool is_single_use_slice(InstructionId id) const {
    if (module_.users(id).size() != 1 || is_pinned(id) || !is_plain_array(module_.shape(id)))
      return false;
    if (module_[id].op == Op::Reshape) return is_single_use_slice(module_.operand(id, 0));
    if (module_[id].op != Op::DynamicSlice)
      return is_contiguous_static_slice(id) && is_in_memory(module_[module_.operand(id, 0)].op);
    return module_[module_.operand(id, 0)].op != Op::Constant &&
           is_contiguous_dynamic_slice(module_, id);
  }
  bool is_fusible_slice(InstructionId id) const {
    return (is_thin_ && is_single_use_slice(id)) || is_part_of_parameter(id);
  }

  bool only_reads(InstructionId user) const {
    const Op op = module_[user].op;
    return op == Op::Slice || op == Op::DynamicSlice || op == Op::Dot ||
           products_.contains(user.value);
  }

  // Whether the product stands on something that writes over an array which it would read. True
  // where that takes long to find out.
  bool waits_for_writer(InstructionId product) const {
    constexpr size_t max_visited = 2000;
    std::unordered_set<uint32_t> writers, seen;
    for (InstructionId operand : module_.operands(product)) {
      if (!is_fusible_slice(operand)) continue;
      while (module_[operand].op == Op::Reshape) operand = module_.operand(operand, 0);
      for (InstructionId user : module_.users(module_.operand(operand, 0)))
        if (user != operand && !only_reads(user)) writers.insert(user.value);
    }
    if (writers.empty()) return false;
    std::vector<InstructionId> stack = {product};
    while (!stack.empty()) {
      const InstructionId top = stack.back();
      stack.pop_back();
      if (writers.contains(top.value) || seen.size() > max_visited) return true;
      for (InstructionId operand : module_.operands(top))
        if (seen.insert(operand.value).second) stack.push_back(operand);
    }
    return false;
  }

  bool fuse(InstructionId product) {
    const auto operands = module_.operands(product);
    if (std::ranges::none_of(operands, [&](InstructionId id) { return is_fusible_slice(id); }) ||
        waits_for_writer(product))
      return false;
    body_ = module_.add_computation(fmt::format("fused_{}", module_[product].name));
    copies_.clear();
    outer_.clear();
    module_[body_].root = copy(product);
    products_.insert(replace_by_fusion(editor_, product, body_, outer_).value);
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
    if (is_number || is_fusible_slice(id)) return copies_[id.value] = copy(id);
    outer_.push_back(id);
    const Shape shape = module_.shape(id);
    return copies_[id.value] = editor_.add_parameter(body_, id, shape);
  }

  Module& module_;
  Editor editor_;
  bool is_thin_ = false;  // the product
  ComputationId body_;
  std::unordered_map<uint32_t, InstructionId> copies_;
  std::vector<InstructionId> outer_;       // operands of the fusion
  std::unordered_set<uint32_t> products_;  // that read pieces
};

}  // namespace

Result<bool> fuse_sliced_products(Module& module, const PassOptions&) {
  return ProductFuser(module).run();
}

}  // namespace hilo
