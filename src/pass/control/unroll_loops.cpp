// Puts the rounds of very short loops one behind the other.
//   while(s) { body } of n rounds => body(body(… body(s)))
// when all rounds have no more than PassOptions::unroll_instructions instructions and no effects.
// Assumes nothing. Later passes see the counter as a constant in each round. After simplify_loops,
// so that only what matters is repeated.
#include "pass/control/loop.h"

namespace hilo {
namespace {

// Whether each round may be had for the price of its instructions: nothing is called that loops.
bool is_simple(const Module& module, const Editor& editor, ComputationId body) {
  for (InstructionId id : module[body].instructions) {
    if (module[id].removed) continue;
    const Op op = module[id].op;
    if (op == Op::While || op == Op::Conditional || op == Op::Call || is_communication(op) ||
        editor.is_pinned(id) || editor.effects().has(id))
      return false;
  }
  return true;
}

}  // namespace

Result<bool> unroll_loops(Module& module, const PassOptions& options) {
  Editor editor(module);
  bool changed = false;
  for (const Loop& loop : find_loops(editor)) {
    if (module[loop.instruction].removed || editor.is_pinned(loop.instruction) ||
        editor.effects().has(loop.condition) || !is_simple(module, editor, loop.body))
      continue;
    const auto rounds = trip_count(module, loop.instruction);
    const int64_t size = static_cast<int64_t>(module[loop.body].instructions.size());
    if (!rounds || *rounds < 0 || *rounds > options.unroll_instructions / size) continue;
    InstructionId state = module.operand(loop.instruction, 0);
    if (!same_with_layout(module.shape(state), module.shape(loop.instruction))) continue;
    for (int64_t round = 0; round < *rounds; ++round)
      state = editor.clone_body(loop.body, module[loop.instruction].computation, std::array{state});
    editor.replace_moved(loop.instruction, state);
    changed = true;
  }
  return changed;
}

}  // namespace hilo
