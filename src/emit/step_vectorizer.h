// The steps of a loop over elements, vectorised. Private to `emit`.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <map>

#include "emit/loop_vectorizer.h"

namespace hilo {

// Of the elements from a number on. With a mask only its lanes are read and written, where elements
// lie beside each other.
class StepVectorizer {
 public:
  StepVectorizer(LoopVectorizer& of, llvm::Value* number, llvm::Value* mask = nullptr)
      : of_(of), number_(number), mask_(mask) {}

  // Where the builder stands, after the steps before it.
  void add(llvm::IRBuilder<>& b, llvm::Instruction& step);

 private:
  llvm::VectorType* vector_of(llvm::Type* type) const;
  llvm::Value* vector_of_value(llvm::IRBuilder<>& b, llvm::Value* value);
  llvm::Value* numbers(llvm::IRBuilder<>& b, llvm::Type* type);
  llvm::Value* places(llvm::IRBuilder<>& b, llvm::GetElementPtrInst& place);
  llvm::Value* vectorize(llvm::IRBuilder<>& b, llvm::Instruction& step);
  llvm::Value* address(llvm::IRBuilder<>& b, llvm::Value& pointer) const;
  llvm::Value* read(llvm::IRBuilder<>& b, llvm::LoadInst& load);
  void write(llvm::IRBuilder<>& b, llvm::StoreInst& store);
  llvm::Value* load_from_table(llvm::IRBuilder<>& b, llvm::LoadInst& load);
  llvm::Value* gather_words(llvm::IRBuilder<>& b, llvm::Value& table, llvm::Value* places,
                            llvm::Type* type);
  llvm::Value* words_at(llvm::IRBuilder<>& b, llvm::Value& number, llvm::Type* word);
  llvm::Value* operation(llvm::IRBuilder<>& b, llvm::Instruction& step);
  llvm::Value* vectorize_select(llvm::IRBuilder<>& b, const llvm::SelectInst& step);
  llvm::Value* vectorize_call(llvm::IRBuilder<>& b, llvm::IntrinsicInst& call);

  LoopVectorizer& of_;
  llvm::Value *number_, *mask_;
  std::map<llvm::Value*, llvm::Value*> vectors_;
};

}  // namespace hilo
