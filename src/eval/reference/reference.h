// The ops that have kernels, as obvious loops that call none: what `--device=reference` computes
// and all else is judged by. The loops of op X are here in X.cpp; an op without a file here has one
// function for all devices, in eval/X.cpp. Sums of floats are in f64 and are rounded once. Private
// to `eval`.
#pragma once

#include <array>

#include "eval/call.h"

namespace hilo::reference {

// Result dimensions are the batch dims, then lhs's free dims, then rhs's; of each pair of
// contracting dimensions the first `contracted` elements are summed.
void dot(const Literal& lhs, const Literal& rhs, const DotDims& dims, const Dims& contracted,
         MatmulPrecision precision, Literal& out);
// Where groups are of a contracting or a free dimension of lhs: see eval/ragged_dot.cpp.
void ragged_dot(const Literal& lhs, const Literal& rhs, const Literal& sizes,
                const RaggedDotAttributes& a, MatmulPrecision precision, Literal& out);
void convolution(const Literal& input, const Literal& kernel, const ConvolutionAttributes& a,
                 MatmulPrecision precision, Literal& out);
void fft(const Literal& operand, const FftAttributes& a, Literal& out);
// The first `count` elements of each line of the operands.
Result<void> sort(const Call& call, int64_t count, std::span<Literal> out);
void top_k(const Literal& operand, const TopKAttributes& a, Literal& values, Literal& indices);
void cholesky(const Literal& a, bool lower, Literal& out);
void triangular_solve(const Literal& a, const Literal& b, const TriangularSystem& system,
                      Literal& x);

// Of one matrix, for the op and for custom calls. The factor stands in the triangle that is named,
// and the other one is neither read nor written. Gives the first pivot that is not positive, where
// it ends, or else n.
template <class T>
int64_t factor_cholesky(int64_t n, bool lower, T* a);
// P A = L U in place, as LAPACK's getrf gives it: the pivot is the first of the largest of what is
// left of a column, by |re| + |im|; pivots[j], from 1 on, is the row that changed places with row
// j. Gives 0 or the number, from 1 on, of the first pivot that is 0.
template <class T>
int factor_lu(int64_t rows, int64_t columns, T* a, int* pivots);
// A = Q R in place, as geqrf gives it: R, and below it the vectors v of Q = H_0 H_1 ... with
// H_j = I - scales[j] v v*, v being 1 at j and 0 above.
template <class T>
void factor_qr(int64_t rows, int64_t columns, T* a, T* scales);
// The first columns of Q, of the first `count` vectors; as orgqr and ungqr.
template <class T>
void join_reflectors(int64_t rows, int64_t columns, const T* vectors, const T* scales,
                     int64_t count, T* q);
// x is B and becomes X.
template <class T>
void solve(const TriangularSystem& system, const T* a, T* x);

// Threefry-2x32 with 20 rounds and Philox-4x32 with 10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011). Words of a 64- or 128-bit counter and of the key, low word first.
std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter);
std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high);
// The low bits of words; gives the steps that the counter goes on by.
int64_t rng_bits(RngAlgorithm algorithm, uint64_t key, uint64_t low, uint64_t high, Literal& out);

// Where element `index` stands.
inline int64_t offset(const Dims& index, const Dims& strides) {
  int64_t out = 0;
  for (size_t d = 0; d < index.size(); ++d) out += index[d] * strides[d];
  return out;
}
// Calls body(index) for each index over `sizes`, in row-major order.
template <class Body>
void for_each_index(const Dims& sizes, Body&& body) {
  Dims index(sizes.size(), 0);
  for (int64_t left = element_count(sizes); left > 0; --left) {
    body(index);
    next_index(index, sizes);
  }
}

// Calls body(std::type_identity<T>()) with the type that sums of products of such elements have:
// double, complex of double, or uint64_t, which wraps.
template <class Body>
void visit_sum(std::initializer_list<ElementType> types, Body&& body) {
  if (std::ranges::any_of(types, is_complex))
    return body(std::type_identity<std::complex<double>>());
  if (std::ranges::any_of(types, is_floating)) return body(std::type_identity<double>());
  body(std::type_identity<uint64_t>());
}
// The numbers of an operand, those of a product in f32 rounded to what `precision` keeps.
template <class T>
std::vector<T> factors_of(const Literal& operand, const Literal& other, MatmulPrecision precision);

}  // namespace hilo::reference
