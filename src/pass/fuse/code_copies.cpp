// At how many points of a group's code an element is computed: each point is code of its own, and
// in a ladder of slices and pads each step doubles them.
#include <algorithm>

#include "pass/fuse/groups.h"

namespace hilo {
namespace {

// At how many places the code of a group may compute an element of what is arithmetic, and of what
// only moves elements or is computed row by row: in a ladder of slices and pads, as a scan by
// halves is one, each step doubles them.
constexpr int max_computed_copies = 2, max_light_copies = 6, max_moved_copies = 16;
constexpr int long_chain = 48;  // functions one after the other, computed at one place

// Whether the user asks for the element where it is asked for one itself, if for one of that array:
// what only adds or drops dimensions of one element, the parts of an index vector, gathers of
// single elements, of the place that the result's element has, and updates, of what is around them.
bool has_identity_index_map(const Module& module, InstructionId user, InstructionId value) {
  const Op op = module[user].op;
  if (op == Op::Reshape) return is_degenerate_reshape(module, user);
  if (op == Op::DynamicUpdateSlice)
    return module.operand(user, 0) == value && module.operand(user, 1) != value;
  if (op == Op::Gather)
    return module.operand(user, 1) == value &&
           module.attributes<GatherAttributes>(user).offset_dims.empty();
  if (op != Op::Concatenate) return false;
  const auto dim = module.attributes<DimensionsAttributes>(user).dimensions[0];
  return std::ranges::all_of(module.users(user), [&](InstructionId gather) {
    return module[gather].op == Op::Gather && module.operand(gather, 1) == user &&
           module.attributes<GatherAttributes>(gather).index_vector_dim == dim &&
           module.shape(value).dims[static_cast<size_t>(dim)] == 1;
  });
}

}  // namespace

// Of long chains, as random bits, and of quotients of 64 bits one takes longer than to store and to
// read it.
int FusionGroups::max_code_copies(InstructionId id, const FusionGroup& group) const {
  const Op op = module_[id].op;
  const ElementType type = module_.shape(id).type;
  if (!is_elementwise(op) || group.rows) return max_moved_copies;
  if (is_light(module_, id)) return max_light_copies;
  const bool divides = (op == Op::Divide || op == Op::Remainder) && is_integral(type);
  return chain_[id.value] >= long_chain || (divides && bits_of(type) == 64) ? 1
                                                                            : max_computed_copies;
}

// What is elementwise and its kin ask for elements where their users do, all else where it says
// itself. Refused where the group would compute an element at too many places.
FusionDecision FusionGroups::count_code_copies(InstructionId id, const FusionGroup& group) {
  if (is_sourceless(module_, id)) return {};
  const int most = max_code_copies(id, group);
  CodeCopies& copies = code_copies_[id.value];
  copies = {};
  for (InstructionId user : users(id)) {
    const bool same = is_by_element(module_, user) || has_identity_index_map(module_, user, id);
    for (InstructionId asker :
         same ? std::span(code_copies_[user.value].askers) : std::span(&user, 1))
      if (std::ranges::find(copies.askers, asker) == copies.askers.end()) {
        copies.askers.push_back(asker);
        copies.count += code_copies_[asker.value].count;
        if (copies.count > most) return {NoFusion::ManyCodeCopies, copies.count, most};
      }
  }
  // Of each row it is computed once.
  if (module_[id].op == Op::Reduce) copies.count = 1;
  return {};
}

}  // namespace hilo
