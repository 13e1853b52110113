// reduce-window of one array by a known operation: one dimension after the other, and wide windows
// by running results from both sides of blocks (van Herk, "A fast algorithm for local minimum and
// maximum filters on rectangular and octagonal kernels", 1992), so that the cost does not grow with
// the window. Private to `eval`.
#pragma once

#include <vector>

#include "eval/combine.h"

namespace hilo {

// An array as [outer, size, inner] around the dimension that the window slides over.
struct Slide {
  int64_t outer, size, inner, outputs;
  WindowDim window;  // no dilation
};

// The part of output o's window that lies inside the array.
inline std::pair<int64_t, int64_t> window_range(const Slide& s, int64_t o) {
  const int64_t begin = o * s.window.stride - s.window.padding_low;
  return {std::max<int64_t>(0, begin), std::min(s.size, begin + s.window.size)};
}

template <Op op, class W>
void combine_rows(const W* a, const W* b, W* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = combine<op, W>(a[i], b[i]);
}

// Columns [0, n) of one outer index; empty windows give W().
template <Op op, class W>
void slide_narrow(const Slide& s, const W* in, W* out, int64_t n) {
  for (int64_t o = 0; o < s.outputs; ++o) {
    const auto [begin, end] = window_range(s, o);
    W* row = out + o * s.inner;
    if (begin >= end) std::fill_n(row, n, W());
    for (int64_t t = begin; t < end; ++t)
      if (t == begin) std::copy_n(in + t * s.inner, n, row);
      else combine_rows<op>(row, in + t * s.inner, row, n);
  }
}

template <Op op, class W>
void slide_wide(const Slide& s, const W* in, W* out, int64_t n) {
  const int64_t block = s.window.size;
  std::vector<W> prefix(s.size * n), suffix(s.size * n);
  for (int64_t t = 0; t < s.size; ++t)
    if (t % block == 0) std::copy_n(in + t * s.inner, n, &prefix[t * n]);
    else combine_rows<op>(&prefix[(t - 1) * n], in + t * s.inner, &prefix[t * n], n);
  for (int64_t t = s.size - 1; t >= 0; --t)
    if (t % block == block - 1 || t == s.size - 1) std::copy_n(in + t * s.inner, n, &suffix[t * n]);
    else combine_rows<op>(in + t * s.inner, &suffix[(t + 1) * n], &suffix[t * n], n);
  for (int64_t o = 0; o < s.outputs; ++o) {
    const auto [begin, end] = window_range(s, o);
    W* row = out + o * s.inner;
    if (begin >= end) std::fill_n(row, n, W());
    else if (begin % block == 0) std::copy_n(&prefix[(end - 1) * n], n, row);
    else if (begin / block == (end - 1) / block) std::copy_n(&suffix[begin * n], n, row);
    else combine_rows<op>(&suffix[begin * n], &prefix[(end - 1) * n], row, n);
  }
}

template <Op op, class W>
void slide(const Call& call, const Slide& s, const W* in, W* out) {
  const int64_t columns = std::clamp<int64_t>(65536 / std::max<int64_t>(1, s.size), 16, 1024);
  const int64_t pieces = (s.inner + columns - 1) / columns;
  call.parallel(
      s.outer * pieces, std::max<int64_t>(1, 4096 / (s.size * std::min(columns, s.inner) + 1)),
      [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t outer = task / pieces, column = task % pieces * columns;
          const int64_t n = std::min(columns, s.inner - column);
          const W* from = in + outer * s.size * s.inner + column;
          W* to = out + outer * s.outputs * s.inner + column;
          s.window.size <= 4 ? slide_narrow<op>(s, from, to, n) : slide_wide<op>(s, from, to, n);
        }
      });
}

}  // namespace hilo
