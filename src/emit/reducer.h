// A computation that combines two scalars (of reduce, reduce-window, scatter), or several pairs.
// Private to `emit`.
#pragma once

#include <optional>

#include "emit/element_emitter.h"

namespace hilo {

class Reducer {
 public:
  // `id` has an attribute struct that names the computation: reduce.
  Reducer(ElementEmitter& elements, InstructionId id);
  Reducer(ElementEmitter& elements, ComputationId computation);

  // A Combiner of numbers that are not complex: the order of combining may be chosen.
  bool is_associative() const { return combiner_.has_value(); }
  // What was combined is held in another type than the elements.
  bool is_wide() const { return combiner_ && combiner_->wide != combiner_->element; }
  // From now on the largest or least of bf16 or f16 is chosen among 16-bit integers in their order,
  // of which a vector holds twice as many.
  void choose_among_keys();
  // From now on elements are combined in straight code, from memory to the result: of f16 LLVM
  // would make that the maximum of halves, of which most processors have no vectors.
  void choose_straight();
  // Picks one of two tuples: see choice.h.
  bool chooses() const { return chooses_; }
  size_t size() const;       // instructions of the computation
  llvm::Type* type() const;  // of associative ones
  llvm::Value* identity() const;
  llvm::Value* widen(llvm::Value* element) const;
  llvm::Value* combine(llvm::Value* a, llvm::Value* c) const;
  // Of floats: whether of two numbers that compare so the first one is taken, as the largest or
  // least of all is chosen.
  std::optional<llvm::CmpInst::Predicate> extremum() const;
  // Combines the initial value with what was combined, in the computation's result type.
  llvm::Value* finish(llvm::Value* init, llvm::Value* combined) const;

  // The computation itself.
  std::vector<llvm::Value*> apply(std::span<llvm::Value* const> arguments) const;

 private:
  uint16_t nan_offset() const;
  llvm::Value* key_of(llvm::Value* element) const;
  llvm::Value* element_of(llvm::Value* key) const;

  ElementEmitter& e_;
  ComputationId computation_;
  std::optional<Combiner> combiner_;
  bool has_keys_ = false, by_comparing_ = false;
  bool chooses_ = false;
};

}  // namespace hilo
