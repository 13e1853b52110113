// Copies that moved values to another layout or memory have nothing to do where there is only one,
// and neither have custom calls that say where a value lies or how it is sharded.
//   copy(x) => x
//   custom-call(x), custom_call_target="Sharding" => x
// Assumes plain layouts. What must lie twice is found out at the end (copy-insertion). Results of
// computations stay: the body of a fusion makes something. The rule copy-same would spare the
// copies of a module that has a schedule, which this target does not keep.
#include "pass/pass.h"

#include <algorithm>

namespace hilo {
namespace {

bool gives_its_operand(std::string_view name) {
  using namespace std::string_view_literals;
  bool found = false;
#define CUSTOM_CALL(target, family, function, sees, meaning) \
  found = found || (name == target && #function##sv == "identity");
#include "eval/custom_call.def"
  return found;
}

// Where a manual region begins or ends, by a custom call, the sharding of its operand says how.
bool is_needless(const Module& module, InstructionId id, const PassOptions& options) {
  const Instruction& instruction = module[id];
  if (instruction.op == Op::Copy) return true;
  if (instruction.op != Op::CustomCall || instruction.operand_count != 1) return false;
  const std::string& target =
      module.attributes<CustomCallAttributes>(instruction).custom_call_target;
  return gives_its_operand(target) && !options.is_supplied(target) &&
         std::ranges::none_of(module.users(id), [&](InstructionId user) {
           return module[user].op == Op::CustomCall;
         });
}

}  // namespace

Result<bool> remove_layout_copies(Module& module, const PassOptions& options) {
  Editor editor(module);
  bool changed = false;
  for (size_t i = 0, count = module.instructions.size(); i < count; ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    const Instruction& instruction = module[id];
    if (instruction.removed || !is_needless(module, id, options)) continue;
    if (module[instruction.computation].root == id) continue;
    const InstructionId value = module.operand(id, 0);
    if (instruction.op == Op::CustomCall && instruction.extra)
      module.mutable_extra(id).sharding = {};
    if (!editor.can_replace(id, value)) continue;
    editor.replace(id, value);
    changed = true;
  }
  return changed;
}

}  // namespace hilo
