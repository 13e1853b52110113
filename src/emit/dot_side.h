// An operand of a product as walks over one array. Private to `emit`.
#pragma once

#include "emit/kernel_builder.h"
#include "plan/plan.h"

namespace hilo {

// One operand: its walks over batches, over what it alone has, and over what is summed. The array
// is null where none holds it.
struct Side {
  ElementType type;
  llvm::Value* array;
  DimWalk batch, own, depth;

  operator DotSide() const { return {type, array != nullptr, batch, own, depth}; }
};

// The operand of a dot with these walks, and the array that holds it.
Side side_of(KernelBuilder& w, InstructionId operand, const DotSide& walks);

}  // namespace hilo
