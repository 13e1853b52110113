// Puts the rounds of very short loops one behind the other.
//   while(s) { body } of n rounds => body(body(… body(s)))
// when all rounds have no more than PassOptions::unroll_instructions instructions and no effects.
// Assumes nothing. Later passes see the counter as a constant in each round. After simplify_loops,
// so that only what matters is repeated.
#include "pass/control/loop.h"

namespace hilo {

Result<bool> unroll_loops(Module& module, const PassOptions& options) {
  Editor editor(module);
  bool changed = false;
  for (const Loop& loop : find_loops(editor)) {
    if (module[loop.instruction].removed || !may_stand_again(editor, loop)) continue;
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
