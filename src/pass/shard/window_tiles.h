// Windows that slide over a dimension which is cut into tiles: the rows that each device's windows
// cover. Pads, slices, pooling and convolutions are such windows. Private to `pass/shard`.
#pragma once

#include "pass/shard/halo.h"

namespace hilo {

// Windows along one dimension, counted over all devices, and those of each device.
struct SlidingWindows {
  int64_t rows = 0;   // of the whole array
  int64_t count = 0;  // of all windows
  int64_t tiles = 1;
  WindowDim window;
  bool of_elements = false;  // a tile is of the window's elements, and positions are whole
};

// A device's windows over its own rows. Where windows do not begin alike between holes, the rows
// are dilated first, and the device takes so many of those from its own offset on.
struct LocalWindows {
  RowWindows rows;
  WindowDim window;
  int64_t dilation = 1;
  Dims offsets = {};   // by tile, among dilated rows
  int64_t length = 0;  // of dilated rows
};
LocalWindows local_windows(const SlidingWindows& all);

// The rows under the device's windows, and the windows over them. `padding` is a scalar, needed
// where padding is read or rows are dilated.
struct WindowedRows {
  InstructionId value;
  WindowDim window;
};
WindowedRows slide(OpPartition& op, const Shard& operand, size_t dim, const SlidingWindows& all,
                   std::optional<InstructionId> padding);

// Windows in several dimensions of an array, by dimension; those without one are local.
using WindowsByDim = std::vector<std::optional<SlidingWindows>>;
// Of an array of which each dimension is sharded as the result's.
WindowsByDim windows_over(const Shape& operand, const AxisSharding& sharding, const Shape& result,
                          const Window& window);
// Bytes that a device sends, dimension after dimension. `local` is the tile.
double bytes_to_slide(const Shape& local, const WindowsByDim& windows);
// The array with its windows slid over; `window` has a dimension each, and becomes the local one.
InstructionId slide_all(OpPartition& op, Shard operand, const WindowsByDim& windows, Window& window,
                        std::optional<InstructionId> padding);

// Where an array has sizes that are known at run time only, or no elements.
bool stays_whole(OpPartition& op);
// The sharding that an array of the instruction has under roles.
AxisSharding sharding_under(OpPartition& op, const Shape& shape, const DimensionFactors& factors,
                            const Roles& roles);

}  // namespace hilo
