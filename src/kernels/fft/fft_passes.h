// The inner loops of fast Fourier transforms in float and double, T, for the processor that runs
// them. Private to `kernels`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hilo {

// Lines lie side by side as numbers in a vector of the processor, or in two of its vectors of 16
// bytes. More of them would fill the caches: with AVX2 64 lines of 2048 complex numbers take 15 %
// longer by 16 lines of f32.
constexpr int64_t fft_lane_bytes(int64_t vector_bytes) {
  return vector_bytes < 32 ? 32 : vector_bytes;
}
template <class T>
constexpr int64_t max_fft_lanes = 64 / sizeof(T);
template <class T>
constexpr int64_t min_fft_lanes = 32 / sizeof(T);

// Real and imaginary parts. Of lines side by side: element t of line l at [t * fft_lanes + l].
template <class T>
struct Planes {
  T* re;
  T* im;
  Planes exchanged() const { return {im, re}; }
  Planes from(int64_t number) const { return {re + number, im + number}; }
};

template <class T>
struct Factors {
  std::vector<T> re, im;
};

// Beyond it a convolution is faster than the sums of a prime length.
constexpr int64_t max_fft_radix = 127;

// One pass of Stockham's transform, which needs no reordering: out of `groups` * radix elements,
// each `stride` numbers wide, element `radix * p + k` becomes
// w^(p k) sum over j of r^(j k) in[p + j * groups], w and r the roots of unity of groups * radix
// and of radix. (Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992, 1.7.)
template <class T>
struct FftPass {
  int64_t radix, groups, stride;  // radix: 2, 4, 8, 16 or a prime up to max_fft_radix
  Factors<T> roots;               // w^(p k) at [p * (radix - 1) + k - 1]
  Factors<T> circle;              // r^j, where radix is a prime above 7
  bool from_gapped = false, to_gapped = false;
};

// Between passes there may be a gap of a row after each fft_gap rows: rows that lie a power of two
// apart, as those of a butterfly of such a length do, would share few places in the caches.
constexpr int64_t fft_gap = 64;
constexpr int64_t rows_with_gaps(int64_t n) { return n + n / fft_gap + 1; }

// Of an array whose elements have `parts` numbers, 1 of real and 2 of complex ones: fft_lanes
// lines of `length` elements, their beginnings and the steps along them in numbers. Of those from
// `count` on nothing is written, and what is read of them has no meaning. Lines of real elements
// are real parts alone.
struct LinePlaces {
  static constexpr int64_t most = max_fft_lanes<float>;
  int64_t parts, length, step, count;
  int64_t of[most];
  bool are_neighbours;  // all of them, in the order of the lines
};

// Two lines that are the parts of one share its rounding, so a much smaller one is made as large as
// the other. Sizes are sums of magnitudes.
template <class T>
struct LineScales {  // powers of two, by lane; or results of zeros alone are made zero
  T up[max_fft_lanes<T>], down[max_fft_lanes<T>];
};
template <class T>
struct PairScales {
  LineScales<T> one, other;
  bool differ;      // some are not 1
  uint32_t spoilt;  // bit l: in lane l a size times `growth`, or a scale, is too large
};

template <class T>
struct FftKernels {
  int64_t lanes;  // that lie side by side

  // The rows of `from` are `pitch` numbers apart; gives whichever of `one`
  // and `other` has the result. `from` may be `other`, with fft_lanes as pitch. Both
  // have rows_with_gaps rows.
  Planes<T> (*run_passes)(std::span<const FftPass<T>> passes, Planes<T> from, int64_t pitch,
                          Planes<T> one, Planes<T> other);

  // Lines of an array and planes of them side by side, or of one line.
  void (*load)(const T* from, const LinePlaces& places, Planes<T> to);
  void (*store)(Planes<T> from, T scale, const LinePlaces& places, T* to);
  void (*load_line)(const T* from, const LinePlaces& places, Planes<T> to);
  void (*store_line)(Planes<T> from, T scale, const LinePlaces& places, T* to);

  // Factor t is that of element t of each line; to[t] = from[t] * factors[t].
  void (*multiply)(Planes<T> from, const Factors<T>& factors, Planes<T> to);
  void (*multiply_line)(Planes<T> from, const Factors<T>& factors, Planes<T> to);

  // From the transform Z of x[2t] + i x[2t+1], of `half` elements, to that of x, of half + 1, and
  // back. With E and O those of x[2t] and x[2t+1], Z = E + i O and X[k] = E[k] + w^k O[k]; roots
  // are w^k for k <= half / 2. Imaginary parts of what is real are not read.
  void (*split)(const Factors<T>& roots, int64_t half, Planes<T> values);
  void (*join)(const Factors<T>& roots, int64_t half, Planes<T> values);
  // Of lines of `rows` elements, real or complex ones, whose element 0 is real.
  void (*compare)(int64_t rows, Planes<T> one, Planes<T> other, T growth, PairScales<T>& out);
  // Of each lane by its factor, the planes that there are.
  void (*scale)(int64_t rows, Planes<T> line, const T* factors);
  // From the transform of x + i y, x and y real, of odd length, to those of x, in its place, and y,
  // up to element length / 2; and back.
  void (*part)(int64_t length, Planes<T> values, Planes<T> second);
  void (*unite)(int64_t length, Planes<T> values, Planes<T> second);
  void (*split_line)(const Factors<T>& roots, int64_t half, Planes<T> values);
  void (*join_line)(const Factors<T>& roots, int64_t half, Planes<T> values);

  // to[c * fft_lanes + k % fft_lanes + k / fft_lanes * block] = from[k * fft_lanes + c] * factor,
  // for k < rows and c < columns <= fft_lanes; the factors stand as in `from`. What it writes for k
  // beyond the rows has no meaning.
  void (*turn)(Planes<T> from, const T* re, const T* im, int64_t rows, int64_t columns,
               int64_t block, Planes<T> to);
};
// The functions of this processor.
template <class T>
const FftKernels<T>& fft_kernels();
template <class T>
int64_t fft_lanes() {
  return fft_kernels<T>().lanes;
}

}  // namespace hilo
