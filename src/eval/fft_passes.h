// The inner loops of fast Fourier transforms over lines that lie side by side. Private to `eval`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hilo {

// Real and imaginary parts: element t of line l, of `lanes` lines, at [t * lanes + l].
struct Planes {
  double* re;
  double* im;
  Planes exchanged() const { return {im, re}; }
};
constexpr int64_t fft_lanes = 8;
constexpr int64_t fft_radices[] = {8, 4, 2, 3, 5, 7};

// One pass of Stockham's transform, which needs no reordering: out of `groups` * radix elements,
// each `stride` numbers wide, element `radix * p + k` becomes
// w^(p k) sum over j of r^(j k) in[p + j * groups], w and r the roots of unity of groups * radix
// and of radix. (Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992, 1.7.)
struct FftPass {
  int64_t radix, groups, stride;
  std::vector<double> re, im;  // w^(p k) at [p * (radix - 1) + k - 1]
};

// Runs the passes one after the other from `values` to `other` and back; gives the planes where
// the result is. lanes is 1 or fft_lanes.
Planes run_fft_passes(std::span<const FftPass> passes, int64_t lanes, Planes values, Planes other);

// `rows` times `count` complex elements side by side, real part first, the rows `step` numbers
// apart; in planes they follow one another.
struct ComplexRows {
  int64_t rows, count, step;
};
void read_complex(const float* from, const ComplexRows& rows, Planes to);
void read_complex(const double* from, const ComplexRows& rows, Planes to);
void write_complex(Planes from, double scale, const ComplexRows& rows, float* to);
void write_complex(Planes from, double scale, const ComplexRows& rows, double* to);

}  // namespace hilo
