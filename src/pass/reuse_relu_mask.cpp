// Masks that are found from a maximum which is kept, and not from what it was taken of.
//   maximum(x, y) > y  where it was  x > y,  and so with <=; minima with < and >=
// Exact: a NaN makes both sides false. Where products read the maximum (the activations of a layer,
// and of its gradient), x need not be stored beside it. Assumes that equal values are one
// instruction. Later passes may assume nothing. Before fusion.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

using enum ComparisonDirection;

// Comparisons of the first operand of an extremum with the second one that are the same of it.
bool is_kept_by(Op extremum, ComparisonDirection direction) {
  return extremum == Op::Maximum ? direction == Gt || direction == Le
                                 : direction == Lt || direction == Ge;
}

// Whether a product or a window reads the value, perhaps in another form: then it is stored.
bool is_stored(const Module& module, InstructionId id) {
  return std::ranges::any_of(module.users(id), [&](InstructionId user) {
    const Op op = module[user].op;
    return op == Op::Dot || op == Op::Convolution || op == Op::ReduceWindow ||
           ((op == Op::Reshape || op == Op::Transpose) && is_stored(module, user));
  });
}

class Masks {
 public:
  explicit Masks(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (ComputationId computation : open_computations(module_))
      for (InstructionId id : std::vector(module_[computation].instructions))
        changed |= find_from(id);
    return changed;
  }

 private:
  // Has the masks of an operand found from the extremum, where nothing else reads the operand.
  bool find_from(InstructionId extremum) {
    const Op op = module_[extremum].op;
    if ((op != Op::Maximum && op != Op::Minimum) || !is_stored(module_, extremum)) return false;
    const InstructionId x = module_.operand(extremum, 0), y = module_.operand(extremum, 1);
    return x != y && (find_masks(extremum, x, y) || find_masks(extremum, y, x));
  }

  bool find_masks(InstructionId extremum, InstructionId taken, InstructionId other) {
    std::vector<InstructionId> readers = module_.users(taken);
    std::erase(readers, extremum);
    const bool are_masks = std::ranges::all_of(
        readers, [&](InstructionId reader) { return is_mask(reader, extremum, taken, other); });
    if (!are_masks || module_[module_[extremum].computation].root == taken) return false;
    for (InstructionId mask : readers) editor_.set_operand(mask, 0, extremum);
    return !readers.empty();
  }

  // Constants are second operands after algebra.
  bool is_mask(InstructionId id, InstructionId extremum, InstructionId taken,
               InstructionId other) const {
    if (module_[id].op != Op::Compare || editor_.is_pinned(id)) return false;
    const auto& compare = module_.attributes<CompareAttributes>(id);
    return module_.operand(id, 0) == taken && module_.operand(id, 1) == other &&
           compare.type != ComparisonType::TotalOrder && compare.order != ComparisonOrder::Total &&
           is_kept_by(module_[extremum].op, compare.direction);
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> reuse_relu_mask(Module& module, const PassOptions&) { return Masks(module).run(); }

}  // namespace hilo
