// Fourier transforms of one length, made ready to be run often. Private to `eval`.
#pragma once

#include <memory>

#include "eval/eval.h"
#include "eval/fft_passes.h"

namespace hilo {

// cos and sin of 2 pi numerator / denominator, each within a unit of its last place.
struct RootOfUnity {
  double re, im;
};
RootOfUnity root_of_unity(int64_t numerator, int64_t denominator);

// X[k] = sum over t of x[t] exp(-2 pi i t k / n); the inverse, times n, is what it gives for
// exchanged planes. Lengths with no prime factor above 7 are done in passes, others as a
// convolution of such a length (Bluestein, "A linear filtering approach to the computation of
// discrete Fourier transform", 1970). A long single line is a matrix, whose columns are transformed
// side by side and then its rows (Bailey, "FFTs in external or hierarchical memory", 1990).
class FourierTransform {
 public:
  // Of n >= 1 elements; of one line at a time or of fft_lanes.
  FourierTransform(int64_t n, int64_t lanes);

  int64_t spare() const;  // doubles that run() needs beside the planes of n * lanes each
  // The result is in the planes it gives: `values` or part of `spare`. A single line is shared
  // among the threads of `parallel`, where there is one.
  Planes run(Planes values, double* spare, const Parallel* parallel = nullptr) const;

 private:
  struct Matrix;
  struct Convolution;
  void add_passes();
  int64_t n_, lanes_;
  std::vector<FftPass> passes_;
  std::shared_ptr<const Matrix> matrix_;
  std::shared_ptr<const Convolution> convolution_;
};

// Two planes of `count` doubles each out of `memory`, which moves on. They lie a cache line more
// than a multiple of a page apart.
Planes take_planes(double*& memory, int64_t count);
constexpr int64_t planes_size(int64_t count) { return 2 * (count + fft_lanes); }

// Memory of the calling thread that it keeps, at least `count` doubles; one for each Use.
enum class FftMemory { Line, Block };
template <FftMemory use>
double* kept_memory(int64_t count) {
  thread_local std::vector<double> memory;
  if (static_cast<int64_t>(memory.size()) < count) memory.resize(count);
  return memory.data();
}

}  // namespace hilo
