// Integers that a program computes from its shapes: where dimensions are open, sizes are values.
// Private to `wire`.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "ir/ir.h"

namespace hilo::mlir {

// Row-major elements of small integer and pred arrays whose values follow from constants and from
// shapes. Instructions are seen in the order in which they are made.
class KnownValues {
 public:
  using Values = std::vector<int64_t>;

  void see(const Module& module, InstructionId id);
  void set(InstructionId id, Values values) { values_[id] = std::move(values); }
  const Values* find(InstructionId id) const {
    const auto found = values_.find(id);
    return found == values_.end() ? nullptr : &found->second;
  }

  // The same of an instruction that was not seen when it was made, from what it is computed from.
  const Values* look(const Module& module, InstructionId id, int steps = 256);

  bool is_wanted = false;  // sees everything: programs with open dimensions ask much

 private:
  std::unordered_map<InstructionId, Values> values_;
  std::unordered_set<InstructionId> asked_;
};

}  // namespace hilo::mlir
