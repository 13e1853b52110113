#include "analysis/flows.h"

#include <algorithm>
#include <array>

namespace hilo {
namespace {

struct Flows {
  const FlowSource& source;
  InstructionId id;
  std::vector<Flow>& out;

  const Module& module() const { return source.module; }
  const ShapeNodes& nodes() const { return source.nodes[id]; }
  const ShapeNodes& nodes(InstructionId other) const { return source.nodes[other]; }
  InstructionId operand(size_t i) const { return module().operand(id, i); }
  size_t operand_count() const { return module().operands(id).size(); }

  // The part at `to` is the part at `from_node` of `from`.
  void part(uint32_t to, InstructionId from, uint32_t from_node) const {
    const uint32_t there = nodes(from).ends[from_node] - from_node;
    out.push_back({to, from, from_node, std::min(nodes().ends[to] - to, there)});
  }
  // The same for arrays only: tuples among them are made here.
  void arrays(uint32_t to, InstructionId from, uint32_t from_node) const {
    const ShapeNodes& here = nodes();
    const uint32_t count = std::min(here.ends[to] - to, nodes(from).ends[from_node] - from_node);
    for (uint32_t i = 0; i < count; ++i)
      if (!here.shapes[to + i]->is_tuple()) out.push_back({to + i, from, from_node + i, 1});
  }
  void whole(InstructionId from) const { part(0, from, 0); }
  bool has_element(uint32_t node, size_t element) const {
    return nodes().shapes[node]->is_tuple() && element < nodes().shapes[node]->elements.size();
  }
};

using Rule = Joining (*)(const Flows&);

Joining pass_operand(const Flows& flows) {
  flows.whole(flows.operand(0));
  return Joining::Replace;
}

// A shallow copy: the table of pointers is new, what it points to is not.
Joining copy(const Flows& flows) {
  const uint32_t count = flows.nodes().size();
  if (count > 1) flows.out.push_back({1, flows.operand(0), 1, count - 1});
  return Joining::Replace;
}

Joining get_tuple_element(const Flows& flows) {
  const int64_t index = flows.module().attributes<GetTupleElementAttributes>(flows.id).index;
  const InstructionId tuple = flows.operand(0);
  flows.part(0, tuple, flows.nodes(tuple).child(0, static_cast<size_t>(index)));
  return Joining::Replace;
}

Joining tuple(const Flows& flows) {
  for (size_t i = 0; i < flows.operand_count(); ++i)
    flows.part(flows.nodes().child(0, i), flows.operand(i), 0);
  return Joining::Replace;
}

// (destination, source, context)
Joining copy_start(const Flows& flows) {
  if (flows.has_element(0, 1)) flows.part(flows.nodes().child(0, 1), flows.operand(0), 0);
  return Joining::Replace;
}

Joining pass_first_element(const Flows& flows) {
  const InstructionId start = flows.operand(0);
  if (flows.nodes(start).size() > 1) flows.part(0, start, flows.nodes(start).child(0, 0));
  return Joining::Replace;
}

// (operand, context, token)
Joining send(const Flows& flows) {
  if (flows.has_element(0, 0)) flows.part(flows.nodes().child(0, 0), flows.operand(0), 0);
  return Joining::Replace;
}

// (value, token) of (value, context, token)
Joining recv_done(const Flows& flows) {
  const InstructionId start = flows.operand(0);
  if (flows.has_element(0, 0) && flows.nodes(start).size() > 1)
    flows.part(flows.nodes().child(0, 0), start, flows.nodes(start).child(0, 0));
  return Joining::Replace;
}

// (operands, results): the operands pass, one alone or several in a tuple.
Joining all_gather_start(const Flows& flows) {
  if (!flows.has_element(0, 0)) return Joining::Replace;
  const uint32_t first = flows.nodes().child(0, 0);
  if (flows.operand_count() == 1) flows.part(first, flows.operand(0), 0);
  for (size_t i = 0; flows.operand_count() > 1 && i < flows.operand_count(); ++i)
    if (flows.has_element(first, i)) flows.part(flows.nodes().child(first, i), flows.operand(i), 0);
  return Joining::Replace;
}

Joining pass_second_element(const Flows& flows) {
  const InstructionId start = flows.operand(0);
  const Shape& shape = flows.module().shape(start);
  if (shape.is_tuple() && shape.elements.size() > 1)
    flows.arrays(0, start, flows.nodes(start).child(0, 1));
  return Joining::Replace;
}

// As all-gather-start, but nobody makes the tuple of several operands, and in place (with slices)
// only the first of four operands is sent.
Joining collective_permute_start(const Flows& flows) {
  if (!flows.has_element(0, 0)) return Joining::Replace;
  const uint32_t first = flows.nodes().child(0, 0);
  const auto& attributes = flows.module().attributes<CollectivePermuteAttributes>(flows.id);
  const InstructionId sent = flows.operand(0);
  const bool in_place = !attributes.slice_sizes.lists.empty();
  if (flows.nodes().shapes[first]->is_tuple()) flows.out.push_back({first, {}, 0, 1});
  if (!in_place && flows.operand_count() > 1) {
    for (size_t i = 0; i < flows.operand_count(); ++i)
      if (flows.has_element(first, i))
        flows.part(flows.nodes().child(first, i), flows.operand(i), 0);
  } else if (flows.module().shape(sent).is_tuple()) {
    for (size_t i = 0; i < flows.module().shape(sent).elements.size(); ++i)
      if (flows.has_element(first, i))
        flows.part(flows.nodes().child(first, i), sent, flows.nodes(sent).child(0, i));
  } else {
    flows.part(first, sent, 0);
  }
  return Joining::Replace;
}

InstructionId root_of(const Flows& flows, ComputationId computation) {
  return flows.module()[computation].root;
}

// The result's arrays from `to` on are those of the computation that runs asynchronously.
void pass_wrapped_root(const Flows& flows, uint32_t to) {
  InstructionId step = flows.id;
  const auto calls = [&] { return flows.module().attributes<AsyncAttributes>(step).calls; };
  while (!calls() && flows.module()[step].op != Op::AsyncStart) {
    step = flows.module().operand(step, 0);
    const Op op = flows.module()[step].op;
    if (op != Op::AsyncStart && op != Op::AsyncUpdate) return;
  }
  if (calls()) flows.arrays(to, root_of(flows, calls()), 0);
}

// ((operands), result, contexts): the arrays of both pass.
Joining async_start(const Flows& flows) {
  if (flows.has_element(0, 0)) {
    const uint32_t operands = flows.nodes().child(0, 0);
    for (size_t i = 0; i < flows.operand_count(); ++i)
      if (flows.has_element(operands, i))
        flows.arrays(flows.nodes().child(operands, i), flows.operand(i), 0);
  }
  if (flows.has_element(0, 1)) pass_wrapped_root(flows, flows.nodes().child(0, 1));
  return Joining::Replace;
}

// Element `element` of the whole passes from the same element of the step before, its arrays only.
void pass_element(const Flows& flows, size_t element) {
  const InstructionId before = flows.operand(0);
  const Shape& shape = flows.module().shape(before);
  if (!flows.has_element(0, element) || element >= shape.elements.size()) return;
  const uint32_t here = flows.nodes().child(0, element);
  const uint32_t there = flows.nodes(before).child(0, element);
  const uint32_t count = flows.nodes(before).ends[there] - there;
  const bool waits = flows.nodes(before).shapes[there]->is_tuple() && count == 1;  // ()
  if (!waits && flows.nodes().ends[here] - here == count) flows.arrays(here, before, there);
}

// As its operand; further operands are bound to the next parameters. What is not there yet, the
// step before holds as ().
Joining async_update(const Flows& flows) {
  const Shape& before = flows.module().shape(flows.operand(0));
  if (flows.has_element(0, 0) && !before.elements.empty()) {
    const uint32_t operands = flows.nodes().child(0, 0);
    const uint32_t known = flows.nodes(flows.operand(0)).child(0, 0);
    const size_t count = before.elements[0].elements.size();
    for (size_t i = 0; flows.has_element(operands, i); ++i)
      if (i < count)
        flows.arrays(flows.nodes().child(operands, i), flows.operand(0),
                     flows.nodes(flows.operand(0)).child(known, i));
      else if (i - count + 1 < flows.operand_count())
        flows.arrays(flows.nodes().child(operands, i), flows.operand(i - count + 1), 0);
  }
  for (size_t i = 1; flows.has_element(0, i); ++i) pass_element(flows, i);
  if (flows.has_element(0, 1)) pass_wrapped_root(flows, flows.nodes().child(0, 1));
  return Joining::Unite;
}

Joining async_done(const Flows& flows) {
  pass_second_element(flows);
  pass_wrapped_root(flows, 0);
  return Joining::Unite;
}

Joining call(const Flows& flows) {
  flows.whole(root_of(flows, flows.module().attributes<CallAttributes>(flows.id).to_apply));
  return Joining::Replace;
}

Joining while_loop(const Flows& flows) {
  flows.whole(root_of(flows, flows.module().attributes<WhileAttributes>(flows.id).body));
  flows.whole(flows.operand(0));
  return Joining::Phi;
}

Joining conditional(const Flows& flows) {
  for (ComputationId branch : flows.module().called(flows.module()[flows.id]))
    flows.whole(root_of(flows, branch));
  return Joining::Phi;
}

// The update that goes on with an async-start or async-update, or none.
InstructionId next_update(const Module& module, InstructionId step) {
  for (InstructionId user : module.users(step))
    if (module[user].op == Op::AsyncUpdate && module.operand(user, 0) == step) return user;
  return {};
}

// The operand for a parameter of what is called; async-updates bind those that their start lacks.
InstructionId passed_operand(const Module& module, InstructionId caller, size_t number) {
  while (caller && number >= module.operands(caller).size()) {
    number = number - module.operands(caller).size() + 1;
    caller = next_update(module, caller);
  }
  return caller ? module.operand(caller, number) : InstructionId();
}

// What reaches a parameter from one caller; true when it asks for a phi.
bool add_caller(const Flows& flows, InstructionId caller) {
  const Module& module = flows.module();
  const Op op = module[caller].op;
  const ComputationId here = module[flows.id].computation;
  if (op == Op::While) {
    const InstructionId root = root_of(flows, module.attributes<WhileAttributes>(caller).body);
    flows.whole(module.operand(caller, 0));
    if (root != flows.id) flows.whole(root);
    return true;
  }
  if (op == Op::Conditional) {
    const std::vector<ComputationId> branches = module.called(module[caller]);
    for (size_t i = 0; i < branches.size(); ++i)
      if (branches[i] == here) flows.whole(module.operand(caller, i + 1));
    return true;
  }
  const size_t number =
      static_cast<size_t>(module.attributes<ParameterAttributes>(flows.id).number);
  if (const InstructionId operand = passed_operand(module, caller, number)) flows.whole(operand);
  return false;
}

Joining parameter(const Flows& flows) {
  const ComputationId here = flows.module()[flows.id].computation;
  std::vector<InstructionId> callers = flows.source.calls.callers[here.value];
  if (callers.empty() || flows.source.calls.contexts[here.value] != CallContext::ControlFlow)
    return Joining::Replace;
  callers.erase(std::unique(callers.begin(), callers.end()), callers.end());
  bool phi = false;
  for (InstructionId caller : callers) phi |= add_caller(flows, caller);
  return phi ? Joining::Phi : Joining::Unite;
}

constexpr std::pair<Op, Rule> rules[] = {
    {Op::AddDependency, pass_operand},
    {Op::AllGatherDone, pass_second_element},
    {Op::AllGatherStart, all_gather_start},
    {Op::AllReduceDone, pass_operand},
    {Op::AsyncDone, async_done},
    {Op::AsyncStart, async_start},
    {Op::AsyncUpdate, async_update},
    {Op::Bitcast, pass_operand},
    {Op::Call, call},
    {Op::CollectivePermuteDone, pass_second_element},
    {Op::CollectivePermuteStart, collective_permute_start},
    {Op::Conditional, conditional},
    {Op::Copy, copy},
    {Op::CopyDone, pass_first_element},
    {Op::CopyStart, copy_start},
    {Op::Domain, pass_operand},
    {Op::GetTupleElement, get_tuple_element},
    {Op::OptimizationBarrier, pass_operand},
    {Op::Parameter, parameter},
    {Op::RecvDone, recv_done},
    {Op::Send, send},
    {Op::Tuple, tuple},
    {Op::While, while_loop},
};

constexpr std::array<Rule, op_count> rules_by_op = [] {
  std::array<Rule, op_count> out{};
  for (const auto& [op, rule] : rules) out[static_cast<size_t>(op)] = rule;
  return out;
}();

}  // namespace

Joining add_flows(const FlowSource& source, InstructionId id, std::vector<Flow>& out) {
  const Rule rule = rules_by_op[static_cast<size_t>(source.module[id].op)];
  return rule ? rule({source, id, out}) : Joining::Replace;
}

}  // namespace hilo
