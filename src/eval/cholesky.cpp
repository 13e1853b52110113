// cholesky: A = L L* (lower) or U* U, in f64, from the triangle that is named; the other triangle
// of the result is zero. A matrix that is not positive definite gives NaNs.
#include <cmath>
#include <limits>

#include "eval/evaluation.h"
#include "eval/matrix_pack.h"

namespace hilo {
namespace {

double conjugate(double value) { return value; }
std::complex<double> conjugate(std::complex<double> value) { return std::conj(value); }

// Lower factor, row by row, in place; false when there is none.
template <class T>
bool factor(const Call& call, T* a, int64_t n) {
  for (int64_t i = 0; i < n && !call.device.evaluation->is_interrupted(); ++i)
    for (int64_t j = 0; j <= i; ++j) {
      T sum = a[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= a[i * n + k] * conjugate(a[j * n + k]);
      if (i != j) a[i * n + j] = sum / a[j * n + j];
      else if (std::real(sum) > 0) a[i * n + i] = std::sqrt(std::real(sum));
      else return false;
    }
  return true;
}

template <class T>
void transpose(T* a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    a[i * n + i] = conjugate(a[i * n + i]);
    for (int64_t j = 0; j < i; ++j) {
      const T low = a[i * n + j];
      a[i * n + j] = conjugate(a[j * n + i]);
      a[j * n + i] = conjugate(low);
    }
  }
}

template <class T>
Literal cholesky(Call& call) {
  const bool lower = call.attributes<CholeskyAttributes>().lower;
  const int64_t n = call.operands[0].shape().dims.back(), size = n * n;
  std::vector<T> values = values_of<T>(call.operands[0]);
  call.parallel(size ? values.size() / size : 0, std::max<int64_t>(1, 32768 / (size * n + 1)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t batch = begin; batch < end; ++batch) {
                    T* a = values.data() + batch * size;
                    if (!lower) transpose(a, n);
                    if (!factor(call, a, n))
                      std::fill_n(a, size, T(std::numeric_limits<double>::quiet_NaN()));
                    for (int64_t i = 0; i < n; ++i)
                      std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
                    if (!lower) transpose(a, n);
                  }
                });
  Literal out = call.make();
  store_values<T>(values, out);
  return out;
}

}  // namespace

Result<Literal> evaluate_Cholesky(Call& call) {
  const bool complex = is_complex(call.operands[0].type());
  return complex ? cholesky<std::complex<double>>(call) : cholesky<double>(call);
}

}  // namespace hilo
