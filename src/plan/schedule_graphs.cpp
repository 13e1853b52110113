#include <algorithm>
#include <unordered_set>

#include "plan/schedule.h"

namespace hilo {
namespace {

// Whether the computations that it calls run as steps of the schedule, with buffers of their own.
bool runs_steps(Op op) {
  return op == Op::While || op == Op::Conditional || op == Op::Call || op == Op::AsyncStart;
}

// Of an asynchronous start the step that brings the last operand: with it the computation begins.
InstructionId beginning(const Module& module, InstructionId start) {
  const ComputationId callee = module.attributes<AsyncAttributes>(start).calls;
  InstructionId step = start;
  size_t bound = module.operands(start).size();
  while (bound < module[callee].parameters.size()) {
    InstructionId next;
    for (InstructionId user : module.users(step))
      if (module[user].op == Op::AsyncUpdate && module.operand(user, 0) == step) next = user;
    if (!next) return start;
    step = next;
    bound += module.operands(step).size() - 1;
  }
  return step;
}

}  // namespace

ScheduleGraphs::ScheduleGraphs(const Module& module, const Machine& machine, const Aliases& aliases)
    : module_(module),
      aliases_(aliases),
      bytes_(aliases.buffers.size(), 0),
      events_(module.computations.size()),
      results_(module.computations.size()),
      callers_(module.computations.size()),
      node_(module.instructions.size()) {
  find_callers();
  for (uint32_t i = 0; i < aliases.values.size(); ++i) {
    int64_t& bytes = bytes_[aliases.buffer_of[i].value];
    bytes = std::max(bytes, buffer_bytes(machine, shape_of(module, aliases.values[i])));
    add_value({i});
  }
  add_inner_births();
}

void ScheduleGraphs::add(ValueId value, InstructionId instruction, Event::Kind kind) {
  events_[module_[instruction].computation.value].push_back(
      {aliases_.buffer_of[value.value], value, instruction, kind,
       kind == Event::Birth && module_[instruction].op == Op::Parameter});
}

void ScheduleGraphs::add_value(ValueId id) {
  const Value& value = aliases_[id];
  for (const ValueUse& use : value.uses) add(id, use.instruction, Event::Read);
  for (const Position& position : value.positions) {
    const Instruction& instruction = module_[position.instruction];
    // What callees make and what callers pass is seen first where it enters the computation.
    const bool is_birth = position == value.definition() || instruction.op == Op::Parameter ||
                          runs_here(position.instruction);
    add(id, position.instruction, is_birth ? Event::Birth : Event::Stand);
    if (module_[instruction.computation].root == position.instruction)
      results_[instruction.computation.value].push_back(aliases_.buffer_of[id.value]);
  }
}

void ScheduleGraphs::find_callers() {
  for (ComputationId computation : module_.post_order())
    for (InstructionId id : module_[computation].instructions)
      if (runs_steps(module_[id].op))
        for (ComputationId callee : module_.called(module_[id]))
          callers_[callee.value] = module_[id].op == Op::AsyncStart ? beginning(module_, id) : id;
}

bool ScheduleGraphs::runs_here(InstructionId id) const {
  const Op op = module_[id].op;
  if (op == Op::AsyncStart)
    return callers_[module_.attributes<AsyncAttributes>(id).calls.value] == id;
  return runs_steps(op);
}

// For those around it, a value comes to be in its buffer when the call begins, whether or not it
// comes out of it: once for each buffer and call, as far out as the buffer is known.
void ScheduleGraphs::add_inner_births() {
  std::vector<uint32_t> depths(module_.computations.size(), 0);
  std::vector<ComputationId> callers_first = module_.post_order();
  std::ranges::reverse(callers_first);
  for (ComputationId computation : callers_first)
    if (const InstructionId caller = callers_[computation.value])
      depths[computation.value] = depths[module_[caller].computation.value] + 1;
  const auto depth_of = [&](InstructionId id) { return depths[module_[id].computation.value]; };
  std::vector<uint32_t> outermost(aliases_.buffers.size(), UINT32_MAX);
  for (uint32_t i = 0; i < aliases_.values.size(); ++i)
    for (const Position& position : aliases_.values[i].positions) {
      uint32_t& least = outermost[aliases_.buffer_of[i].value];
      least = std::min(least, depth_of(position.instruction));
    }
  std::unordered_set<uint64_t> seen;
  for (uint32_t i = 0; i < aliases_.values.size(); ++i) {
    const BufferId buffer = aliases_.buffer_of[i];
    const InstructionId made = aliases_.values[i].definition().instruction;
    for (InstructionId at = callers_[module_[made].computation.value];
         at && depth_of(at) >= outermost[buffer.value] &&
         seen.insert(uint64_t{buffer.value} << 32 | at.value).second;
         at = callers_[module_[at].computation.value])
      add({i}, at, Event::Inside);
  }
}

// The order of the file where it is sound.
Order ScheduleGraphs::operands_first(ComputationId computation) const {
  const std::vector<InstructionId>& instructions = module_[computation].instructions;
  enum Mark : uint8_t { New, Open, Done };
  std::vector<Mark> marks(instructions.size(), New);
  for (uint32_t i = 0; i < instructions.size(); ++i) node_[instructions[i].value] = i;
  Order order;
  std::vector<uint32_t> stack;
  for (uint32_t start = 0; start < instructions.size(); ++start) {
    if (marks[start] == New) stack.push_back(start);
    while (!stack.empty()) {
      const uint32_t top = stack.back();
      if (marks[top] != New) {
        if (marks[top] == Open) order.push_back(top);
        marks[top] = Done;
        stack.pop_back();
        continue;
      }
      marks[top] = Open;
      const Instruction& instruction = module_[instructions[top]];
      const auto visit = [&](InstructionId id) {
        if (marks[node_[id.value]] == New) stack.push_back(node_[id.value]);
      };
      for (InstructionId id : module_.extra(instruction).control_predecessors) visit(id);
      for (InstructionId id : module_.operands(instruction)) visit(id);
    }
  }
  return order;
}

Edges ScheduleGraphs::dependences(ComputationId computation) const {
  Edges edges;
  for (InstructionId id : module_[computation].instructions) {
    const Instruction& instruction = module_[id];
    for (InstructionId operand : module_.operands(instruction))
      edges.emplace_back(node_[operand.value], node_[id.value]);
    for (InstructionId other : module_.extra(instruction).control_predecessors)
      edges.emplace_back(node_[other.value], node_[id.value]);
  }
  return edges;
}

namespace {

// Values of one buffer in the order of the file in which they come to be: readers of one stand
// before the next comes. Where the file puts a reader later, it is one that does not look at the
// value (a call that does not use what it is given), for copies part all others.
template <class Event, class NodeOf>
void add_overwrites(std::span<const Event> events, const NodeOf& node_of, Edges& edges) {
  struct Lifetime {
    uint32_t birth = UINT32_MAX;  // 0: there from the beginning; else the node + 1
    std::vector<uint32_t> readers;
  };
  std::vector<std::pair<ValueId, Lifetime>> values;
  for (const Event& event : events) {
    if (values.empty() || values.back().first != event.value) values.push_back({event.value, {}});
    Lifetime& lifetime = values.back().second;
    if (event.kind == Event::Birth || event.kind == Event::Inside)
      lifetime.birth = std::min(lifetime.birth, event.is_parameter ? 0 : 1 + node_of(event));
    if (event.kind != Event::Stand) lifetime.readers.push_back(node_of(event));
  }
  std::ranges::stable_sort(values, {}, [](const auto& entry) { return entry.second.birth; });
  size_t next = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Lifetime& lifetime = values[i].second;
    while (next < values.size() && values[next].second.birth <= lifetime.birth) ++next;
    const uint32_t birth = next < values.size() ? values[next].second.birth : UINT32_MAX;
    if (birth == UINT32_MAX) break;
    for (uint32_t reader : lifetime.readers)
      if (reader + 1 < birth) edges.emplace_back(reader, birth - 1);
  }
}

Lists transposed(size_t size, const Edges& edges) {
  Edges out;
  out.reserve(edges.size());
  for (const auto& [from, to] : edges) out.emplace_back(to, from);
  return lists_of(size, std::move(out));
}

}  // namespace

