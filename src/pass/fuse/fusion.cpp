// Puts instructions that one loop can compute into one fusion.
//   y = f(g(x)) => fusion(x) { f(g(x)) }
// Elementwise ops and those that move elements go into what reads them (kLoop), also into
// reductions (kInput); a reduction goes into what works on the same rows, as in softmax and layer
// norm; a matrix product takes what follows it (kOutput); loops over the same elements become one
// with several results. No arithmetic is done twice. Assumes plain layouts; what one
// loop can compute is said by the target (FusionOptions). Later passes may assume that what stands
// outside of fusions is run by itself. Last of those that make instructions, for others do not look
// into fusions.
#include <algorithm>
#include <unordered_set>

#include "pass/fuse/groups.h"

namespace hilo {
namespace {

// Computations whose instructions are run one by one: the entry, bodies of loops and branches, and
// what is called. Conditions are left as they are where trip counts are still read off them.
std::vector<ComputationId> run_computations(const Module& module, bool with_conditions) {
  std::vector<bool> runs(module.computations.size());
  std::vector<ComputationId> order = module.post_order();
  runs[module.entry.value] = true;
  for (size_t i = order.size(); i-- > 0;) {
    if (!runs[order[i].value]) continue;
    for (InstructionId id : module[order[i]].instructions) {
      const Op op = module[id].op;
      if (module[id].removed) continue;
      if (op == Op::While) runs[module.attributes<WhileAttributes>(id).body.value] = true;
      if (op == Op::Conditional || op == Op::Call || (op == Op::While && with_conditions))
        for (ComputationId callee : module.called(module[id])) runs[callee.value] = true;
    }
  }
  std::erase_if(order, [&](ComputationId id) { return !runs[id.value]; });
  return order;
}

// New computations by names that nobody has.
class Bodies {
 public:
  explicit Bodies(Module& module) : module_(module) {
    for (const Computation& computation : module.computations) taken_.insert(computation.name);
  }
  ComputationId add() {
    Computation& computation = module_.computations.emplace_back();
    do computation.name = module_.strings.copy(fmt::format("fused_computation.{}", next_++));
    while (!taken_.insert(computation.name).second);
    return {static_cast<uint32_t>(module_.computations.size() - 1)};
  }

 private:
  Module& module_;
  std::unordered_set<std::string_view> taken_;
  int64_t next_ = 0;
};

// Whether an operand is an array that is recomputed where it is read.
bool reads_rematerialized(const Module& module, const FusionGroups& groups,
                          const FusionGroup& group) {
  return std::ranges::any_of(module.operands(group.members[0]), [&](InstructionId operand) {
    return groups.rematerializes(group, operand) && !module.shape(operand).is_scalar();
  });
}

// A group of one instruction is none, and counters of loops are left to be seen.
bool is_worth_it(const Module& module, const FusionGroups& groups, const FusionGroup& group,
                 bool scalars) {
  size_t count = 0;
  bool arrays = false;
  for (InstructionId id : group.members) {
    count += module[id].op != Op::Constant;
    arrays = arrays || !module.shape(id).is_scalar() || module[id].op == Op::Reduce;
  }
  const bool is_alone = count == 1 && (group.kind == FusionKind::Output ||
                                       !reads_rematerialized(module, groups, group));
  return (arrays || scalars) && count > 0 && !is_alone;
}

bool is_read_by_element(const Module& module, const Editor& editor, InstructionId id) {
  if (!module.shape(id).is_tuple() || module[module[id].computation].root == id) return false;
  return std::ranges::all_of(module.users(id), [&](InstructionId user) {
    return module[user].op == Op::GetTupleElement && !editor.is_pinned(user) &&
           (module.has_users(user) || module[module[user].computation].root == user);
  });
}

class Fuser {
 public:
  Fuser(Editor& editor, const FusionGroups& groups, const FusionGroup& group, ComputationId body)
      : editor_(editor), module_(editor.module()), groups_(groups), group_(group), body_(body) {}

  void fuse() {
    const InstructionId like = group_.roots[0];
    for (size_t i = group_.members.size(); i-- > 0;)
      copies_[group_.members[i].value] = copy(group_.members[i]);
    std::vector<InstructionId> given, results;
    for (InstructionId root : group_.roots) add_results(root, given, results);
    module_[body_].root = results[0];
    if (results.size() > 1) module_[body_].root = editor_.add_tuple(results[0], results);
    const Shape shape = module_.shape(module_[body_].root);
    const InstructionId fusion =
        editor_.add(like, Op::Fusion, shape, operands_, FusionAttributes{group_.kind, {}, body_});
    for (size_t i = 0; i < given.size(); ++i)
      editor_.replace(given[i], given.size() == 1 ? fusion
                                                  : editor_.add_element(given[i], fusion,
                                                                        static_cast<int64_t>(i)));
  }

 private:
  // What stands for a root outside, and its values inside: of a reduction of several arrays those
  // that are read.
  void add_results(InstructionId root, std::vector<InstructionId>& given,
                   std::vector<InstructionId>& results) {
    const InstructionId inside = copies_[root.value];
    if (!is_read_by_element(module_, editor_, root)) {
      given.push_back(root);
      results.push_back(inside);
      return;
    }
    for (InstructionId element : module_.users(root)) {
      const int64_t index = module_.attributes<GetTupleElementAttributes>(element).index;
      given.push_back(element);
      results.push_back(editor_.add_element(inside, inside, index));
    }
  }

  InstructionId copy(InstructionId id) {
    const auto given = module_.operands(id);
    std::vector<InstructionId> operands(given.begin(), given.end());
    for (InstructionId& operand : operands) operand = value_inside(operand);
    const InstructionId out = editor_.clone(id, body_, operands);
    if (module_[out].extra) module_.mutable_extra(out).sharding = nullptr;
    return out;
  }

  // Members come before their users; what is free is recomputed; others are parameters.
  InstructionId value_inside(InstructionId id) {
    if (const auto found = copies_.find(id.value); found != copies_.end()) return found->second;
    if (groups_.may_copy_into(group_, id)) return copies_[id.value] = copy(id);
    const Shape shape = module_.shape(id);
    operands_.push_back(id);
    return copies_[id.value] = editor_.add_parameter(body_, id, shape);
  }

  Editor& editor_;
  Module& module_;
  const FusionGroups& groups_;
  const FusionGroup& group_;
  ComputationId body_;
  std::vector<InstructionId> operands_;
  std::unordered_map<uint32_t, InstructionId> copies_;
};

}  // namespace

Result<bool> fuse_instructions(Module& module, const PassOptions& options) {
  const FusionOptions& fusion = options.fusion;
  if (module.header.is_scheduled && !fusion.scheduled) return false;
  Editor editor(module);
  bool changed = false;
  FusionGroups groups(editor, run_computations(module, fusion.scalars), options);
  groups.merge_outputs();
  groups.rematerialize_cheap();
  const auto becomes_fusion = [&](const FusionGroup& group) {
    return !group.members.empty() && is_worth_it(module, groups, group, fusion.scalars);
  };
  groups.tell_decisions(becomes_fusion);
  groups.read_parts_of_complex(editor);
  Bodies bodies(module);
  for (const FusionGroup& group : groups.groups()) {
    if (!becomes_fusion(group)) continue;
    Fuser(editor, groups, group, bodies.add()).fuse();
    changed = true;
  }
  return changed;
}

}  // namespace hilo
