#include "pass/control/loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "pass/fuse/groups.h"

namespace hilo {
namespace {

bool takes_apart(const Module& module, InstructionId tuple) {
  for (InstructionId user : module.users(tuple))
    if (module[user].op != Op::GetTupleElement) return false;
  return true;
}

bool has_sharding(const Module& module, InstructionId id) {
  return module.extra(module[id]).sharding != nullptr;
}

}  // namespace

std::optional<Loop> find_loop(const Editor& editor, InstructionId id,
                              const std::vector<int>& callers) {
  const Module& module = editor.module();
  if (module[id].op != Op::While || !module.shape(id).is_tuple()) return std::nullopt;
  const auto& attributes = module.attributes<WhileAttributes>(id);
  Loop loop{id, attributes.condition, attributes.body, {}, {}, module.shape(id).elements.size()};
  if (callers[loop.condition.value] != 1 || callers[loop.body.value] != 1) return std::nullopt;
  loop.condition_state = module[loop.condition].parameters[0];
  loop.body_state = module[loop.body].parameters[0];
  const InstructionId root = module[loop.body].root;
  if (module[root].op != Op::Tuple || editor.is_pinned(root) || module.has_users(root))
    return std::nullopt;
  if (module[loop.condition].root == loop.condition_state) return std::nullopt;
  if (!takes_apart(module, loop.condition_state) || !takes_apart(module, loop.body_state))
    return std::nullopt;
  return loop;
}

std::vector<Loop> find_loops(const Editor& editor) {
  const std::vector<int> callers = count_callers(editor.module());
  std::vector<Loop> out;
  for (ComputationId id : open_computations(editor.module()))
    for (InstructionId instruction : editor.module()[id].instructions)
      if (!editor.module()[instruction].removed)
        if (const auto loop = find_loop(editor, instruction, callers)) out.push_back(*loop);
  return out;
}

bool can_duplicate_body(const Editor& editor, const Loop& loop) {
  const Module& module = editor.module();
  if (editor.is_pinned(loop.instruction) || editor.effects().has(loop.condition)) return false;
  return std::ranges::all_of(module[loop.body].instructions, [&](InstructionId id) {
    const Op op = module[id].op;
    return module[id].removed ||
           (op != Op::While && op != Op::Conditional && op != Op::Call && !is_communication(op) &&
            !editor.is_pinned(id) && !editor.effects().has(id));
  });
}

void forget_but_rounds(Module& module, InstructionId loop, std::optional<int64_t> rounds) {
  const std::string_view config = module.extra(module[loop]).backend_config;
  if (config.empty()) return;
  Extra& extra = module.mutable_extra(loop);
  extra.backend_config = {};
  if (!rounds || config.find("known_trip_count") == std::string_view::npos) return;
  extra.backend_config_is_json = true;
  extra.backend_config =
      module.strings.copy(fmt::format("{{\"known_trip_count\":{{\"n\":\"{}\"}}}}", *rounds));
}

InstructionId next_element(const Module& module, const Loop& loop, size_t i) {
  return module.operand(module[loop.body].root, i);
}

InstructionId initial_element(const Module& module, const Loop& loop, size_t i) {
  const InstructionId initial = module.operand(loop.instruction, 0);
  return module[initial].op == Op::Tuple ? module.operand(initial, i) : InstructionId{};
}

bool is_invariant(const Module& module, const Loop& loop, size_t i) {
  const InstructionId next = next_element(module, loop, i);
  return module[next].op == Op::GetTupleElement && module.operand(next, 0) == loop.body_state &&
         module.attributes<GetTupleElementAttributes>(next).index == static_cast<int64_t>(i);
}

bool is_computed_from_scalars(const Module& module, InstructionId id) {
  constexpr size_t max_visited = 8;
  std::vector<InstructionId> seen = {id};
  for (size_t i = 0; i < seen.size(); ++i) {
    const Op op = module[seen[i]].op;
    const bool is_number = op == Op::Constant && module.shape(seen[i]).is_scalar();
    if (is_number || op == Op::Iota) continue;
    if ((op != Op::Broadcast && (!is_elementwise(op) || !has_trait(op, TraitCheap))) ||
        seen.size() > max_visited)
      return false;
    for (InstructionId operand : module.operands(seen[i]))
      if (std::ranges::find(seen, operand) == seen.end()) seen.push_back(operand);
  }
  return true;
}

bool reads_by_elements(const Module& module, InstructionId user) {
  const auto reads = [&](InstructionId id) {
    const Op op = module[id].op;
    return op == Op::Broadcast || is_elementwise(op) ||
           (op == Op::Concatenate && !is_choice_of_many(module, id));
  };
  return module[user].op == Op::Reshape ? std::ranges::all_of(module.users(user), reads)
                                        : reads(user);
}

bool is_read_by_elements(const Module& module, InstructionId id) {
  return std::ranges::all_of(module.users(id),
                             [&](InstructionId user) { return reads_by_elements(module, user); });
}

Elements elements_of(const Module& module, InstructionId tuple) {
  Elements out;
  out.by_index.resize(module.shape(tuple).elements.size());
  out.whole = module[module[tuple].computation].root == tuple;
  for (InstructionId user : module.users(tuple))
    if (module[user].op == Op::GetTupleElement)
      out.by_index[module.attributes<GetTupleElementAttributes>(user).index].push_back(user);
    else out.whole = true;
  return out;
}

bool can_change_state(const Module& module, const Loop& loop) {
  return !has_sharding(module, loop.instruction) && !has_sharding(module, loop.body_state) &&
         !has_sharding(module, loop.condition_state) &&
         !has_sharding(module, module[loop.body].root);
}

namespace {

class StateChange {
 public:
  StateChange(Editor& editor, const Loop& loop, const std::vector<bool>& kept,
              std::span<const InstructionId> added)
      : editor_(editor), module_(editor.module()), loop_(loop), kept_(kept) {
    added_.assign(added.begin(), added.end());
    for (size_t i = 0, next = 0; i < kept.size(); ++i) place_.push_back(kept[i] ? next++ : none);
  }

