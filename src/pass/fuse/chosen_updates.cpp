// Updates of parts of arrays (dynamic-update-slice) that are neither what a group gives nor needed
// outside of it: where all else is computed place by place, each place chooses.
#include <algorithm>

#include "pass/fuse/groups.h"

namespace hilo {
namespace {

// Of one group.
constexpr ptrdiff_t max_choices = 4;

}  // namespace

// Whether the update may be a choice at each place of a group that needs its result for nothing
// else, so that neither it nor what is written over is stored. In a chain each would cost all
// places a choice, and reads of elements at a distance would be gathers.
bool FusionGroups::may_choose_update(InstructionId id, const FusionGroup& group) const {
  const InstructionId update = module_.operand(id, 1);
  const Dims &dims = module_.shape(id).dims, &sizes = module_.shape(update).dims;
  if (group.rows || dims.empty() || module_.operands(id).size() != dims.size() + 2) return false;
  const auto is_update = [&](InstructionId member) {
    return module_[member].op == Op::DynamicUpdateSlice;
  };
  return std::ranges::count_if(group.members, is_update) < max_choices &&
         (is_sourceless(module_, update) || sizes.back() == dims.back() || sizes.back() == 1);
}

// Of a choice at each place: what is around the update, and what costs little or is stored.
bool FusionGroups::is_chosen(InstructionId id, InstructionId user, const FusionGroup& group) const {
  if (module_[user].op != Op::DynamicUpdateSlice || group.roots[0] == user) return false;
  const auto operands = module_.operands(user);
  if (std::ranges::count(operands.subspan(2), id) > 0) return false;
  return operands[1] != id || !is_elementwise(module_[id].op) ||
         has_trait(module_[id].op, TraitCheap);
}

}  // namespace hilo
