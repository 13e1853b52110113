// Arrays read through strides. Private to `eval`.
#pragma once

#include "shape/shape.h"

namespace hilo {

// The element at index i stands at base + sum of i[d] * strides[d], in elements.
struct View {
  Dims dims, strides;
  int64_t base = 0;

  static View of(std::span<const int64_t> dims);  // row-major
  int64_t count() const { return element_count(std::span<const int64_t>(dims)); }
  // Dimensions of one element dropped, neighbours that lie as one joined.
  View simplified() const;
  bool is_row_major() const;  // of a simplified view
};

// out[i] = element begin + i of the view of `from`, for i in [0, n); elements of element_bytes.
void read_view(const View& view, int64_t element_bytes, const std::byte* from, int64_t begin,
               int64_t n, std::byte* out);

}  // namespace hilo
