// Where elementwise ops are reshaped into rows that are reduced, the arrays in memory that they are
// made of are reshaped instead, which moves nothing:
//
//   sum(reshape(f(x, y)))  =>  sum(f(reshape(x), reshape(y)))
//
// so that one loop goes over the rows from these arrays on. Values are the same. Assumes plain
// layouts. Later passes may assume nothing. Stands behind simplify, where reshapes go behind
// elementwise ops, to meet others, and before fusion.
#include "pass/pass.h"

#include <algorithm>
#include <unordered_map>

#include "pass/dense_arrays.h"

namespace hilo {
namespace {

class ReshapeMover {
 public:
  explicit ReshapeMover(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (ComputationId computation : open_computations(module_))
      for (InstructionId id : operands_first(module_, computation))
        if (is_moved(id)) changed |= move(id);
    return changed;
  }

 private:
  bool is_moved(InstructionId id) {
    if (module_[id].removed || module_[id].op != Op::Reshape ||
        !is_unpinned_dense_array(editor_, id))
      return false;
    const InstructionId made = module_.operand(id, 0);
    return is_elementwise(module_[made].op) && !module_.shape(id).is_scalar() && is_reduced(id) &&
           find_ops(id);
  }

  // Whether a reduction reads it, or what elementwise ops make of it.
  bool is_reduced(InstructionId id) const {
    std::vector<InstructionId> seen = {id};
    for (size_t i = 0; i < std::min(seen.size(), SearchBudget::max_visited); ++i)
      for (InstructionId user : module_.users(seen[i])) {
        if (module_[user].op == Op::Reduce) return true;
        if (is_elementwise(module_[user].op) && std::ranges::count(seen, user) == 0)
          seen.push_back(user);
      }
    return false;
  }

  bool is_op(InstructionId id) const { return std::ranges::count(ops_, id) > 0; }

  // The elementwise ops that only the reshape reads. Whether all that they read stands in memory or
  // is one number.
  bool find_ops(InstructionId reshape) {
    const InstructionId made = module_.operand(reshape, 0);
    ops_ = {made};
    for (size_t i = 0; i < ops_.size() && ops_.size() <= SearchBudget::max_visited; ++i) {
      const bool is_read_elsewhere =
          std::ranges::any_of(module_.users(ops_[i]),
                              [&](InstructionId user) { return user != reshape && !is_op(user); });
      if (is_read_elsewhere || !is_unpinned_dense_array(editor_, ops_[i])) return false;
      for (InstructionId operand : module_.operands(ops_[i])) {
        if (is_op(operand) || is_number(operand)) continue;
        if (module_.shape(operand).dims != module_.shape(made).dims) return false;
        if (is_elementwise(module_[operand].op)) ops_.push_back(operand);
        else if (!stands_in_memory(operand)) return false;
      }
    }
    // Rows of fewer elements are straight code: a function for each takes long to compile.
    return ops_.size() <= SearchBudget::max_visited &&
           (module_.shape(reshape).dims.back() >= LoopLimits::short_row ||
            std::ranges::none_of(ops_, [&](InstructionId op) {
              return has_trait(module_[op].op, TraitTranscendental);
            }));
  }

  bool is_number(InstructionId id) const {
    return module_.shape(id).is_scalar() ||
           (module_[id].op == Op::Broadcast && module_.shape(module_.operand(id, 0)).is_scalar());
  }

  // What loops with elementwise ops do not make themselves.
  bool stands_in_memory(InstructionId id) const {
    const Op op = module_[id].op;
    return (has_trait(op, TraitStored) || op == Op::Reshape) &&
           is_unpinned_dense_array(editor_, id);
  }

  bool move(InstructionId reshape) {
    const Dims dims = module_.shape(reshape).dims;
    reshaped_.clear();
    const InstructionId made = of_rows(module_.operand(reshape, 0), dims);
    if (!editor_.can_replace(reshape, made)) return false;
    editor_.replace(reshape, made);
    return true;
  }

  InstructionId of_rows(InstructionId id, const Dims& dims) {
    if (module_.shape(id).is_scalar()) return id;
    if (const auto found = reshaped_.find(id.value); found != reshaped_.end()) return found->second;
    const Shape shape = Shape::array(module_.shape(id).type, dims);
    InstructionId from = id;
    if (is_op(id) || is_number(id)) {
      const auto given = module_.operands(id);
      std::vector<InstructionId> operands(given.begin(), given.end());
      for (InstructionId& operand : operands) operand = of_rows(operand, dims);
      from = editor_.clone(id, module_[id].computation, operands);
      editor_.set_shape(from, shape);
    } else {
      while (module_[from].op == Op::Reshape && module_.shape(from).dims != dims)
        from = module_.operand(from, 0);
      from = reshaped(from, shape);
    }
    return reshaped_[id.value] = from;
  }

  // By a reshape that is there, if there is one.
  InstructionId reshaped(InstructionId id, const Shape& shape) {
    if (module_.shape(id).dims == shape.dims) return id;
    for (InstructionId user : module_.users(id))
      if (module_[user].op == Op::Reshape && module_.shape(user).dims == shape.dims &&
          is_unpinned_dense_array(editor_, user))
        return user;
    return editor_.add(id, Op::Reshape, shape, {&id, 1});
  }

  Module& module_;
  Editor editor_;
  std::vector<InstructionId> ops_;
  std::unordered_map<uint32_t, InstructionId> reshaped_;
};

}  // namespace

Result<bool> reshape_before_elementwise(Module& module, const PassOptions&) {
  return ReshapeMover(module).run();
}

}  // namespace hilo
