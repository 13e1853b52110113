// Between representations, and between them and storage. Floats become integers toward zero and
// saturate; NaN becomes 0.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "eval/kernel.h"

namespace hilo {
namespace {

using Representations =
    std::tuple<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float,
               double, std::complex<float>, std::complex<double>>;
template <size_t I>
using At = std::tuple_element_t<I, Representations>;
template <class T>
constexpr bool complex_type = requires(T x) { x.real(); };

// first: width of the integer type that is made.
template <class From, class To>
void saturate(const KernelArguments& k) {
  const int64_t magnitude_bits = k.first - std::is_signed_v<To>;
  const double limit = std::ldexp(1.0, static_cast<int>(magnitude_bits));
  const To most = magnitude_bits >= 64 ? To(~uint64_t{0}) : To((uint64_t{1} << magnitude_bits) - 1);
  const To least = std::is_signed_v<To> ? To(-most - 1) : To(0);
  const double lowest = std::is_signed_v<To> ? -limit : 0;
  const From* in = k.input<From>(0);
  To* out = k.output<To>();
  for (int64_t i = 0; i < k.n; ++i) {
    const double x = in[i];
    out[i] = x >= limit ? most : x <= lowest ? least : x == x ? To(x) : To(0);
  }
}

template <class From, class To>
void convert(const KernelArguments& k) {
  const From* in = k.input<From>(0);
  To* out = k.output<To>();
  for (int64_t i = 0; i < k.n; ++i) {
    if constexpr (complex_type<From> && complex_type<To>) out[i] = To(in[i]);
    else if constexpr (complex_type<To>) out[i] = To(static_cast<typename To::value_type>(in[i]));
    else out[i] = static_cast<To>(in[i]);
  }
}

// Of f8e8m0fnu, whose least power a double holds as a normal number.
template <class To>
void widen_powers(const KernelArguments& k) {
  const float* in = k.input<float>(0);
  To* out = k.output<To>();
  for (int64_t i = 0; i < k.n; ++i)
    out[i] = std::bit_cast<uint32_t>(in[i]) == uint32_t{1} << 22 ? To(0x1p-127) : To(in[i]);
}

template <class From, class To>
void convert_real_part(const KernelArguments& k) {
  const From* in = k.input<From>(0);
  To* out = k.output<To>();
  for (int64_t i = 0; i < k.n; ++i) {
    const typename From::value_type real = in[i].real();
    KernelArguments one{{&real}, &out[i], 1, k.first};
    if constexpr (std::is_integral_v<To>) saturate<typename From::value_type, To>(one);
    else out[i] = static_cast<To>(real);
  }
}

template <class From>
void to_pred(const KernelArguments& k) {
  const From* in = k.input<From>(0);
  uint8_t* out = k.output<uint8_t>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = in[i] != From(0);
}

// Of f8e8m0fnu, which has no zero.
void to_true(const KernelArguments& k) { std::fill_n(k.output<uint8_t>(), k.n, uint8_t{1}); }

void round_to_odd(const KernelArguments& k) {
  const double* in = k.input<double>(0);
  float* out = k.output<float>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = hilo::round_to_odd(in[i]);
}

template <class From, class To>
constexpr Kernel one() {
  if constexpr (complex_type<From> && !complex_type<To>) return convert_real_part<From, To>;
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return saturate<From, To>;
  else return convert<From, To>;
}

template <size_t... I>
constexpr auto table(std::index_sequence<I...>) {
  constexpr size_t n = representation_count;
  return std::array<Kernel, n * n>{one<At<I / n>, At<I % n>>()...};
}

template <size_t... I>
constexpr auto pred_table(std::index_sequence<I...>) {
  return std::array<Kernel, sizeof...(I)>{to_pred<At<I>>...};
}

// NaN keeps its bits where the format has more than one: what only moves stays what it is.
template <class T>
T nearest(float x) {
  if constexpr (requires { T::format; })
    if (constexpr FloatFormat f = T::format; x != x && f.specials == Specials::Ieee) {
      const uint32_t raw = std::bit_cast<uint32_t>(x), magnitudes = (1u << (f.bits() - 1)) - 1;
      const uint32_t exponent = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
      const uint32_t kept = raw >> (23 - f.mantissa_bits) & magnitudes;
      if (kept != exponent)
        return T::from_bits(static_cast<uint8_t>(kept | raw >> 31 << (f.bits() - 1)));
    }
  return T(x);
}
// 2^-127 is a subnormal f32, which arithmetic takes for zero, and stays what it is when it moves.
// What lies between it and 2^-126 is rounded up.
template <>
F8E8M0FNU nearest<F8E8M0FNU>(float x) {
  const auto raw = std::bit_cast<uint32_t>(x);
  const auto bits_of_power = [](uint8_t power) {
    return std::bit_cast<uint32_t>(static_cast<float>(F8E8M0FNU::from_bits(power)));
  };
  const bool is_between = raw >= bits_of_power(0) && raw < bits_of_power(1);
  return is_between ? F8E8M0FNU::from_bits(raw != bits_of_power(0)) : F8E8M0FNU(x);
}

template <class T>
void round_small(const KernelArguments& k) {
  float* values = k.output<float>();
  for (int64_t i = 0; i < k.n; ++i) values[i] = static_cast<float>(nearest<T>(values[i]));
}

template <class T>
void wrap(const KernelArguments& k) {
  int8_t* values = k.output<int8_t>();
  for (int64_t i = 0; i < k.n; ++i) values[i] = static_cast<int8_t>(T(values[i]).value);
}

template <class T>
void widen(const KernelArguments& k) {
  const T* in = k.input<T>(0);
  float* out = k.output<float>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = static_cast<float>(in[i]);
}

template <class T>
void narrow(const KernelArguments& k) {
  const float* in = k.input<float>(0);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = nearest<T>(in[i]);
}

template <class T>
constexpr bool small_float = requires(T x) {
  float(x);
  x.bits;
};
template <class T>
constexpr bool small_int = requires(T x) { x.value; };

}  // namespace

Representation representation_of(ElementType type) {
  using R = Representation;
  if (type == ElementType::F64) return R::F64;
  if (type == ElementType::C64) return R::C64;
  if (type == ElementType::C128) return R::C128;
  if (is_floating(type)) return R::F32;
  const int power = std::countr_zero(static_cast<uint64_t>(storage_bytes(type)));
  return static_cast<R>(2 * power + (is_signed(type) ? 1 : 0));
}

int64_t bytes_of(Representation representation) {
  constexpr int64_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};
  return sizes[static_cast<size_t>(representation)];
}

