// Rounding of f32 to bf16 in fewer steps, and seldomer. Private to `emit`.
#pragma once

#include "emit/ir_types.h"

namespace llvm {
class TargetMachine;
}

namespace hilo {

// After loops have become vector code: what round_to_bf16() wrote in seven steps becomes one. The
// instruction takes subnormal numbers as zeros, so that only results of arithmetic, which are none,
// are rounded by it. On other chips the three steps that keep a NaN are left out where NaN comes
// from bf16 alone: its low half is zero, so that the sum leaves it as it is. Bits are the same.
void shorten_bf16_rounding(llvm::Function& function, const llvm::TargetMachine& machine);

// An array in the frame of numbers that bf16 holds, as f32: they are neither widened nor rounded
// where they are read.
llvm::Value* frame_array_of_bf16(Builder& b, int64_t count);
// Whether the pointer goes into such an array.
bool is_in_array_of_bf16(const llvm::Value* pointer);

}  // namespace hilo
