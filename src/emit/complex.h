// Complex numbers as two parts, in loops over which LLVM makes vectors: an element is taken apart
// where it is used and joined where it is made, and joined parts are never taken apart again.
// Private to `emit`.
#pragma once

#include "emit/op_functions.h"

namespace hilo {

struct Complex {
  llvm::Value *real, *imaginary;
};
Complex parts_of(Builder& b, llvm::Value* held);
llvm::Value* joined(Builder& b, Complex parts);
// x where the condition holds, and y elsewhere.
Complex select_parts(Builder& b, llvm::Value* condition, Complex x, Complex y);
// Held x where the condition holds and y elsewhere, of any type; of complex ones part by part.
llvm::Value* select_held(Builder& b, ElementType type, llvm::Value* condition, llvm::Value* x,
                         llvm::Value* y);

// Elementwise ops of complex operands, in the held type of the result. As in the evaluator those of
// c64 but sums are computed in double.
llvm::Value* complex_sum(const ScalarCall& c);
llvm::Value* complex_difference(const ScalarCall& c);
llvm::Value* complex_product(const ScalarCall& c);
llvm::Value* complex_quotient(const ScalarCall& c);
llvm::Value* complex_negated(const ScalarCall& c);
llvm::Value* complex_absolute(const ScalarCall& c);
llvm::Value* complex_sign(const ScalarCall& c);
llvm::Value* complex_power(const ScalarCall& c);
llvm::Value* complex_atan2(const ScalarCall& c);
llvm::Value* complex_reciprocal_root(const ScalarCall& c);
llvm::Value* complex_exponential_minus_one(const ScalarCall& c);
llvm::Value* complex_log_plus_one(const ScalarCall& c);
llvm::Value* complex_logistic(const ScalarCall& c);

// What the process has for complex doubles, besides libm's functions of reals: libm's, and the
// division of the compiler's own library.
struct ComplexFunction {
  const char* name;
  const void* address;
  unsigned operands;  // doubles
};
std::span<const ComplexFunction> complex_functions();
// The function of that name.
llvm::Value* complex_call(const ScalarCall& c, std::string_view name);

}  // namespace hilo