Kernel convert_kernel(ElementType from, ElementType to) {
  constexpr size_t n = representation_count;
  static constexpr auto kernels = table(std::make_index_sequence<n * n>());
  static constexpr auto to_preds = pred_table(std::make_index_sequence<n>());
  const Representation source = representation_of(from), target = representation_of(to);
  if (to == ElementType::Pred && from == ElementType::F8E8M0FNU) return to_true;
  if (to == ElementType::Pred) return to_preds[static_cast<size_t>(source)];
  if (from == ElementType::F8E8M0FNU && target == Representation::F64) return widen_powers<double>;
  if (from == ElementType::F8E8M0FNU && target == Representation::C128)
    return widen_powers<std::complex<double>>;
  if (from == ElementType::F64 && target == Representation::F32 && to != ElementType::F32)
    return round_to_odd;
  return kernels[static_cast<size_t>(source) * n + static_cast<size_t>(target)];
}

Kernel finish_kernel(ElementType type) {
  return visit_storage(type, []<class T>(std::type_identity<T>) -> Kernel {
    if constexpr (small_float<T>) return round_small<T>;
    else if constexpr (small_int<T>) return wrap<T>;
    else return nullptr;
  });
}

Kernel load_kernel(ElementType type) {
  return visit_storage(type, []<class T>(std::type_identity<T>) -> Kernel {
    if constexpr (small_float<T>) return widen<T>;
    else return nullptr;
  });
}

Kernel store_kernel(ElementType type) {
  return visit_storage(type, []<class T>(std::type_identity<T>) -> Kernel {
    if constexpr (small_float<T>) return narrow<T>;
    else return nullptr;
  });
}

}  // namespace hilo
