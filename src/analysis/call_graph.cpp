#include "analysis/call_graph.h"

#include "analysis/numbering_order.h"

namespace hilo {
namespace {

CallContext joined(CallContext a, CallContext b) {
  if (a == CallContext::None || a == b) return b;
  return b == CallContext::None ? a : CallContext::Both;
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
  order = numbering_order(module, callers, post_order);
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
