// Divisions of many numbers by one. Private to `emit`.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

namespace hilo {

// Whether two vectors in a round of the loop divide faster than one: see below.
bool divides_by_one(const llvm::Loop& loop, unsigned register_bits);

// After loops have become vector code: of two vectors of f32 that are divided by one number, the
// divider divides one, and the other one is multiplied by the reciprocal meanwhile and made right
// by its rest, which gives the same bits (M. Cornea-Hasegan, R. Golliver, P. Markstein,
// "Correctness proofs outline for Newton-Raphson based floating-point divide and square root
// algorithms", 14th IEEE Symposium on Computer Arithmetic, 1999) but for numbers so large or small
// that a rest or a reciprocal is none; vectors that hold such are divided.
void split_divisions(llvm::Function& function, const llvm::TargetMachine& machine,
                     unsigned register_bits);

}  // namespace hilo
