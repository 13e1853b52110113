// What a user's transformation makes of a module on its way to code. Private to `compile`.
#pragma once

#include "compile/compile.h"

namespace hilo {

// The transformation's error, verify()'s, or Structure where the program would take or give other
// arrays: the module is then left in between.
Result<bool> transform(Module& module, TransformStage stage, const ModuleTransform& change);

// The module, scheduled as the plan has it. Elementwise steps are fusions of one op, as XLA has
// them: what a step computes may then be changed without its schedule.
Module in_order_of(const Plan& plan, Module module);

}  // namespace hilo
