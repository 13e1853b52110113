#include "eval/values.h"

namespace hilo {
namespace {

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;
template <class S>
inline constexpr bool is_float =
    std::is_floating_point_v<S> || (std::is_class_v<S> && requires { S::from_bits(0); });

template <class T, class S>
T as(S value) {
  if constexpr (is_complex_number<S> && is_complex_number<T>) return T(value.real(), value.imag());
  else if constexpr (is_complex_number<S>) return as<T>(value.real());
  else if constexpr (is_complex_number<T>) return T(as<typename T::value_type>(value));
  else if constexpr (std::is_same_v<T, uint64_t>)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  else return static_cast<T>(value);
}

template <class S, class T>
S rounded(T value) {
  if constexpr (is_complex_number<S> && is_complex_number<T>) {
    using Real = typename S::value_type;
    return S(static_cast<Real>(value.real()), static_cast<Real>(value.imag()));
  } else if constexpr (is_complex_number<T>) {
    return rounded<S>(value.real());
  } else if constexpr (is_complex_number<S>) {
    return S(static_cast<typename S::value_type>(value));
  } else if constexpr (std::is_same_v<S, bool>) {
    return value != T(0);
  } else if constexpr (is_float<S> && std::is_same_v<T, uint64_t>) {
    return S(static_cast<double>(static_cast<int64_t>(value)));
  } else if constexpr (is_float<S>) {
    return S(value);
  } else {
    return S(static_cast<int64_t>(value));
  }
}

}  // namespace

template <class T>
std::vector<T> values_of(const Literal& array) {
  std::vector<T> out;
  out.reserve(static_cast<size_t>(array.count()));
  visit_storage(array.type(), [&]<class S>(std::type_identity<S>) {
    for (const S value : array.data<S>()) out.push_back(as<T>(value));
  });
  return out;
}

template <class T>
void store_values(std::span<const T> values, Literal& array) {
  visit_storage(array.type(), [&]<class S>(std::type_identity<S>) {
    const auto to = array.mutable_data<S>();
    for (size_t i = 0; i < values.size(); ++i) to[i] = rounded<S>(values[i]);
  });
}

#define HILO_VALUES(T)                               \
  template std::vector<T> values_of(const Literal&); \
  template void store_values(std::span<const T>, Literal&);
HILO_VALUES(float)
HILO_VALUES(double)
HILO_VALUES(std::complex<float>)
HILO_VALUES(std::complex<double>)
HILO_VALUES(uint64_t)
#undef HILO_VALUES

}  // namespace hilo