ScheduleGraph ScheduleGraphs::graph(ComputationId computation,
                                    std::span<const int64_t> inside) const {
  ScheduleGraph out;
  const Order order = operands_first(computation);
  for (uint32_t place : order) out.instructions.push_back(module_[computation].instructions[place]);
  for (uint32_t i = 0; i < order.size(); ++i) node_[out.instructions[i].value] = i;
  for (uint32_t node = 0; node < out.size(); ++node) {
    const Instruction& instruction = module_[out.instructions[node]];
    int64_t most = 0;
    if (runs_steps(instruction.op))
      for (ComputationId callee : module_.called(instruction)) {
        most = std::max(most, inside[callee.value]);
        out.calls.emplace_back(node, callee);
      }
    out.inside.push_back(most);
  }
  const auto node_of = [&](const Event& event) { return node_[event.instruction.value]; };
  std::vector<Event> events = events_[computation.value];
  std::ranges::stable_sort(events, {},
                           [](const Event& event) { return std::pair(event.buffer, event.value); });
  Edges touches, edges = dependences(computation);
  std::vector<BufferId> buffers;
  for (size_t first = 0, past = 0; first < events.size(); first = past) {
    const uint32_t number = static_cast<uint32_t>(out.bytes.size());
    bool foreign = false, inside_only = true;
    for (; past < events.size() && events[past].buffer == events[first].buffer; ++past) {
      touches.emplace_back(node_of(events[past]), number);
      foreign |= events[past].is_parameter;
      inside_only &= events[past].kind == Event::Inside;
    }
    if (inside_only) {
      touches.resize(touches.size() - (past - first));
      continue;
    }
    add_overwrites(std::span<const Event>(events).subspan(first, past - first), node_of, edges);
    buffers.push_back(events[first].buffer);
    out.bytes.push_back(foreign ? 0 : bytes_[events[first].buffer.value]);
  }
  out.alive_first.assign(out.bytes.size(), false);
  out.alive_last.assign(out.bytes.size(), false);
  for (BufferId result : results_[computation.value]) {
    const auto at = std::ranges::lower_bound(buffers, result);
    if (at != buffers.end() && *at == result) out.alive_last[at - buffers.begin()] = true;
  }
  out.before = transposed(order.size(), edges);
  out.after = lists_of(order.size(), std::move(edges));
  out.touched_by = transposed(out.bytes.size(), touches);
  out.touches = lists_of(order.size(), std::move(touches));
  return out;
}

}  // namespace hilo
