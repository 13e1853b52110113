#include "eval/window_positions.h"

namespace hilo {

WindowPositions::WindowPositions(const Window& window, std::span<const int64_t> input,
                                 std::span<const int64_t> output) {
  const Dims strides = row_major_strides(input);
  for (size_t d = 0; d < input.size(); ++d) {
    const WindowDim w = d < window.dims.size() ? window.dims[d] : WindowDim{};
    Dims at(output[d] * w.size, -1);
    for (int64_t o = 0; o < output[d]; ++o)
      for (int64_t i = 0; i < w.size; ++i) {
        const int64_t dilated = o * w.stride + i * w.window_dilation - w.padding_low;
        if (dilated >= 0 && dilated % w.base_dilation == 0 && dilated / w.base_dilation < input[d])
          at[o * w.size + i] = dilated / w.base_dilation * strides[d];
      }
    sizes_.push_back(w.size);
    at_.push_back(std::move(at));
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
