#include "eval/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace hilo {
namespace {

// Elements pass through one of four wide types, a block at a time.
constexpr int64_t block = 512;
using Complex = std::complex<double>;
enum class Stage : uint8_t { Float, Signed, Unsigned, Complex };
union Staged {
  double real[block];
  int64_t integer[block];
  uint64_t natural[block];
  double parts[2 * block];
};

Stage stage_of(ElementType type) {
  if (is_complex(type)) return Stage::Complex;
  if (is_floating(type)) return Stage::Float;
  return is_signed(type) ? Stage::Signed : Stage::Unsigned;
}

template <class T>
constexpr bool is_complex_type = requires(T z) { z.imag(); };

void load(ElementType type, const void* in, Staged& to, int64_t n) {
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    const T* from = static_cast<const T*>(in);
    if constexpr (is_complex_type<T>) {
      for (int64_t i = 0; i < n; ++i)
        to.parts[2 * i] = from[i].real(), to.parts[2 * i + 1] = from[i].imag();
    } else if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) {
      for (int64_t i = 0; i < n; ++i) to.natural[i] = from[i];
    } else if constexpr (std::is_integral_v<T>) {
      for (int64_t i = 0; i < n; ++i) to.integer[i] = from[i];
    } else if constexpr (requires(T x) { x.value; }) {  // sub-byte integers
      for (int64_t i = 0; i < n; ++i) to.integer[i] = static_cast<int>(from[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) to.real[i] = from[i];
    }
  });
}

// Beyond 2^53 the bits that a double cannot hold are gathered into one that it can, so that a
// further rounding to at most 24 bits is the rounding of the integer.
template <class I>
double sticky(I value) {
  const bool large = value > I(1) << 53 || (std::is_signed_v<I> && value < -(I(1) << 53));
  if (!large) return static_cast<double>(value);
  const I low = value & I(0xfff);
  return static_cast<double>(static_cast<I>((value & ~I(0xfff)) | (low != 0 ? I(0x1000) : I(0))));
}

template <class T>
T saturate(double value) {
  if (value != value) return T(0);
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= low) return std::numeric_limits<T>::min();
  if (value >= high) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <class T, int Bits = std::is_same_v<T, S1> || std::is_same_v<T, U1>   ? 1
                              : std::is_same_v<T, S2> || std::is_same_v<T, U2> ? 2
                                                                               : 4>
T saturate_small(double value) {
  constexpr bool has_sign = std::is_same_v<T, S1> || std::is_same_v<T, S2> || std::is_same_v<T, S4>;
  constexpr int low = has_sign ? -(1 << (Bits - 1)) : 0;
  constexpr int high = has_sign ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  if (value != value) return T(0);
  return T(static_cast<int64_t>(std::clamp<double>(value, low, high)));
}

template <class T>
T from_real(double value) {
  if constexpr (is_complex_type<T>) return T(static_cast<typename T::value_type>(value));
  else if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_integral_v<T>) return saturate<T>(value);
  else if constexpr (requires(T x) { x.value; }) return saturate_small<T>(value);
  else return T(value);
}
template <class T, class I>
T from_integer(I value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else if constexpr (is_complex_type<T>) return T(static_cast<typename T::value_type>(value));
  else if constexpr (requires(T x) { x.value; }) return T(static_cast<int64_t>(value));
  else return T(sticky(value));
}

void store(Stage stage, const Staged& from, ElementType type, void* out, int64_t n) {
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    T* to = static_cast<T*>(out);
    if (stage == Stage::Float) {
      for (int64_t i = 0; i < n; ++i) to[i] = from_real<T>(from.real[i]);
    } else if (stage == Stage::Signed) {
      for (int64_t i = 0; i < n; ++i) to[i] = from_integer<T>(from.integer[i]);
    } else if (stage == Stage::Unsigned) {
      for (int64_t i = 0; i < n; ++i) to[i] = from_integer<T>(from.natural[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (is_complex_type<T>) {
          using Part = typename T::value_type;
          to[i] = T(static_cast<Part>(from.parts[2 * i]), static_cast<Part>(from.parts[2 * i + 1]));
        } else {
          to[i] = from_real<T>(from.parts[2 * i]);
        }
      }
    }
  });
}

// Conversions that run often, in one loop that vectorises.
template <class From, class To>
void direct(const void* in, void* out, int64_t n) {
  const From* from = static_cast<const From*>(in);
  To* to = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = To(static_cast<float>(from[i]));
}
template <class From, class To>
void direct_cast(const void* in, void* out, int64_t n) {
  const From* from = static_cast<const From*>(in);
  To* to = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}
struct Direct {
  ElementType from, to;
  void (*loop)(const void*, void*, int64_t);
};
constexpr Direct directs[] = {
    {ElementType::F32, ElementType::BF16, direct<float, BF16>},
    {ElementType::BF16, ElementType::F32, direct<BF16, float>},
    {ElementType::F32, ElementType::F16, direct<float, F16>},
    {ElementType::F16, ElementType::F32, direct<F16, float>},
    {ElementType::F32, ElementType::F64, direct_cast<float, double>},
    {ElementType::F64, ElementType::F32, direct_cast<double, float>},
    {ElementType::S32, ElementType::F32, direct_cast<int32_t, float>},
    {ElementType::Pred, ElementType::F32, direct_cast<bool, float>},
    {ElementType::S32, ElementType::S64, direct_cast<int32_t, int64_t>},
    {ElementType::S32, ElementType::U32, direct_cast<int32_t, uint32_t>},
};

}  // namespace

void convert_lanes(ElementType from, const void* in, ElementType to, void* out, int64_t n) {
  if (from == to) {
    std::memcpy(out, in, n * storage_bytes(from));
    return;
  }
  for (const Direct& direct : directs)
    if (direct.from == from && direct.to == to) return direct.loop(in, out, n);
  Stage stage = stage_of(from);
  const bool sub_byte = bits_of(from) < 8 && is_unsigned(from);
  if (sub_byte) stage = Stage::Signed;  // load() widens them to int64
  const std::byte* source = static_cast<const std::byte*>(in);
  std::byte* target = static_cast<std::byte*>(out);
  Staged staged;
  for (int64_t i = 0; i < n; i += block) {
    const int64_t count = std::min(block, n - i);
    load(from, source + i * storage_bytes(from), staged, count);
    store(stage, staged, to, target + i * storage_bytes(to), count);
  }
}

Literal converted(const Call& call, const Literal& literal, ElementType type) {
  if (literal.type() == type) return literal;
  Shape shape = literal.shape();
  shape.type = type;
  Literal out = call.make_held(shape);
  std::byte* to = out.mutable_raw().data();
  call.parallel(literal.count(), 1 << 16, [&](int64_t begin, int64_t end) {
    convert_lanes(literal.type(), literal.raw().data() + begin * storage_bytes(literal.type()),
                  type, to + begin * storage_bytes(type), end - begin);
  });
  for (int64_t i = 0; i < literal.shape().rank(); ++i) out.set_size(i, literal.size(i));
  return out;
}

}  // namespace hilo
