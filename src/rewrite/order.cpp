#include "rewrite/order.h"

#include <algorithm>
#include <unordered_set>

#include "rewrite/editor.h"

namespace hilo {

namespace {

// Ids that have been seen: of those near each other a bit each, no more bits than 64 for each id
// that is expected.
class SeenIds {
 public:
  template <class Id>
  explicit SeenIds(const std::vector<Id>& expected) {
    if (expected.empty()) return;
    const auto [least, greatest] = std::ranges::minmax(expected, {}, &Id::value);
    first_ = least.value;
    is_near_seen_.resize(std::min<size_t>(greatest.value - first_ + 1, 64 * expected.size()));
  }
  // Whether it is a new one.
  bool insert(uint32_t id) {
    const size_t at = size_t{id} - first_;
    if (at >= is_near_seen_.size()) return far_.insert(id).second;
    if (is_near_seen_[at]) return false;
    return is_near_seen_[at] = true;
  }

 private:
  uint32_t first_ = 0;
  std::vector<bool> is_near_seen_;
  std::unordered_set<uint32_t> far_;
};

// All of `starts` and what they lead to, each once, what it leads to before it. add_children(x,
// stack) pushes what x leads to, the last one to be taken first.
template <class Id>
using Walk = std::vector<std::pair<Id, bool>>;
template <class Id, class AddChildren>
std::vector<Id> children_first(const std::vector<Id>& starts, AddChildren&& add_children) {
  std::vector<Id> out;
  SeenIds seen(starts);
  Walk<Id> stack;
  out.reserve(starts.size());
  for (Id start : starts) {
    stack.push_back({start, false});
    while (!stack.empty()) {
      const auto [top, done] = stack.back();
      stack.pop_back();
      if (done) {
        out.push_back(top);
        continue;
      }
      if (!seen.insert(top.value)) continue;
      stack.push_back({top, true});
      add_children(top, stack);
    }
  }
  return out;
}

}  // namespace

namespace {

// Ids ascend, and operands and control predecessors have smaller ones, as in modules that were read
// or put in order: then it is the order that is looked for.
bool is_numbered_in_order(const Module& module, std::span<const InstructionId> list) {
  for (size_t i = 0; i < list.size(); ++i) {
    const InstructionId id = list[i];
    const auto is_before = [&](InstructionId other) { return other.value < id.value; };
    if ((i > 0 && !is_before(list[i - 1])) || !std::ranges::all_of(module.operands(id), is_before))
      return false;
    if (module[id].extra &&
        !std::ranges::all_of(module.extra(module[id]).control_predecessors, is_before))
      return false;
  }
  return true;
}

}  // namespace

std::vector<InstructionId> operands_first(const Module& module, ComputationId id) {
  std::vector<InstructionId> all;
  all.reserve(module[id].instructions.size());
  for (InstructionId one : module[id].instructions)
    if (!module[one].removed) all.push_back(one);
  if (is_numbered_in_order(module, all)) return all;
  return children_first(all, [&](InstructionId top, Walk<InstructionId>& stack) {
    const std::vector<InstructionId>& before = module.extra(module[top]).control_predecessors;
    for (size_t i = before.size(); i-- > 0;) stack.push_back({before[i], false});
    const auto operands = module.operands(top);
    for (size_t i = operands.size(); i-- > 0;) stack.push_back({operands[i], false});
  });
}

namespace {

bool is_ordered(const Module& module, const Computation& computation, std::vector<bool>& done) {
  for (InstructionId id : computation.instructions) {
    if (module[id].removed) continue;
    for (InstructionId operand : module.operands(id))
      if (!done[operand.value]) return false;
    for (InstructionId before : module.extra(module[id]).control_predecessors)
      if (!done[before.value]) return false;
    done[id.value] = true;
  }
  return true;
}

// Whether the old instructions stand in `order` as they stood in `before`.
bool keeps_old(const std::vector<InstructionId>& before, const std::vector<InstructionId>& order,
               const Module& module, uint32_t first_new) {
  const auto is_old = [&](InstructionId id) { return id.value < first_new && !module[id].removed; };
  auto at = before.begin();
  for (InstructionId id : order) {
    if (!is_old(id)) continue;
    at = std::find_if(at, before.end(), is_old);
    if (at == before.end() || *at++ != id) return false;
  }
  return true;
}

// Callees first, as the text has them; otherwise in the order that is.
std::vector<ComputationId> callees_first(const Module& module) {
  std::vector<ComputationId> all;
  for (uint32_t i = 0; i < module.computations.size(); ++i) all.push_back({i});
  return children_first(all, [&](ComputationId top, Walk<ComputationId>& stack) {
    for (InstructionId id : module[top].instructions)
      if (!module[id].removed && !is_elementwise(module[id].op))
        for (ComputationId callee : module.called(module[id])) stack.push_back({callee, false});
  });
}

// Keeps these computations, in this order; nothing may stand in others.
void rearrange(Module& module, const std::vector<ComputationId>& order) {
  std::vector<ComputationId> renamed(module.computations.size());
  for (uint32_t i = 0; i < order.size(); ++i) renamed[order[i].value] = {i};
  for (size_t i = module.instructions.size(); i-- > 0;) {
    Instruction& instruction = module.instructions[i];
    if (instruction.removed) continue;
    for_each_callee(module, {static_cast<uint32_t>(i)},
                    [&](ComputationId& callee) { callee = renamed[callee.value]; });
    instruction.computation = renamed[instruction.computation.value];
  }
  module.entry = renamed[module.entry.value];
  std::vector<Computation> computations;
  for (ComputationId id : order) computations.push_back(std::move(module.computations[id.value]));
  module.computations = std::move(computations);
}

}  // namespace

void restore_order(Module& module, uint32_t first_new) {
  std::vector<bool> done(module.instructions.size());
  for (uint32_t i = 0; i < module.computations.size(); ++i) {
    Computation& computation = module.computations[i];
    if (is_ordered(module, computation, done)) continue;
    std::vector<InstructionId> order = operands_first(module, {i});
    if (!keeps_old(computation.instructions, order, module, first_new))
      module.header.is_scheduled = false;
    computation.instructions = std::move(order);
  }
  const std::vector<ComputationId> order = callees_first(module);
  if (!std::ranges::is_sorted(order, {}, &ComputationId::value)) rearrange(module, order);
  module.compact();
}

bool remove_unreachable(Module& module) {
  std::vector<bool> reached(module.computations.size());
  for (ComputationId id : module.post_order()) reached[id.value] = true;
  if (std::ranges::find(reached, false) == reached.end()) return false;
  std::vector<ComputationId> kept;
  for (uint32_t i = 0; i < reached.size(); ++i) {
    if (reached[i]) {
      kept.push_back({i});
      continue;
    }
    const std::vector<InstructionId> order = operands_first(module, {i});
    for (size_t k = order.size(); k-- > 0;) module.remove(order[k]);  // users before operands
  }
  rearrange(module, kept);
  return true;
}

}  // namespace hilo
