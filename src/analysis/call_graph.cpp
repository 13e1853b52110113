#include "analysis/call_graph.h"

#include <algorithm>
#include <tuple>

namespace hilo {
namespace {

CallContext joined(CallContext a, CallContext b) {
  if (a == CallContext::None || a == b) return b;
  return b == CallContext::None ? a : CallContext::Both;
}

// Compares texts with runs of digits as numbers.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) != digit(b[j])) return digit(b[j]);  // "add.clone", "add.1.clone"
    if (!digit(a[i])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    size_t p = i, q = j;
    while (p < a.size() && digit(a[p])) ++p;
    while (q < b.size() && digit(b[q])) ++q;
    if (p - i != q - j) return p - i < q - j;
    if (const int order = a.substr(i, p - i).compare(b.substr(j, q - j))) return order < 0;
    i = p, j = q;
  }
  return a.size() - i < b.size() - j;
}

// XLA numbers computations that call nothing in the order in which they were made. Text does not
// keep that, but names tell: the front end's regions come first, copies (".clone") after what
// passes made themselves, the reducers of split reductions last.
int age_of(std::string_view name) {
  if (name.ends_with("_sub_computation")) return 3;
  if (name.find(".clone") != std::string_view::npos) return name.starts_with("region_") ? 1 : 2;
  return name.starts_with("region_") ? 0 : 1;
}

bool calls_nothing(const Module& module, ComputationId computation) {
  const auto& ids = module[computation].instructions;
  return std::all_of(ids.begin(), ids.end(),
                     [&](InstructionId id) { return module.called(module[id]).empty(); });
}

// Applied and looping leaves first, then fusions, then the rest, callees before callers.
std::vector<ComputationId> numbering_order(const Module& module,
                                           const std::vector<std::vector<InstructionId>>& callers) {
  const auto group_of = [&](ComputationId id) {
    const auto& calling = callers[id.value];
    const Op op = calling.empty() ? Op::Call : module[calling.front()].op;
    if (op == Op::Fusion) return 1;
    return op == Op::AsyncStart || calling.empty() || !calls_nothing(module, id) ? 2 : 0;
  };
  std::vector<ComputationId> order = module.post_order();
  std::vector<int> groups(module.computations.size());
  for (ComputationId id : order) groups[id.value] = group_of(id);
  std::stable_sort(order.begin(), order.end(), [&](ComputationId a, ComputationId b) {
    const int group = groups[a.value];
    if (group != groups[b.value]) return group < groups[b.value];
    if (group != 0) return false;
    const std::string_view x = module[a].name, y = module[b].name;
    return age_of(x) != age_of(y) ? age_of(x) < age_of(y) : natural_less(x, y);
  });
  return order;
}

}  // namespace

bool calls_control_flow(Op op) {
  return op == Op::While || op == Op::Conditional || op == Op::Call || op == Op::AsyncStart ||
         op == Op::AsyncUpdate || op == Op::AsyncDone;
}

CallGraph::CallGraph(const Module& module)
    : callers(module.computations.size()), contexts(module.computations.size()) {
  const std::vector<ComputationId> post_order = module.post_order();
  contexts[module.entry.value] = CallContext::ControlFlow;
  for (size_t i = post_order.size(); i-- > 0;) {  // callers before callees
    const CallContext outer = contexts[post_order[i].value];
    for (InstructionId id : module[post_order[i]].instructions) {
      const Instruction& instruction = module[id];
      for (ComputationId callee : module.called(instruction)) {
        const bool flow = calls_control_flow(instruction.op);
        contexts[callee.value] =
            joined(contexts[callee.value], flow ? outer : CallContext::Applied);
        const bool chain = instruction.op == Op::AsyncUpdate || instruction.op == Op::AsyncDone;
        if (!chain) callers[callee.value].push_back(id);
      }
    }
  }
  order = numbering_order(module, callers);
}

std::vector<std::vector<InstructionId>> post_orders(const Module& module,
                                                    std::span<const ComputationId> computations) {
  enum : uint8_t { New, Visiting, Visited };
  std::vector<uint8_t> states(module.instructions.size(), New);
  std::vector<std::vector<InstructionId>> orders(module.computations.size());
  std::vector<InstructionId> stack;
  const auto push = [&](InstructionId id) {
    if (states[id.value] != Visited) stack.push_back(id);
  };
  const auto visit = [&](std::vector<InstructionId>& order) {
    const InstructionId id = stack.back();
    uint8_t& state = states[id.value];
    if (state != New) {
      stack.pop_back();
      if (state == Visiting) order.push_back(id);
      state = Visited;
      return;
    }
    state = Visiting;
    const auto operands = module.operands(id);
    for (size_t i = operands.size(); i-- > 0;) push(operands[i]);
    for (InstructionId before : module.extra(module[id]).control_predecessors) push(before);
  };
  for (ComputationId computation : computations)
    for (InstructionId start : module[computation].instructions) {
      if (module.has_users(start)) continue;
      push(start);
      while (!stack.empty()) visit(orders[computation.value]);
    }
  return orders;
}

}  // namespace hilo
