#include "eval/reference/reference.h"
#include "eval/values.h"

namespace hilo::reference {

template <class T>
void solve(const TriangularSystem& system, const T* a, T* x) {
  const int64_t n = system.order(), columns = system.on_left ? system.columns : system.rows;
  // X op(A) = B is op(A)^T X^T = B^T.
  const bool reads_transposed = system.is_transposed == system.on_left;
  const auto matrix = [&](int64_t i, int64_t j) {
    return conjugate_if(system.is_conjugated, reads_transposed ? a[j * n + i] : a[i * n + j]);
  };
  const auto unknown = [&](int64_t i, int64_t c) -> T& {
    return system.on_left ? x[i * columns + c] : x[c * n + i];
  };
  const bool is_lower = system.is_lower != reads_transposed;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = is_lower ? step : n - 1 - step;
    for (int64_t c = 0; c < columns; ++c) {
      T rest = unknown(i, c);
      for (int64_t j = is_lower ? 0 : i + 1; j < (is_lower ? i : n); ++j)
        rest -= matrix(i, j) * unknown(j, c);
      unknown(i, c) = system.has_units ? rest : rest / matrix(i, i);
    }
  }
}
template void solve(const TriangularSystem&, const float*, float*);
template void solve(const TriangularSystem&, const double*, double*);
template void solve(const TriangularSystem&, const std::complex<float>*, std::complex<float>*);
template void solve(const TriangularSystem&, const std::complex<double>*, std::complex<double>*);

void triangular_solve(const Literal& a, const Literal& b, const TriangularSystem& system,
                      Literal& out) {
  const int64_t of_a = system.order() * system.order(), of_x = system.rows * system.columns;
  visit_sum({b.type(), ElementType::F64}, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, uint64_t>) {
      const std::vector<T> matrices = values_of<T>(a);
      std::vector<T> values = values_of<T>(b);
      for (int64_t i = 0; of_x > 0 && i < std::ssize(values) / of_x; ++i)
        solve(system, &matrices[i * of_a], &values[i * of_x]);
      store_values<T>(values, out);
    }
  });
}

}  // namespace hilo::reference
