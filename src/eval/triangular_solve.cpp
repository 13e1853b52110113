// triangular-solve: op(A) X = B or X op(A) = B by substitution, in f64. The other triangle of A is
// not read.
#include "eval/call.h"
#include "eval/matrix_pack.h"

namespace hilo {
namespace {

template <class T>
T conjugate(T value, bool wanted) {
  if constexpr (std::is_floating_point_v<T>) return value;
  else return wanted ? std::conj(value) : value;
}

template <class T>
struct Solver {
  const TriangularSolveAttributes& a;
  const T* matrix;
  int64_t n;

  // Element (i, j) of the matrix M with M Y = C, where Y and C are X and B, or their transposes
  // when A stands on the right.
  bool is_transposed() const {
    const bool transposed =
        a.transpose_a == TransposeKind::Transpose || a.transpose_a == TransposeKind::Adjoint;
    return transposed != !a.left_side;
  }
  T at(int64_t i, int64_t j) const {
    const T value = is_transposed() ? matrix[j * n + i] : matrix[i * n + j];
    return conjugate(value, a.transpose_a == TransposeKind::Adjoint);
  }
  // Solves for one column; its elements stand `step` apart.
  void solve(T* column, int64_t step) const {
    const bool is_lower = a.lower != is_transposed();
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = is_lower ? k : n - 1 - k;
      T sum = column[i * step];
      for (int64_t j = is_lower ? 0 : i + 1; j < (is_lower ? i : n); ++j)
        sum -= at(i, j) * column[j * step];
      column[i * step] = a.unit_diagonal ? sum : sum / at(i, i);
    }
  }
};

template <class T>
Literal solve(Call& call) {
  const auto& a = call.attributes<TriangularSolveAttributes>();
  const Dims& dims = call.operands[1].shape().dims;
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  const int64_t n = a.left_side ? rows : columns, lines = a.left_side ? columns : rows;
  const std::vector<T> matrices = values_of<T>(call.operands[0]);
  std::vector<T> x = values_of<T>(call.operands[1]);
  const int64_t size = rows * columns, batches = size ? x.size() / size : 0;
  call.parallel(
      batches * lines, std::max<int64_t>(1, 16384 / (n * n + 1)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t batch = i / lines, line = i % lines;
          T* first = x.data() + batch * size + (a.left_side ? line : line * columns);
          Solver<T>{a, matrices.data() + batch * n * n, n}.solve(first, a.left_side ? columns : 1);
        }
      });
  Literal out = call.make();
  store_values<T>(x, out);
  return out;
}

}  // namespace

Result<Literal> evaluate_TriangularSolve(Call& call) {
  const bool complex = is_complex(call.operands[0].type());
  return complex ? solve<std::complex<double>>(call) : solve<double>(call);
}

}  // namespace hilo
