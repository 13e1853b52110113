// A computation that combines two scalars (of reduce, reduce-window, scatter), or several pairs.
// Private to `emit`.
#pragma once

#include <optional>

#include "emit/elements.h"

namespace hilo {

class Reducer {
 public:
  // `id` has an attribute struct that names the computation: reduce.
  Reducer(Elements& elements, InstructionId id);
  Reducer(Elements& elements, ComputationId computation);

  // add, multiply, maximum, minimum, and, or, xor of both parameters, between conversions perhaps:
  // the order of combining may be chosen, and sums are kept in the type that it computes in, or in
  // f32 where that is narrower.
  bool is_associative() const { return op_.has_value(); }
  // Picks one of two tuples: see choice.h.
  bool chooses() const { return chooses_; }
  llvm::Type* type() const;
  llvm::Value* identity() const;
  llvm::Value* widen(llvm::Value* element) const;
  llvm::Value* combine(llvm::Value* a, llvm::Value* c) const;
  // Combines the initial value with what was combined, in the computation's result type.
  llvm::Value* finish(llvm::Value* init, llvm::Value* combined) const;

  // The computation itself.
  std::vector<llvm::Value*> apply(std::span<llvm::Value* const> arguments) const;

 private:
  void find_op();

  Elements& e_;
  ComputationId computation_;
  std::optional<Op> op_;
  bool chooses_ = false;
  ElementType element_ = ElementType::Invalid, wide_ = ElementType::Invalid;
};

}  // namespace hilo
