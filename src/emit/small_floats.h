// Floats of 8 and fewer bits as f32, as base/small_float.h defines them, without tables and
// branches, so that loops over them become vector code. Of one element or a vector of them. Private
// to `emit`.
#pragma once

#include "emit/ir_types.h"

namespace hilo {

bool is_small_float(ElementType type);
// A stored element, an i8, as f32. 2^-127 of f8e8m0fnu is a subnormal one, which arithmetic takes
// for zero.
llvm::Value* small_float_of_bits(Builder& b, ElementType type, llvm::Value* bits);
// The i8 of an f32 that is exactly one of the type; NaN of formats with infinities keep
// their bits.
llvm::Value* bits_of_small_float(Builder& b, ElementType type, llvm::Value* value);
// The f32 nearest to `value` that is one of the type, as encode() rounds.
llvm::Value* round_to_small_float(Builder& b, ElementType type, llvm::Value* value);

}  // namespace hilo
