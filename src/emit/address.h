// Where a plan has put the arrays of a module. Private to `emit`.
#pragma once

#include "emit/emit.h"

namespace hilo {

// A literal takes a byte at least for each element, so that some arrays are larger here than in the
// plan: all offsets are then multiplied by one factor, which keeps what overlaps and what does not.
class Addresses {
 public:
  Addresses(const Module& module, const Plan& plan);

  // Leaves of an instruction's result. Each has one slot, as find_commands() has seen.
  std::vector<Address> of(InstructionId id);
  // Of each allocation, none for temporaries that were not asked for: tables of tuples, values of
  // fused and applied computations. `scratch` bytes stand behind them, and then the pieces.
  std::vector<MemoryPiece> memory(int64_t scratch) const;
  // The number of an allocation within another one: code says where before it is read.
  uint32_t add_suballocation() {
    return static_cast<uint32_t>(plan_.allocations.size() + 1 + suballocations_++);
  }

 private:
  Address of(InstructionId id, const Shape& shape, const Dims& index);

  const Module& module_;
  const Plan& plan_;
  int64_t scale_ = 1;
  std::vector<bool> is_used_;  // by allocation
  size_t suballocations_ = 0;
};

}  // namespace hilo
