// Which steps of a program do the same, so that code is made once for all of them. Private to
// `emit`.
#pragma once

#include <unordered_map>

#include "emit/emit.h"

namespace hilo {

class SameSteps {
 public:
  explicit SameSteps(const Module& module);

  // Equal for steps that are the same.
  size_t hash(InstructionId step) const;
  // Whether both make the same results of the same operands: op, shapes, attributes and the
  // computations that they call. Of the operands, only shapes and constants of one element, which
  // stand in the code, are looked at.
  bool is_same(InstructionId a, InstructionId b) const;

 private:
  size_t hash_of(ComputationId computation) const;
  bool is_same_instruction(const Instruction& a, const Instruction& b) const;
  bool is_same_computation(ComputationId a, ComputationId b) const;
  bool is_same_field(ComputationId a, ComputationId b) const;
  bool is_same_field(const std::vector<ComputationId>& a,
                     const std::vector<ComputationId>& b) const;
  template <class T>
  bool is_same_field(const T& a, const T& b) const {
    return a == b;
  }

  const Module& module_;
  std::vector<ComputationId> first_;  // by computation: the first one that is the same
  std::vector<size_t> hashes_;        // by computation
};

}  // namespace hilo
