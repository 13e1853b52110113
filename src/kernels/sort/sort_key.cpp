#include "kernels/sort/sort_key.h"

#include <cstring>

namespace hilo {
namespace {

template <class U>
U load(const std::byte* from) {
  U out;
  std::memcpy(&out, from, sizeof(U));
  return out;
}

// What the keys of an array are made with: an element's bits are unsigned integers U.
template <class U>
struct Bits {
  static constexpr U sign = static_cast<U>(U(1) << (sizeof(U) * 8 - 1));
  bool is_float = false, is_signed = false;
  U infinity = 0;  // of floats

  static U magnitude(U bits) { return bits & static_cast<U>(~sign); }
  bool is_changed(const SortKey& key, U bits) const {
    return (bits == sign && key.zeros_are_equal) ||
           (magnitude(bits) > infinity && key.nans_are_positive);
  }
  U key_of(const SortKey& key, U bits) const {
    if (!is_float) return is_signed ? bits ^ sign : bits;
    if (magnitude(bits) == 0 && key.zeros_are_equal) bits = 0;
    if (magnitude(bits) > infinity && key.nans_are_positive) bits = infinity | 1;
    return static_cast<U>(bits & sign ? ~bits : bits | sign);
  }
  U bits_of_key(U key) const {
    if (!is_float) return is_signed ? key ^ sign : key;
    return static_cast<U>(key & sign ? key ^ sign : ~key);
  }
};

template <class U>
Bits<U> float_bits(int mantissa_bits) {
  const U exponent = static_cast<U>(Bits<U>::sign >> mantissa_bits) - 1;
  return {true, true, static_cast<U>(exponent << mantissa_bits)};
}

// Calls body(Bits<U>) for a type that has_key.
template <class Body>
void visit_bits(ElementType type, Body&& body) {
  if (type == ElementType::F64) return body(float_bits<uint64_t>(52));
  if (type == ElementType::F32) return body(float_bits<uint32_t>(23));
  if (type == ElementType::BF16) return body(float_bits<uint16_t>(7));
  if (type == ElementType::F16) return body(float_bits<uint16_t>(10));
  const bool signs = is_signed(type);
  if (storage_bytes(type) == 8) return body(Bits<uint64_t>{false, signs});
  if (storage_bytes(type) == 4) return body(Bits<uint32_t>{false, signs});
  if (storage_bytes(type) == 2) return body(Bits<uint16_t>{false, signs});
  body(Bits<uint8_t>{false, signs});  // narrower integers are extended to a byte
}

}  // namespace

bool has_sort_key(ElementType type) {
  switch (type) {
    case ElementType::Pred:
    case ElementType::F16:
    case ElementType::BF16:
    case ElementType::F32:
    case ElementType::F64: return true;
    default: return is_integral(type) && type != ElementType::Invalid;
  }
}

// body(i, element's bits) of each: a loop over neighbours is vector code.
template <class U, class Body>
void each_element(const std::byte* values, int64_t step, int64_t count, Body&& body) {
  if (step == 1)
    for (int64_t i = 0; i < count; ++i) body(i, load<U>(values + i * sizeof(U)));
  else
    for (int64_t i = 0; i < count; ++i) body(i, load<U>(values + i * step * sizeof(U)));
}

template <class Key>
void make_sort_keys(const SortKey& given, ElementType type, const std::byte* values, int64_t step,
                    int64_t count, Key* keys) {
  visit_bits(type, [&]<class U>(Bits<U> bits) {
    const SortKey key = given;  // a copy, which no store of a key can change
    const U flip = key.is_descending ? static_cast<U>(~U(0)) : U(0);
    each_element<U>(values, step, count, [&](int64_t i, U element) {
      keys[i] = static_cast<Key>(bits.key_of(key, element) ^ flip);
    });
  });
}

bool keys_are_exact(const SortKey& key, ElementType type, const std::byte* values, int64_t step,
                    int64_t count) {
  bool out = true;
  visit_bits(type, [&]<class U>(const Bits<U>& bits) {
    if (!bits.is_float || (!key.zeros_are_equal && !key.nans_are_positive)) return;
    unsigned changed = 0;
    each_element<U>(values, step, count,
                    [&](int64_t, U element) { changed |= bits.is_changed(key, element); });
    out = !changed;
  });
  return out;
}

template <class Key>
void elements_of_keys(const SortKey& key, ElementType type, const Key* keys, int64_t step,
                      int64_t count, std::byte* values) {
  visit_bits(type, [&]<class U>(const Bits<U>& bits) {
    const U flip = key.is_descending ? static_cast<U>(~U(0)) : U(0);
    const auto store = [&](int64_t i, std::byte* to) {
      const U element = bits.bits_of_key(static_cast<U>(keys[i]) ^ flip);
      std::memcpy(to, &element, sizeof(U));
    };
    if (step == 1)
      for (int64_t i = 0; i < count; ++i) store(i, values + i * sizeof(U));
    else
      for (int64_t i = 0; i < count; ++i) store(i, values + i * step * sizeof(U));
  });
}

#define HILO_KEYS(Key)                                                                           \
  template void make_sort_keys<Key>(const SortKey&, ElementType, const std::byte*, int64_t,      \
                                    int64_t, Key*);                                              \
  template void elements_of_keys<Key>(const SortKey&, ElementType, const Key*, int64_t, int64_t, \
                                      std::byte*);
HILO_KEYS(uint8_t)
HILO_KEYS(uint16_t)
HILO_KEYS(uint32_t)
HILO_KEYS(uint64_t)
#undef HILO_KEYS

}  // namespace hilo
