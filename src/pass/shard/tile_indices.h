// The start indices of gather and scatter, in numbers of the tile that a device holds. Private to
// `pass/shard`.
#pragma once

#include "pass/shard/tile_window.h"

namespace hilo {

// An s32 array of index vectors: component c, along dimension `vector_dim`, is the start in
// dimension dims[c] of the array. A `vector_dim` behind the last one: one component.
class TileIndices {
 public:
  TileIndices(OpPartition& op, InstructionId indices, const Dims& dims, int64_t vector_dim);

  InstructionId all() const { return indices_; }
  // [batch]: one component.
  InstructionId component(size_t c);
  // One number for each component.
  void clamp(const Dims& least, const Dims& greatest);
  void subtract(std::span<const InstructionId> offsets);  // s32 scalars; null: nothing
  // `otherwise` in all components where the mask, [batch], is false.
  void keep_where(InstructionId mask, int64_t otherwise);

 private:
  InstructionId each(std::span<const InstructionId> scalars);
  InstructionId each(const Dims& numbers);

  LocalCode code_;
  InstructionId indices_;
  size_t components_;
  int64_t vector_dim_;
};

// Whether no device's tile has padding.
bool is_even(const Shard& tile);

// The dimension of the indices, of the size of a dimension of the array, along which a component
// counts up from 0: each batch index has an index vector of its own number. Nothing where there is
// none that the program shows.
std::optional<int64_t> counting_dim(const Module& module, InstructionId indices, int64_t vector_dim,
                                    int64_t component);

}  // namespace hilo
