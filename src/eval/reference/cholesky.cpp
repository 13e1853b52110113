#include <cmath>
#include <limits>

#include "eval/reference/reference.h"
#include "eval/values.h"

namespace hilo::reference {

template <class T>
int64_t factor_cholesky(int64_t n, bool lower, T* a) {
  // L(i, j); of an upper factor the conjugate stands at (j, i).
  const auto at = [&](int64_t i, int64_t j) -> T& { return lower ? a[i * n + j] : a[j * n + i]; };
  const auto get = [&](int64_t i, int64_t j) { return conjugate_if(!lower, at(i, j)); };
  for (int64_t j = 0; j < n; ++j) {
    double pivot = std::real(at(j, j));
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm(at(j, k));
    if (!(pivot > 0)) return j;
    at(j, j) = static_cast<RealPartOf<T>>(std::sqrt(pivot));
    for (int64_t i = j + 1; i < n; ++i) {
      T rest = get(i, j);
      for (int64_t k = 0; k < j; ++k) rest -= get(i, k) * conjugate_if(true, get(j, k));
      at(i, j) = conjugate_if(!lower, rest / std::real(at(j, j)));
    }
  }
  return n;
}
template int64_t factor_cholesky(int64_t, bool, float*);
template int64_t factor_cholesky(int64_t, bool, double*);
template int64_t factor_cholesky(int64_t, bool, std::complex<float>*);
template int64_t factor_cholesky(int64_t, bool, std::complex<double>*);

void cholesky(const Literal& a, bool lower, Literal& out) {
  const int64_t n = a.shape().dims.back();
  visit_sum({a.type(), ElementType::F64}, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, uint64_t>) {
      std::vector<T> factors = values_of<T>(a);
      for (int64_t base = 0; base < std::ssize(factors); base += n * n) {
        T* const matrix = &factors[base];
        const bool is_whole = factor_cholesky(n, lower, matrix) == n;
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j)
            if (lower ? j > i : j < i) matrix[i * n + j] = 0;
            else if (!is_whole) matrix[i * n + j] = std::numeric_limits<double>::quiet_NaN();
      }
      store_values<T>(factors, out);
    }
  });
}

}  // namespace hilo::reference
