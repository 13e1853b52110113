#include "pass/replace_each.h"

namespace hilo {

bool replace_each(Module& module, Op op, InstructionId (*made)(Editor& editor, InstructionId id)) {
  Editor editor(module);
  bool changed = false;
  const size_t count = module.instructions.size();
  for (size_t i = 0; i < count; ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed || module[id].op != op || editor.is_pinned(id)) continue;
    const InstructionId value = made(editor, id);
    if (!value || !editor.can_replace(id, value)) continue;
    editor.replace(id, value);
    changed = true;
  }
  return changed;
}

}  // namespace hilo
