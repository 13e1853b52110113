// Element types and their C++ storage.
#pragma once

#include <complex>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/base.h"

namespace hilo {

enum class ElementType : uint8_t {
  Invalid,
#define ELEMENT_TYPE(name, text, number, bits, storage, kind) name,
#define SPECIAL_TYPE(name, text, number) name,
#include "shape/element_types.def"
#undef ELEMENT_TYPE
#undef SPECIAL_TYPE
};
enum class TypeKind : uint8_t { Special, Boolean, Signed, Unsigned, Float, Complex };

std::string_view text_of(ElementType type);                         // "f32"
std::optional<ElementType> element_type_of(std::string_view text);  // "f32" -> F32
int proto_number(ElementType type);
std::optional<ElementType> element_type_of_number(int proto_number);
int bits_of(ElementType type);            // 0 for special types
int64_t storage_bytes(ElementType type);  // of one element in a Literal: at least 1; 0 for special
TypeKind kind_of(ElementType type);

inline bool is_array(ElementType type) { return kind_of(type) != TypeKind::Special; }
inline bool is_floating(ElementType type) { return kind_of(type) == TypeKind::Float; }
inline bool is_complex(ElementType type) { return kind_of(type) == TypeKind::Complex; }
inline bool is_signed(ElementType type) { return kind_of(type) == TypeKind::Signed; }
inline bool is_unsigned(ElementType type) { return kind_of(type) == TypeKind::Unsigned; }
inline bool is_integral(ElementType type) { return is_signed(type) || is_unsigned(type); }
ElementType real_type_of(ElementType complex);  // C64 -> F32, C128 -> F64, others unchanged
ElementType complex_type_of(ElementType real);  // F32 -> C64, F64 -> C128; check() otherwise

// The storage type of an ElementType, and back: Storage<ElementType::F32> is float.
template <ElementType>
struct StorageOf;
template <class T>
struct ElementTypeOf;
#define ELEMENT_TYPE(name, text, number, bits, storage, kind) \
  template <>                                                 \
  struct StorageOf<ElementType::name> {                       \
    using type = storage;                                     \
  };                                                          \
  template <>                                                 \
  struct ElementTypeOf<storage> {                             \
    static constexpr ElementType value = ElementType::name;   \
  };
#define SPECIAL_TYPE(name, text, number)
#include "shape/element_types.def"
#undef ELEMENT_TYPE
#undef SPECIAL_TYPE
template <ElementType type>
using Storage = typename StorageOf<type>::type;
template <class T>
inline constexpr ElementType element_type = ElementTypeOf<T>::value;

// Calls body(std::type_identity<T>()) with the storage type of `type`. Special types are our
// mistake.
template <class Body>
decltype(auto) visit_storage(ElementType type, Body&& body) {
  switch (type) {
#define ELEMENT_TYPE(name, text, number, bits, storage, kind) \
  case ElementType::name: return body(std::type_identity<storage>());
#define SPECIAL_TYPE(name, text, number) case ElementType::name:
#include "shape/element_types.def"
#undef ELEMENT_TYPE
#undef SPECIAL_TYPE
    case ElementType::Invalid: break;
  }
  fail_check("visit_storage: not an array type", std::source_location::current());
}

}  // namespace hilo
