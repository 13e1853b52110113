// Where the elements of a window stand in its array, for reduce-window and select-and-scatter.
// Private to `eval`.
#pragma once

#include <algorithm>

#include "eval/eval.h"

namespace hilo {

class WindowPositions {
 public:
  // `input` and `output` are the dimensions of the array and of the windows' starts. What of the
  // window's extent no place of it can bring into the array is left out.
  WindowPositions(const Window& window, std::span<const int64_t> input,
                  std::span<const int64_t> output);

  const Dims& window_sizes() const { return sizes_; }
  // Position of element `window_index` of window `output_index` in the array, or -1 where it falls
  // on padding or between dilated elements.
  int64_t position(const int64_t* output_index, const int64_t* window_index) const {
    int64_t out = 0;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      const Axis& axis = axes_[d];
      int64_t at = axis.first + output_index[d] * axis.step + window_index[d] * axis.dilation;
      if (axis.holes > 1 && at % axis.holes != 0) return -1;
      at /= axis.holes;
      if (at < 0 || at >= axis.size) return -1;
      out += at * axis.stride;
    }
    return out;
  }

 private:
  struct Axis {
    int64_t size, stride;           // of the array
    int64_t first, step, dilation;  // where the first window begins, in dilated elements
    int64_t holes;                  // base dilation
  };
  Dims sizes_;
  std::vector<Axis> axes_;
};

// Windows that are looked at together, as lanes.
inline constexpr int64_t window_block = 1024;
// Indices of the windows [begin, end) in row-major order, one row each.
Dims output_indices(std::span<const int64_t> output, int64_t begin, int64_t end);

}  // namespace hilo
