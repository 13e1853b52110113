// How often a loop goes round. Private to `emit`.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>

#include <optional>

namespace hilo {

// What counts the iterations of a loop of one block: number + 1 < end, or number < last.
struct LoopCounter {
  llvm::PHINode* number = nullptr;
  llvm::BinaryOperator* next = nullptr;
  llvm::ICmpInst* goes_on = nullptr;
  llvm::Value *begin = nullptr, *end = nullptr, *last = nullptr;
};

// None where a loop counts otherwise.
std::optional<LoopCounter> find_counter(const llvm::Loop& loop);

}  // namespace hilo
