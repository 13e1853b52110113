// A local array: in the function's frame, of values that are computed with. Private to `emit`.
#pragma once

#include "emit/loops.h"

namespace hilo {

// Truths are bytes in it: loops over bits do not become vectors.
class LocalArray {
 public:
  LocalArray(Builder& b, llvm::Type* held, int64_t count);

  llvm::Value* load(llvm::Value* i) const;
  void store(llvm::Value* value, llvm::Value* i) const;
  // So many values side by side, from number `first` on, which lies at that many bytes or more.
  llvm::Value* load_lanes(int64_t first, int64_t count, uint64_t align) const;
  void fill_lanes(llvm::Value* value, int64_t first, int64_t count, uint64_t align) const;

 private:
  llvm::Value* slot(llvm::Value* i) const;
  llvm::Value* held(llvm::Value* stored) const;
  llvm::Value* stored(llvm::Value* value) const;

  Builder& b_;
  bool is_truth_;
  llvm::Type* type_;
  llvm::Value* memory_;
};

}  // namespace hilo
