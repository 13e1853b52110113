// Front door of `kernels`: numerical routines over arrays in memory, which the evaluator and
// compiled programs both call. They know shapes, strides and threads, but neither instructions nor
// literals. Arrays are dense and row-major unless strides or tables of offsets say else. What is
// called often is prepared once, from shapes alone. Results have the same bits for any Parallel.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <memory>

#include "kernels/chunks.h"
#include "kernels/linalg/linalg.h"
#include "shape/shape.h"

namespace hilo {

// Calls body(begin, end) over [0, count) in pieces of `grain`, the last one shorter, on any
// threads. Work may be cut the finer the more threads there are, but not so that its bits change.
class Parallel {
 public:
  using Body = std::function<void(int64_t begin, int64_t end)>;
  using Run = std::function<void(int64_t count, int64_t grain, const Body& body)>;
  Parallel(int threads, Run run) : run_(std::move(run)), threads_(threads) {}
  void operator()(int64_t count, int64_t grain, const Body& body) const {
    run_(count, grain, body);
  }
  int64_t threads() const { return threads_; }

 private:
  Run run_;
  int threads_;
};

// A kernel with its shapes, made ready to be run often: each leaf of its operands and results is
// the address of a dense row-major array. Callable from several threads.
using RoutineFunction =
    std::function<void(std::span<const std::byte* const> operands,
                       std::span<std::byte* const> results, const Parallel& parallel)>;
// Rows [row, row + rows) and columns [column, column + columns) of a result, which is seen as a
// matrix of lines of some width. The numbers of columns are multiples of `part_columns`.
struct MatrixPart {
  int64_t row, rows, column, columns;
};
constexpr int64_t part_columns = 16;
using TakePart = std::function<void(const MatrixPart&)>;
struct Routine : RoutineFunction {
  using RoutineFunction::RoutineFunction;
  // Of products and convolutions: runs, and has each part of the result taken once, as soon as it
  // is there, on any thread. False, and nothing is done, where parts are no rectangles of a matrix
  // of this width.
  std::function<bool(std::span<const std::byte* const> operands,
                     std::span<std::byte* const> results, const Parallel& parallel, int64_t width,
                     const TakePart& take)>
      run_in_parts = {};
};

// Memory that the calling thread keeps until its next call, aligned as a page.
std::byte* thread_workspace(int64_t bytes);

// Positions of all indices over `sizes` in row-major order, given each dimension's stride.
inline Dims positions(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  Dims out = {0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    Dims wider;
    wider.reserve(out.size() * static_cast<size_t>(sizes[d]));
    for (int64_t base : out)
      for (int64_t i = 0; i < sizes[d]; ++i) wider.push_back(base + i * strides[d]);
    out = std::move(wider);
  }
  return out;
}
// values[at[0]], values[at[1]], ...
inline Dims pick(std::span<const int64_t> values, std::span<const int64_t> at) {
  Dims out;
  for (int64_t i : at) out.push_back(values[static_cast<size_t>(i)]);
  return out;
}
// Dimensions of an array that are in neither list, ascending.
inline Dims free_dims(int64_t rank, std::span<const int64_t> batch,
                      std::span<const int64_t> contracting) {
  Dims out;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (std::ranges::count(batch, dim) + std::ranges::count(contracting, dim) == 0)
      out.push_back(dim);
  return out;
}

// gemm: matrix products.

// How much of a matrix product's operands a chip's default would keep.
enum class MatmulPrecision : uint8_t { F32, Tf32, Bf16 };
// An operand by its elements' positions: element (b, i, t) stands at batch[b] + outer[i] + inner[t]
// of `data`. i is the free index, t the summed one.
struct MatmulOperand {
  const void* data;
  ElementType type;
  Dims batch, outer, inner;
};
struct MatmulResult {  // element (b, i, j) stands at batch[b] + row[i] + column[j]
  void* data;
  ElementType type;
  Dims batch, row, column;
};
// out(b, i, j) = sum over t of lhs(b, i, t) * rhs(b, j, t). The sum is computed in f32, or in f64
// or complex when a type asks for it, and rounded once to the type of `out`; integers are exact and
// wrap. Work is cut into tiles that depend on the sizes alone, so that the bits do not depend on
// the number of threads. `precision` rounds the operands of f32 products first.
struct Matmul {
  MatmulOperand lhs, rhs;
  MatmulResult out;
  MatmulPrecision precision = MatmulPrecision::F32;
  // Whether large products of f32 may be made of products of the numbers' parts, which round other
  // sums, no more of them (kernels/gemm/matrix_kernel_split.cpp).
  bool may_split = false;
  // Where it is not null: called once for each part of the result that is there, on any thread;
  // tells_parts() must hold for the width.
  const TakePart* take = nullptr;
  int64_t width = 0;
};
void matmul(const Matmul& product, const Parallel& parallel);
// Whether parts of the result are rectangles of a row-major matrix of so many columns, and are
// ready one by one.
bool tells_parts(const Matmul& product, int64_t width);

struct DotDims {
  Dims lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
};
// The product of two arrays, without their data. The result's dimensions are the batch dims, then
// lhs's free dims, then rhs's. `contracted`: how much of each contracting dimension is summed.
Matmul dot_product(const Shape& lhs, const Shape& rhs, ElementType out, const DotDims& dims,
                   std::span<const int64_t> contracted, MatmulPrecision precision);

// conv: convolutions, as matrix products.

struct ConvolutionDims {
  struct Spatial {
    int64_t input, kernel, output;  // the dimension of each array
    int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0;
    int64_t window_dilation = 1, base_dilation = 1;
    bool is_reversed = false;
  };
  std::vector<Spatial> spatial;
  int64_t input_batch, input_feature, kernel_input_feature, kernel_output_feature;
  int64_t output_batch, output_feature;
  int64_t feature_groups = 1, batch_groups = 1;
};
class PreparedConvolution {
 public:
  // See Matmul for the arithmetic, `precision` and `may_split`.
  PreparedConvolution(const ConvolutionDims& dims, const Shape& input, const Shape& kernel,
                      const Shape& result, MatmulPrecision precision, bool may_split);
  // Whether it is one product or several; else each group has one small column.
  bool is_product() const;
  bool tells_parts(int64_t width) const;
  int64_t workspace_bytes() const;
  // `take` as in Matmul.
  void run(const std::byte* input, const std::byte* kernel, std::byte* result, std::byte* workspace,
           const Parallel& parallel, int64_t width = 0, const TakePart* take = nullptr) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// fft: Fourier transforms over the last dimensions, in the precision of the result.

enum class FftKind : uint8_t { Forward, Inverse, RealToHalf, HalfToReal };
class PreparedFft {
 public:
  // `lengths` of the transforms, those of the last dimensions; the inverse ones divide by them.
  PreparedFft(FftKind kind, const Dims& lengths, const Shape& operand, const Shape& result);
  int64_t workspace_bytes(int64_t threads) const;  // that run() takes
  void run(const std::byte* operand, std::byte* result, const Parallel& parallel) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// sort: stable sorts of the lines of arrays that move together, and the first k of lines.

struct SortKey {
  int64_t operand;  // whose elements are compared; numbers beyond the operands': a computed key
  bool is_descending;
  bool is_total_order;     // floats by sign, then magnitude: -NaN < -inf ... -0 < +0 ... < NaN
  bool zeros_are_equal;    // -0 as +0
  bool nans_are_positive;  // every NaN as +NaN
  bool operator==(const SortKey&) const = default;
};
bool has_sort_key(ElementType type);

struct SortLine {  // the elements sorted together stand `step` apart, from `base`
  int64_t base, step, count;
};
// The lines of arrays of these sizes along `dim`, of which the first `count` elements are sorted.
struct SortLines {
  int64_t number, step, bound, count;
  SortLines(const Dims& dims, int64_t dim, int64_t count);
  SortLine operator[](int64_t i) const { return {i / step * step * bound + i % step, step, count}; }
  int64_t grain() const { return std::max<int64_t>(1, 4096 / std::max<int64_t>(count, 1)); }
};

// Keys that are functions of a line's elements.
struct ComputedSortKeys {
  std::vector<ElementType> types;  // of keys
  // Gives the address of each key's line.count elements, which the calling thread has until its
  // next call.
  std::function<std::vector<const std::byte*>(std::span<const std::byte* const> operands,
                                              const SortLine& line)>
      compute;
};
struct SortOrder {
  std::vector<SortKey> keys;  // the first one first
  ComputedSortKeys computed;
};
// Sorts by keys. A result may stand in its operand's place.
class PreparedSort {
 public:
  PreparedSort(SortOrder order, std::vector<ElementType> types, const SortLines& lines);
  void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
           const Parallel& parallel) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// before[i] = whether element left[i] of a line comes before element right[i].
using ComparePairs =
    std::function<Result<void>(const Dims& left, const Dims& right, std::vector<uint8_t>& before)>;
// order[i]: which of `count` elements stands at place i once they are sorted, stably. A comparator
// that is no order gives some order.
Result<void> sort_by_merges(int64_t count, const ComparePairs& compare, int64_t* order);
// to[i] = from[order[i]] of a line's elements, which may stand in their own place.
void permute_line(ElementType type, const std::byte* from, const SortLine& line,
                  const int64_t* order, std::byte* to);

// The k largest or smallest of each line of n elements side by side, and their indices in s32, in
// total order, the lower index first among equals.
class PreparedTopK {
 public:
  // `keyed`: a type with sort keys, in which the elements have the same order.
  PreparedTopK(int64_t k, bool largest, ElementType type, ElementType keyed, int64_t n);
  // The operand's elements as they are and as `keyed`.
  void run(int64_t lines, const std::byte* operand, const std::byte* keyed_operand,
           std::byte* values, std::byte* indices, const Parallel& parallel) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// linalg: batches of matrices in the last two dimensions. Floats narrower than f32 are computed in
// f32. linalg.h has the routines of one matrix.

// A = L L* (lower) or U* U from the triangle that is named; the other triangle of the result is
// zero. A matrix that is not positive definite gives NaNs.
void cholesky(const Shape& shape, bool lower, const std::byte* a, std::byte* result,
              const Parallel& parallel);
// `system` of each matrix. X may stand in B's place.
void solve_triangular(const TriangularSystem& system, const Shape& of_a, const Shape& of_x,
                      const std::byte* a, const std::byte* b, std::byte* x,
                      const Parallel& parallel);
// Whether there is a LAPACK: the library that HILO_LAPACK names, else an OpenBLAS or LAPACK that
// the loader finds.
bool has_lapack();

// random: counter-based generators, bit for bit those of XLA.

// Threefry-2x32 with 20 rounds and Philox-4x32 with 10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011). Words of a 64- or 128-bit counter and of the key, low word first.
std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter);
std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high);
enum class RandomAlgorithm : uint8_t { ThreeFry, Philox };
// Fills an array with the low bits of words, of a key and a counter of 64 bits, or 128 with `high`;
// gives the steps that the counter goes on by.
int64_t fill_random(RandomAlgorithm algorithm, uint64_t key, uint64_t low, uint64_t high,
                    const Shape& shape, std::byte* out, const Parallel& parallel);

}  // namespace hilo
