// Arithmetic on single elements that several ops share. Private to `emit`.
#pragma once

#include "emit/op_functions.h"

namespace hilo {

// As HLO's convert: to integers toward zero, saturating, NaN becoming 0; to pred: not zero; to
// narrower floats rounded once.
llvm::Value* convert(Builder& b, ElementType from, ElementType to, llvm::Value* held);
// Whether a real float is not zero: NaN is not, subnormal numbers are.
llvm::Value* differs_from_zero(Builder& b, ElementType type, llvm::Value* value);
// The bits of an element as an integer of its width, and back.
llvm::Value* bits_of_element(Builder& b, ElementType type, llvm::Value* held);
llvm::Value* element_of_bits(Builder& b, ElementType type, llvm::Value* bits);
// NaN where either is NaN; -0 is less than 0, and subnormal floats are zeros.
llvm::Value* maximum(Builder& b, ElementType type, llvm::Value* a, llvm::Value* c);
llvm::Value* minimum(Builder& b, ElementType type, llvm::Value* a, llvm::Value* c);
llvm::Value* real_power(const ScalarCall& c);  // of floating types

// A float, but the zero of its sign for one that is subnormal: functions of libm keep such numbers
// in any mode of the processor.
llvm::Value* without_subnormal(Builder& b, llvm::Value* x);
// A call of a function of libm.
llvm::Value* call_pure(Builder& b, const void* function, llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace hilo