  std::vector<InstructionId> run() {
    const std::vector<InstructionId> initial = initial_elements();
    drop_root();
    const bool whole = elements_of(module_, loop_.instruction).whole;
    renumber(loop_.body_state), renumber(loop_.condition_state), renumber(loop_.instruction);
    const InstructionId tuple = editor_.add_tuple(loop_.instruction, initial);
    const Shape state = module_.shape(tuple);
    for (InstructionId id : {loop_.body_state, loop_.condition_state, loop_.instruction})
      editor_.set_shape(id, state);
    editor_.set_operand(loop_.instruction, 0, tuple);
    if (whole) rebuild_whole();
    return finish_body(state);
  }

 private:
  static constexpr size_t none = SIZE_MAX;

  std::vector<InstructionId> initial_elements() {
    std::vector<InstructionId> out;
    const InstructionId before = module_.operand(loop_.instruction, 0);
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i]) continue;
      const InstructionId known = initial_element(module_, loop_, i);
      out.push_back(known ? known : editor_.add_element(loop_.instruction, before, i));
    }
    out.insert(out.end(), added_.begin(), added_.end());
    return out;
  }

  // The body's results that stay, for the new root; the old one must not hold the others.
  void drop_root() {
    const InstructionId root = module_[loop_.body].root;
    for (size_t i = 0; i < kept_.size(); ++i)
      if (kept_[i]) next_.push_back(module_.operand(root, i));
    root_ = root;
  }

  void renumber(InstructionId tuple) {
    const Elements elements = elements_of(module_, tuple);
    for (size_t i = 0; i < elements.by_index.size(); ++i)
      for (InstructionId element : elements.by_index[i])
        if (place_[i] == none) dropped_.push_back(element);
        else
          module_.mutable_attributes<GetTupleElementAttributes>(element).index =
              static_cast<int64_t>(place_[i]);
  }

  // Users of the whole result get the tuple of before; all its elements are kept.
  void rebuild_whole() {
    std::vector<InstructionId> elements;
    for (size_t i = 0; i < kept_.size(); ++i)
      elements.push_back(editor_.add_element(loop_.instruction, loop_.instruction, i));
    const InstructionId tuple = editor_.add_tuple(loop_.instruction, elements);
    for (InstructionId user : module_.users(loop_.instruction))
      if (module_[user].op != Op::GetTupleElement)
        for (size_t i = 0; i < module_[user].operand_count; ++i)
          if (module_.operand(user, i) == loop_.instruction) editor_.set_operand(user, i, tuple);
    Computation& around = module_[module_[loop_.instruction].computation];
    if (around.root == loop_.instruction) around.root = tuple;
  }

  std::vector<InstructionId> finish_body(const Shape& state) {
    std::vector<InstructionId> fresh;
    for (size_t i = 0; i < added_.size(); ++i) {
      fresh.push_back(editor_.add_element(root_, loop_.body_state, next_.size()));
      next_.push_back(fresh.back());
    }
    const InstructionId root = editor_.add(root_, Op::Tuple, state, next_);
    editor_.set_root(loop_.body, root);
    for (InstructionId element : dropped_)
      if (!module_[element].removed) editor_.remove_unused(element);
    return fresh;
  }

  Editor& editor_;
  Module& module_;
  Loop loop_;
  std::vector<bool> kept_;
  std::vector<InstructionId> added_;
  std::vector<size_t> place_;  // new index by old one
  std::vector<InstructionId> next_, dropped_;
  InstructionId root_;
};

}  // namespace

std::vector<InstructionId> change_state(Editor& editor, const Loop& loop,
                                        const std::vector<bool>& kept,
                                        std::span<const InstructionId> added) {
  return StateChange(editor, loop, kept, added).run();
}

}  // namespace hilo
