#include "pass/contained_types.h"

namespace hilo {

FloatRange float_range(ElementType type) {
  static constexpr struct {
    ElementType type;
    FloatRange range;
  } floats[] = {{ElementType::F8E5M2, {3, 5}}, {ElementType::F16, {11, 5}},
                {ElementType::BF16, {8, 8}},   {ElementType::F32, {24, 8}},
                {ElementType::F64, {53, 11}},  {ElementType::F8E4M3FN, {4, 4}},
                {ElementType::F8E4M3, {4, 4}}, {ElementType::F8E3M4, {5, 3}}};
  for (const auto& one : floats)
    if (one.type == type) return one.range;
  return {};
}

bool is_contained(ElementType from, ElementType to) {
  if (from == to) return true;
  const bool from_integer = is_integral(from) || from == ElementType::Pred;
  const int magnitude = from == ElementType::Pred ? 1 : bits_of(from) - is_signed(from);
  if (is_integral(to) && from_integer)
    return magnitude <= bits_of(to) - is_signed(to) && (is_signed(to) || !is_signed(from));
  if (!is_floating(to)) return false;
  const FloatRange in = float_range(from), out = float_range(to);
  if (from_integer) return out.exponent_bits >= 8 && magnitude <= out.digits;
  // Formats with another meaning of their top exponents lose by going to one of the same width.
  return in.digits > 0 && in.digits <= out.digits && in.exponent_bits <= out.exponent_bits &&
         bits_of(from) < bits_of(to) && bits_of(to) >= 16;
}

}  // namespace hilo
