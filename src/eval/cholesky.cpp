// cholesky: A = L L* (lower) or U* U from the triangle that is named; the other triangle of the
// result is zero. A matrix that is not positive definite gives NaNs. Floats narrower than f32 are
// computed in f32.
#include <limits>

#include "eval/call.h"
#include "eval/factor.h"
#include "eval/matrix_pack.h"
#include "eval/routine.h"
#include "eval/triangular_solve.h"

namespace hilo {
namespace {

template <class T>
void make_factor(bool lower, int64_t n, T* a, MaybeParallel parallel) {
  MatrixView<T> matrix = dense(a, n, n);
  if (!lower) matrix = matrix.transposed();  // the transpose of U, conj(L)
  const bool whole = factor_cholesky(matrix, parallel) == n;
  if (!whole) std::fill_n(a, n * n, T(std::numeric_limits<RealPartOf<T>>::quiet_NaN()));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) matrix(i, j) = T(0);
}

// Matrices of the type that they are computed in.
template <class T>
void make_factors(const Shape& shape, bool lower, T* a, const Parallel& parallel) {
  const int64_t n = shape.dims.back(), size = n * n,
                batches = size ? element_count(shape) / size : 0;
  if (is_alone(batches, n * size)) {
    for (int64_t i = 0; i < batches; ++i) make_factor(lower, n, a + i * size, &parallel);
    return;
  }
  parallel(batches, std::max<int64_t>(1, 32768 / (size * n + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) make_factor(lower, n, a + i * size, nullptr);
  });
}

template <class T>
Routine routine_of(const RoutineCall& call) {
  const bool lower = call.attributes<CholeskyAttributes>().lower;
  return [shape = call.result(), lower](auto operands, auto results, const Parallel& parallel) {
    if (element_type<T> != shape.type) {
      std::vector<T> values = values_of<T>(seen(shape, operands[0]));
      make_factors(shape, lower, values.data(), parallel);
      Literal out = seen(shape, results[0]);
      return store_values<T>(values, out);
    }
    T* a = reinterpret_cast<T*>(results[0]);
    std::copy_n(reinterpret_cast<const T*>(operands[0]), element_count(shape), a);
    make_factors(shape, lower, a, parallel);
  };
}

template <class T>
Literal factors_of(Call& call) {
  std::vector<T> values = values_of<T>(call.operands[0]);
  make_factors(call.operands[0].shape(), call.attributes<CholeskyAttributes>().lower, values.data(),
               call.in_chunks());
  Literal out = call.make();
  store_values<T>(values, out);
  return out;
}

}  // namespace

Routine routine_Cholesky(const RoutineCall& call) {
  Routine out;
  visit_matrix_type(call.result().type,
                    [&]<class T>(std::type_identity<T>) { out = routine_of<T>(call); });
  return out;
}

Result<Literal> evaluate_Cholesky(Call& call) {
  Literal out;
  visit_matrix_type(call.operands[0].type(),
                    [&]<class T>(std::type_identity<T>) { out = factors_of<T>(call); });
  return out;
}

}  // namespace hilo
