// Private to `pass`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Puts what `made` gives for each instruction of the op that nothing pins in its place, where it
// gives something and the editor can. Says whether any was replaced.
bool replace_each(Module& module, Op op, InstructionId (*made)(Editor& editor, InstructionId id));

}  // namespace hilo
