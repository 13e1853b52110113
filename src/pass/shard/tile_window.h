// Slices of a sharded array at starts that data decide, within the tile that a device holds.
// Private to `pass/shard`.
#pragma once

#include "pass/shard/op_partition.h"

namespace hilo {

// Integers of any type as s32, those beyond as the nearest: what is compared with sizes below 2^31
// stays what it is.
InstructionId saturated_index(LocalCode& code, InstructionId index);
// Whether dimensions are small enough for that, of fixed size and not empty.
bool has_small_dims(const Shape& shape);

// Whether a slice of these sizes of the whole array may lie in several tiles.
bool cuts_slices(const Shard& tile, std::span<const int64_t> sizes);

// What the tile has of a slice: a window of the tile that lies in it, and how far the window begins
// behind the slice. Elements of the window that are not the slice's are others'.
struct TileWindow {
  std::vector<InstructionId> starts;  // s32, in the tile
  Dims sizes;
  std::vector<InstructionId> shifts;  // s32; null where window and slice are the same
};
// `starts`: of a slice of these sizes of the whole array, of any integer type, not yet clamped.
TileWindow tile_window(OpPartition& op, const Shard& tile, std::span<const InstructionId> starts,
                       std::span<const int64_t> sizes);

}  // namespace hilo
