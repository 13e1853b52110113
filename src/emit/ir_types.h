// Elements of arrays as LLVM values. Private to `emit`.
//
// In registers a pred is i1, floats narrower than 32 bits are f32 rounded after each op as in the
// evaluator, integers narrower than 8 bits are extended to i8, a complex number is a vector of two.
// In memory an element is what a Literal stores.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/ir.h"

namespace hilo {

using Builder = llvm::IRBuilder<>;

llvm::Type* held_type(Builder& b, ElementType type);
llvm::Type* stored_type(Builder& b, ElementType type);
// Element number `position` of an array.
llvm::Value* load_element(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position);
void store_element(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                   llvm::Value* held);
// A value of the held type that may be finer or wider than the type becomes one of the type.
llvm::Value* round_to(Builder& b, ElementType type, llvm::Value* held);
llvm::Value* constant_element(Builder& b, const Literal& literal, int64_t position);
// `value` as f32 with the significand of bf16, to nearest, ties to even.
llvm::Value* round_to_bf16(Builder& b, llvm::Value* value);
// The same of values below 2^111, and of NaN that are NaN of bf16, in two steps.
llvm::Value* round_limited_to_bf16(Builder& b, llvm::Value* value);

}  // namespace hilo
