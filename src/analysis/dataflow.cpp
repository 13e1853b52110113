#include "analysis/dataflow.h"

#include <algorithm>
#include <array>
#include <queue>

namespace hilo {

Dataflow::Dataflow(const Module& module, const CallGraph& calls, const NodeTable& nodes)
    : module_(module),
      calls_(calls),
      nodes_(nodes),
      orders_(post_orders(module, calls.order)),
      instances_(module.instructions.size()) {}

void Dataflow::define(InstructionId id, bool is_phi, uint32_t node) {
  const uint32_t number = static_cast<uint32_t>(values.size());
  check(number < ValueSets::max_values, "Dataflow: too many values");
  values.push_back({id, node, is_phi, false});
  known_sets.add_value(number);
  sets[first_node[id.value] + node] = ValueSets::single(number);
}

// Finds the flows into an instruction, and defines what does not flow into it.
void Dataflow::add_instruction(InstructionId id) {
  Instance& instance = instances_[id.value];
  instance.first_flow = static_cast<uint32_t>(flows_.size());
  instance.joining = add_flows({module_, calls_, nodes_}, id, flows_);
  instance.flow_count = static_cast<uint32_t>(flows_.size()) - instance.first_flow;
  if (instance.joining == Joining::Phi) return;
  const uint32_t count = nodes_[id].size();
  if (count == 1) {
    if (instance.flow_count == 0) define(id, false, 0);
    return;
  }
  std::vector<bool> flowing(count);
  for (const Flow& flow : flows_of(id))
    for (uint32_t i = 0; i < flow.count; ++i) flowing[flow.to + i] = true;
  for (uint32_t node = 0; node < count; ++node)
    if (!flowing[node]) define(id, false, node);
}

// Instructions in post order, what a call runs before the call.
void Dataflow::rank_computation(ComputationId start, std::vector<bool>& seen) {
  struct Level {
    ComputationId computation;
    size_t next = 0;
    bool called = false;                 // what the next instruction calls is ranked or in callees
    std::vector<ComputationId> callees;  // still to be ranked, the first one last
  };
  std::vector<Level> stack;
  const auto enter = [&](ComputationId computation) {
    if (seen[computation.value]) return;
    seen[computation.value] = true;
    stack.push_back({computation, 0, false, {}});
  };
  enter(start);
  while (!stack.empty()) {
    Level& level = stack.back();
    const auto& order = orders_[level.computation.value];
    if (!level.callees.empty()) {
      const ComputationId callee = level.callees.back();
      level.callees.pop_back();
      enter(callee);
    } else if (level.next == order.size()) {
      stack.pop_back();
    } else if (const InstructionId id = order[level.next];
               calls_control_flow(module_[id].op) && !level.called) {
      level.called = true;
      level.callees = module_.called(module_[id]);  // of a while the condition, then the body
      std::reverse(level.callees.begin(), level.callees.end());
    } else {
      ++level.next;
      level.called = false;
      instances_[id.value].rank = static_cast<uint32_t>(ranked_.size());
      ranked_.push_back(id);
    }
  }
}

void Dataflow::index_dependents() {
  first_dependent_.assign(module_.instructions.size() + 2, 0);
  for (const Flow& flow : flows_)
    if (flow.from) ++first_dependent_[flow.from.value + 2];
  for (size_t i = 2; i < first_dependent_.size(); ++i)
    first_dependent_[i] += first_dependent_[i - 1];
  dependents_.resize(first_dependent_.back());
  for (InstructionId id : ranked_)
    for (const Flow& flow : flows_of(id))
      if (flow.from)
        dependents_[first_dependent_[flow.from.value + 1]++] = instances_[id.value].rank;
}

bool Dataflow::update(InstructionId id) {
  const Instance& instance = instances_[id.value];
  if (instance.joining == Joining::Phi) return update_phi(id);
  if (instance.joining == Joining::Unite) return update_united(id);
  bool changed = false;
  ValueSets::Set* here = sets.data() + first_node[id.value];
  for (const Flow& flow : flows_of(id)) {
    if (!flow.from) continue;
    const ValueSets::Set* there = sets.data() + first_node[flow.from.value] + flow.from_node;
    for (uint32_t i = 0; i < flow.count; ++i)
      if (here[flow.to + i] != there[i]) here[flow.to + i] = there[i], changed = true;
  }
  return changed;
}

bool Dataflow::update_united(InstructionId id) {
  const uint32_t count = nodes_[id].size();
  std::vector<ValueSets::Set> inputs(count, ValueSets::empty);
  std::vector<bool> flowing(count);
  for (const Flow& flow : flows_of(id))
    for (uint32_t i = 0; flow.from && i < flow.count; ++i) {
      const uint32_t node = flow.to + i;
      const ValueSets::Set more = sets[first_node[flow.from.value] + flow.from_node + i];
      inputs[node] = flowing[node] ? known_sets.unite(std::array{inputs[node], more}) : more;
      flowing[node] = true;
    }
  bool changed = false;
  for (uint32_t node = 0; node < count; ++node) {
    ValueSets::Set& set = sets[first_node[id.value] + node];
    if (flowing[node] && set != inputs[node]) set = inputs[node], changed = true;
  }
  return changed;
}

bool Dataflow::update_phi(InstructionId id) {
  bool changed = false;
  std::vector<uint32_t> inputs;
  for (uint32_t node = 0; node < nodes_[id].size(); ++node) {
    inputs.clear();
    for (const Flow& flow : flows_of(id)) {
      if (node < flow.to || node >= flow.to + flow.count) continue;
      const auto values_there =
          known_sets.values(sets[first_node[flow.from.value] + flow.from_node + node - flow.to]);
      inputs.insert(inputs.end(), values_there.begin(), values_there.end());
    }
    if (update_phi_node(id, node, inputs)) changed = true;
  }
  return changed;
}

// One value that flows in stands here itself; two or more, the same twice included, make a phi.
bool Dataflow::update_phi_node(InstructionId id, uint32_t node, std::span<const uint32_t> inputs) {
  ValueSets::Set& set = sets[first_node[id.value] + node];
  if (inputs.empty()) return false;
  const auto now = known_sets.values(set);
  const bool is_own_phi =
      !now.empty() && values[now[0]].instruction == id && values[now[0]].node == node;
  if (inputs.size() == 1) {
    if (set == ValueSets::single(inputs[0])) return false;
    if (is_own_phi) values[now[0]].is_deleted = true;
    set = ValueSets::single(inputs[0]);
    return true;
  }
  if (!is_own_phi) {
    define(id, true, node);
    phis_.set_inputs(static_cast<uint32_t>(values.size() - 1), inputs);
    return true;
  }
  const uint32_t phi = now[0];
  if (phis_.has_inputs(phi, inputs)) return false;
  phis_.set_inputs(phi, inputs);
  return true;
}

void Dataflow::propagate() {
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> waiting;
  std::vector<bool> is_waiting(ranked_.size());
  const auto add = [&](uint32_t rank) {
    if (is_waiting[rank]) return;
    is_waiting[rank] = true;
    waiting.push(rank);
  };
  for (uint32_t rank = 0; rank < ranked_.size(); ++rank)
    if (instances_[ranked_[rank].value].flow_count > 0) add(rank);
  while (!waiting.empty()) {
    const uint32_t rank = waiting.top();
    waiting.pop();
    is_waiting[rank] = false;
    const InstructionId id = ranked_[rank];
    if (!update(id)) continue;
    // index_dependents() left the beginning of the next instruction's at id + 1.
    for (uint32_t i = first_dependent_[id.value]; i < first_dependent_[id.value + 1]; ++i)
      add(dependents_[i]);
  }
}

void Dataflow::replace_phis() {
  phis_.optimize();
  const auto standing = [&](uint32_t value) {
    return ValueSets::single(values[value].is_phi ? phis_.optimized(value) : value);
  };
  std::vector<ValueSets::Set> replaced;
  for (ValueSets::Set& set : sets) {
    replaced.clear();
    for (uint32_t value : known_sets.values(set)) replaced.push_back(standing(value));
    set = known_sets.unite(replaced);
  }
  for (uint32_t value = 0; value < values.size(); ++value)
    if (standing(value) != ValueSets::single(value)) values[value].is_deleted = true;
}

Result<void> Dataflow::run() {
  first_node.assign(module_.instructions.size() + 1, 0);
  for (ComputationId computation : calls_.order)
    for (InstructionId id : module_[computation].instructions)
      first_node[id.value + 1] = nodes_[id].size();
  for (size_t i = 1; i < first_node.size(); ++i) first_node[i] += first_node[i - 1];
  sets.assign(first_node.back(), ValueSets::empty);
  for (ComputationId computation : calls_.order) {
    if (calls_.contexts[computation.value] == CallContext::Both)
      return fail(ErrorKind::Unsupported,
                  "{} is called by control flow and applied to elements as well",
                  module_[computation].name);
    for (InstructionId id : orders_[computation.value]) add_instruction(id);
  }
  std::vector<bool> seen(module_.computations.size());
  for (ComputationId computation : calls_.order)  // nothing flows into what is applied
    if (calls_.contexts[computation.value] == CallContext::Applied)
      rank_computation(computation, seen);
  rank_computation(module_.entry, seen);
  index_dependents();
  propagate();
  replace_phis();
  return {};
}

}  // namespace hilo
