// Fourier transforms of one length, made ready to be run often. Private to `kernels`.
#pragma once

#include <memory>

#include "kernels/fft/fft_passes.h"
#include "kernels/kernels.h"
#include "kernels/packed_memory.h"

namespace hilo {

struct RootOfUnity {
  double re, im;
};

// exp(-2 pi i k / n), 0 <= k < n: each part within a unit of its last place, beyond a length of
// max_exact within two units of the last place of 1, as a product of two.
class RootsOfUnity {
 public:
  static constexpr int64_t max_exact = 4096;
  explicit RootsOfUnity(int64_t n);
  RootOfUnity operator[](int64_t k) const;

 private:
  int64_t step_;  // a power of two
  std::vector<RootOfUnity> coarse_, fine_;
};

// Each part rounded once.
template <class T>
void append(Factors<T>& factors, RootOfUnity root) {
  factors.re.push_back(static_cast<T>(root.re)), factors.im.push_back(static_cast<T>(root.im));
}

// X[k] = sum over t of x[t] exp(-2 pi i t k / n); the inverse, times n, is what it gives for
// exchanged planes. Lengths with no prime factor above max_fft_radix are done in passes,
// others as a convolution of a better length (Bluestein, "A linear filtering approach to the
// computation of discrete Fourier transform", 1970). A long single line is a matrix, whose columns
// are transformed side by side and then its rows (Bailey, "FFTs in external or hierarchical
// memory", 1990).
template <class T>
class FourierTransform {
 public:
  static constexpr int64_t long_line = 64;
  // Of n >= 1 elements; of one line, then n >= long_line, or of fft_lanes.
  FourierTransform(int64_t n, int64_t lanes);

  // Numbers that run() needs beside the planes of rows_with_gaps(n) * lanes each.
  int64_t spare() const;
  // The result is in the planes it gives: `values` or part of `spare`. A single line is shared
  // among the threads of `parallel`, where there is one.
  Planes<T> run(Planes<T> values, T* spare, const Parallel* parallel = nullptr) const;
  // No number on the way is above this times the sum of the magnitudes of the line's parts.
  int64_t max_growth() const;

 private:
  struct Matrix;
  struct Convolution;
  int64_t n_, lanes_;
  std::vector<FftPass<T>> passes_;
  std::shared_ptr<const Matrix> matrix_;
  std::shared_ptr<const Convolution> convolution_;
};

// Two planes of `count` numbers each out of `memory`, which moves on. They begin with a cache line,
// as memory does, and lie one more than the lines of `count` apart.
template <class T>
constexpr int64_t plane_size(int64_t count) {
  constexpr int64_t line = max_fft_lanes<T>;
  return (count + line - 1) / line * line + line;
}
template <class T>
constexpr int64_t planes_size(int64_t count) {
  return 2 * plane_size<T>(count);
}
template <class T>
Planes<T> take_planes(T*& memory, int64_t count) {
  const Planes<T> out{memory, memory + plane_size<T>(count)};
  memory += planes_size<T>(count);
  return out;
}

// Memory of the calling thread that it keeps, of `count` numbers; one for each use.
enum class FftMemory { Line, Block, Between };
template <class T>
T* take_numbers(PackedMemory& memory, int64_t count) {
  return reinterpret_cast<T*>(memory.take(count * static_cast<int64_t>(sizeof(T))));
}
template <FftMemory use, class T>
T* kept_memory(int64_t count) {
  thread_local PackedMemory memory;
  return take_numbers<T>(memory, count);
}

}  // namespace hilo
