// What vectors seldom need. Private to `emit`.
#pragma once

#include "emit/ir_types.h"

namespace llvm {
class Function;
}

namespace hilo {

// `rare` where the condition holds, which it seldom does, else `usual`. What `rare` alone needs
// must be defined for all operands, and neither write nor read memory but tables of the code.
llvm::Value* rare_choice(Builder& b, llvm::Value* condition, llvm::Value* rare, llvm::Value* usual);

// What rare choices under one condition alone need is computed where it holds for any lane, and so
// are gathers from tables that are asked for by `select(condition, gather, otherwise)`. The values
// are the same.
void compute_rare_seldom(llvm::Function& function);

// What one side of choices under one condition for each lane alone needs, where that is long, is
// computed where a lane takes it: `where` between two series costs one where lanes agree.
void compute_long_if_taken(llvm::Function& function);

}  // namespace hilo
