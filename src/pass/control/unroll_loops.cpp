// Puts the rounds of short loops one behind the other.
//   while(s) { body } of n rounds => body(body(… body(s)))
// when all rounds have no more than PassOptions::unroll_instructions instructions and no effects;
// few rounds that only compute and move elements, which become one loop over these and store
// nothing in between, as those of random bits, may have unroll_by_element of them.
// Assumes nothing. Later passes see the counter as a constant in each round. After simplify_loops,
// so that only what matters is repeated.
#include <algorithm>

#include "pass/control/loop.h"

namespace hilo {
namespace {

constexpr int64_t short_trip_count = 8;

bool only_computes_elements(const Module& module, ComputationId body) {
  return std::ranges::all_of(module[body].instructions, [&](InstructionId id) {
    const Op op = module[id].op;
    return module[id].removed || is_elementwise(op) || has_trait(op, TraitRearranges) ||
           op == Op::Tuple || op == Op::GetTupleElement ||
           (info(op).operands == 0 && !has_trait(op, TraitEffect));
  });
}

}  // namespace

Result<bool> unroll_loops(Module& module, const PassOptions& options) {
  Editor editor(module);
  bool changed = false;
  for (const Loop& loop : find_loops(editor)) {
    if (module[loop.instruction].removed || !can_duplicate_body(editor, loop)) continue;
    const auto rounds = trip_count(module, loop.instruction);
    if (!rounds || *rounds < 0) continue;
    const int64_t most = *rounds <= short_trip_count && only_computes_elements(module, loop.body)
                             ? options.unroll_by_element
                             : options.unroll_instructions;
    const int64_t size = static_cast<int64_t>(module[loop.body].instructions.size());
    if (*rounds > most / size) continue;
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
