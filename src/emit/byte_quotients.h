// Quotients and remainders of vectors of bytes. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>

namespace hilo {

// Divides vectors of i8 by constants as i16: with z the extension of the type's signedness,
//   a op b = trunc(z(a) op z(b))    for op in / and %, b not 0 (signed: a / b no overflow).
// x86 has products of 16 bits and none of 8, so these are the steps that a byte's quotient takes
// anyhow; and LLVM 22 makes zeros of the product of a vector of less than 16 bytes with a
// permutation of such a quotient on AVX2 and above. Promises: the same values.
// To be run last: LLVM's own passes undo it.
void divide_bytes_as_words(llvm::Function& function);

}  // namespace hilo
