// compare and select.
#include <bit>
#include <complex>

#include "eval/kernel.h"

namespace hilo {
namespace {

// Order of IEEE 754's totalOrder as order of signed integers.
int32_t total(float x) {
  const int32_t raw = std::bit_cast<int32_t>(x);
  return raw ^ static_cast<int32_t>(static_cast<uint32_t>(raw >> 31) >> 1);
}
int64_t total(double x) {
  const int64_t raw = std::bit_cast<int64_t>(x);
  return raw ^ static_cast<int64_t>(static_cast<uint64_t>(raw >> 63) >> 1);
}

template <ComparisonDirection D, class T>
bool holds(T a, T b) {
  if constexpr (D == ComparisonDirection::Eq) return a == b;
  else if constexpr (D == ComparisonDirection::Ne) return a != b;
  else if constexpr (!requires { a < b; }) return false;
  else if constexpr (D == ComparisonDirection::Ge) return a >= b;
  else if constexpr (D == ComparisonDirection::Gt) return a > b;
  else if constexpr (D == ComparisonDirection::Le) return a <= b;
  else return a < b;
}

template <ComparisonDirection D, class T>
void compare(const KernelArguments& k) {
  const T *a = k.input<T>(0), *b = k.input<T>(1);
  uint8_t* out = k.output<uint8_t>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = holds<D>(a[i], b[i]);
}

template <ComparisonDirection D, class T>
void compare_total(const KernelArguments& k) {
  const T *a = k.input<T>(0), *b = k.input<T>(1);
  uint8_t* out = k.output<uint8_t>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = holds<D>(total(a[i]), total(b[i]));
}

template <ComparisonDirection D>
Kernel find(Representation r, bool total_order) {
  static constexpr Kernel plain[] = {compare<D, uint8_t>,
                                     compare<D, int8_t>,
                                     compare<D, uint16_t>,
                                     compare<D, int16_t>,
                                     compare<D, uint32_t>,
                                     compare<D, int32_t>,
                                     compare<D, uint64_t>,
                                     compare<D, int64_t>,
                                     compare<D, float>,
                                     compare<D, double>,
                                     compare<D, std::complex<float>>,
                                     compare<D, std::complex<double>>};
  if (total_order && r == Representation::F32) return compare_total<D, float>;
  if (total_order && r == Representation::F64) return compare_total<D, double>;
  return plain[static_cast<size_t>(r)];
}

template <class T>
void select(const KernelArguments& k) {
  const uint8_t* chosen = k.input<uint8_t>(0);
  const T *a = k.input<T>(1), *b = k.input<T>(2);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = chosen[i] ? a[i] : b[i];
}

}  // namespace

Kernel compare_kernel(ComparisonDirection direction, bool total_order, Representation r) {
  using D = ComparisonDirection;
  static constexpr Kernel (*finders[])(Representation, bool) = {
      find<D::Eq>, find<D::Ne>, find<D::Ge>, find<D::Gt>, find<D::Le>, find<D::Lt>};
  return finders[static_cast<size_t>(direction)](r, total_order);
}

Kernel select_kernel(Representation values) {
  static constexpr Kernel kernels[] = {select<uint8_t>, select<uint16_t>, select<uint32_t>,
                                       select<uint64_t>, select<std::complex<double>>};
  return kernels[std::countr_zero(static_cast<uint64_t>(bytes_of(values)))];
}

}  // namespace hilo
