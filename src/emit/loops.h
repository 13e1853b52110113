// Loops in LLVM IR. Private to `emit`.
#pragma once

#include "emit/index.h"

namespace hilo {

using LoopBody = llvm::function_ref<void(llvm::Value* i)>;
using CarryBody = llvm::function_ref<std::vector<llvm::Value*>(
    llvm::Value* i, std::span<llvm::Value* const> carried)>;

// body(i) for i in [begin, end); none where begin >= end.
void loop(Builder& b, llvm::Value* begin, llvm::Value* end, LoopBody body);
void loop(Builder& b, int64_t end, LoopBody body);
// The same with values that each round hands to the next one. The end must give at least
// one round, so that what the body computes is there after it.
std::vector<llvm::Value*> loop_carrying(Builder& b, int64_t end, std::vector<llvm::Value*> first,
                                        CarryBody body);
std::vector<llvm::Value*> loop_carrying(Builder& b, llvm::Value* end,
                                        std::vector<llvm::Value*> first, CarryBody body);
// body() where the condition holds.
void where(Builder& b, llvm::Value* condition, llvm::function_ref<void()> body);
// body(rest) where `number` is the last of `count` parts and there is a rest, else body(whole).
void with_part(Builder& b, llvm::Value* number, int64_t count, int64_t rest, int64_t whole,
               llvm::function_ref<void(int64_t)> body);
// Parts of a line of `count`, `each` long but for the last one: how many there are, and whether
// there is a shorter one that may be as long and lie over the one before it, so that one piece of
// code writes all. Vectors of so many lanes are written; up to an eighth of all may be written
// again, of what takes few multiplications a quarter.
int64_t parts_of_line(int64_t count, int64_t each);
bool may_overlap(int64_t count, int64_t each, int64_t lanes, double multiplications);
// body(where it begins, how long) for the part of this number.
void with_part_of_line(Builder& b, llvm::Value* number, int64_t count, int64_t each, bool overlaps,
                       llvm::function_ref<void(llvm::Value*, int64_t)> body);
// Memory of the function's own frame for `count` elements of the held type, made where it starts.
llvm::Value* frame_array(Builder& b, llvm::Type* type, int64_t count);

// Iterations [i * iterations, (i + 1) * iterations) of a kernel write elements [i * elements,
// (i + 1) * elements) of each result, whole arrays being whole blocks.
struct ResultBlock {
  int64_t iterations = 0, elements = 0;  // 0: results are not written in their order
};

}  // namespace hilo
