// Windows: how many places one takes, for reduce-window, select-and-scatter and convolution.
#include "ir/infer/infer.h"

namespace hilo {
namespace {

// (size - 1) * dilation + 1, or nothing when it overflows.
std::optional<int64_t> dilated(int64_t size, int64_t dilation) {
  int64_t out;
  if (size == 0) return 0;
  if (__builtin_mul_overflow(size - 1, dilation, &out) || __builtin_add_overflow(out, 1, &out))
    return std::nullopt;
  return out;
}

}  // namespace

Result<int64_t> window_output_size(const WindowDim& window, int64_t size) {
  if (window.size <= 0) return misfit("expected a positive window size, found {}", window.size);
  if (window.stride <= 0)
    return misfit("expected a positive window stride, found {}", window.stride);
  if (window.base_dilation <= 0)
    return misfit("expected a positive lhs_dilate, found {}", window.base_dilation);
  if (window.window_dilation <= 0)
    return misfit("expected a positive rhs_dilate, found {}", window.window_dilation);
  const auto base = dilated(size, window.base_dilation);
  const auto extent = dilated(window.size, window.window_dilation);
  int64_t padded;
  if (!base || !extent || __builtin_add_overflow(*base, window.padding_low, &padded) ||
      __builtin_add_overflow(padded, window.padding_high, &padded))
    return fail(ErrorKind::Limit, "the window's padded or dilated size is not below 2^63");
  if (padded < 0) return misfit("padding leaves a dimension of {} elements", padded);
  return padded < *extent ? 0 : (padded - *extent) / window.stride + 1;
}

Result<Shape> windowed(const Shape& input, const Window& window, ElementType type) {
  if (window.dims.size() != input.dims.size())
    return misfit("expected a window of {} dimensions as in {}, found {}", input.dims.size(),
                  text(input), window.dims.size());
  Shape out = make_array(type, input.dims);
  for (size_t i = 0; i < window.dims.size(); ++i) {
    HILO_TRY(out.dims[i], window_output_size(window.dims[i], input.dims[i]));
    set_dynamic(out, i, input.is_dynamic(i));
  }
  return out;
}

}  // namespace hilo
