#include "eval/window_positions.h"

namespace hilo {

WindowPositions::WindowPositions(const Window& window, std::span<const int64_t> input,
                                 std::span<const int64_t> output) {
  const Dims strides = row_major_strides(input);
  for (size_t d = 0; d < input.size(); ++d) {
    const WindowDim w = d < window.dims.size() ? window.dims[d] : WindowDim{};
    const int64_t last_window_start =
        (std::max<int64_t>(output[d], 1) - 1) * w.stride - w.padding_low;
    const int64_t extent = (std::max<int64_t>(input[d], 1) - 1) * w.base_dilation + 1;
    // The first index that the last place has inside, and the last that the first place has.
    const int64_t begin = last_window_start >= 0
                              ? 0
                              : (-last_window_start + w.window_dilation - 1) / w.window_dilation;
    const int64_t end = std::min(w.size, (extent - 1 + w.padding_low) / w.window_dilation + 1);
    sizes_.push_back(std::max<int64_t>(0, end - begin));
    axes_.push_back({input[d], strides[d], begin * w.window_dilation - w.padding_low, w.stride,
                     w.window_dilation, w.base_dilation});
  }
}

Dims output_indices(std::span<const int64_t> output, int64_t begin, int64_t end) {
  const size_t rank = output.size();
  Dims out((end - begin) * rank), index(rank, 0);
  for (int64_t d = static_cast<int64_t>(rank) - 1, rest = begin; d >= 0; rest /= output[d--])
    index[d] = rest % output[d];
  for (int64_t i = 0; i < end - begin; ++i, next_index(index, output))
    std::ranges::copy(index, out.begin() + i * rank);
  return out;
}

}  // namespace hilo
