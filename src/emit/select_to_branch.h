// Selects whose unlikely side is computed behind a branch. Private to `emit`.
#pragma once

#include "emit/ir_types.h"

namespace llvm {
class Function;
}

namespace hilo {

// `unlikely` where the condition holds, which it seldom does, else `likely`. What `unlikely` alone
// needs must be defined for all operands, and neither write nor read memory but tables of the code.
llvm::Value* unlikely_select(Builder& b, llvm::Value* condition, llvm::Value* unlikely,
                             llvm::Value* likely);

// What unlikely selects under one condition alone need is computed where it holds for any lane, and
// so are gathers from tables that are asked for by `select(condition, gather, otherwise)`. The
// values are the same.
void branch_around_unlikely(llvm::Function& function);

// What one side of choices under one condition for each lane alone needs, where that is long, is
// computed where a lane takes it: `where` between two series costs one where lanes agree.
void branch_around_long_arms(llvm::Function& function);

}  // namespace hilo
