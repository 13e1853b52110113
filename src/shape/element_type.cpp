#include "shape/element_type.h"

#include <algorithm>
#include <array>

namespace hilo {
namespace {

struct Row {
  ElementType type;
  std::string_view text;
  int number, bits;
  int64_t storage;
  TypeKind kind;
};

constexpr Row rows[] = {
    {ElementType::Invalid, "invalid", 0, 0, 0, TypeKind::Special},
#define ELEMENT_TYPE(name, text, number, bits, storage, kind) \
  {ElementType::name, text, number, bits, sizeof(storage), TypeKind::kind},
#define SPECIAL_TYPE(name, text, number) {ElementType::name, text, number, 0, 0, TypeKind::Special},
#include "shape/element_types.def"
#undef ELEMENT_TYPE
#undef SPECIAL_TYPE
};

// Open addressing over the texts; 0, the row of Invalid, is a free slot.
constexpr size_t slot_of(std::string_view text) {
  return (text.size() + 5 * static_cast<unsigned char>(text.front()) +
          11 * static_cast<unsigned char>(text.back())) %
         128;
}
constexpr std::array<uint8_t, 128> by_text = [] {
  std::array<uint8_t, 128> out{};
  for (size_t row = 1; row < std::size(rows); ++row) {
    size_t slot = slot_of(rows[row].text);
    while (out[slot] != 0) slot = (slot + 1) % out.size();
    out[slot] = static_cast<uint8_t>(row);
  }
  return out;
}();

const Row& row_of(ElementType type) { return rows[static_cast<size_t>(type)]; }

}  // namespace

std::string_view text_of(ElementType type) { return row_of(type).text; }
int proto_number(ElementType type) { return row_of(type).number; }
int bits_of(ElementType type) { return row_of(type).bits; }
int64_t storage_bytes(ElementType type) { return row_of(type).storage; }
TypeKind kind_of(ElementType type) { return row_of(type).kind; }

std::optional<ElementType> element_type_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  for (size_t slot = slot_of(text); by_text[slot] != 0; slot = (slot + 1) % by_text.size())
    if (rows[by_text[slot]].text == text) return rows[by_text[slot]].type;
  return std::nullopt;
}

std::optional<ElementType> element_type_of_number(int proto_number) {
  for (const Row& row : rows)
    if (row.number == proto_number && row.type != ElementType::Invalid) return row.type;
  return std::nullopt;
}

ElementType real_type_of(ElementType complex) {
  if (complex == ElementType::C64) return ElementType::F32;
  return complex == ElementType::C128 ? ElementType::F64 : complex;
}

ElementType complex_type_of(ElementType real) {
  check(real == ElementType::F32 || real == ElementType::F64, "complex_type_of: not f32 or f64");
  return real == ElementType::F32 ? ElementType::C64 : ElementType::C128;
}

}  // namespace hilo
