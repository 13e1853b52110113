// Comparisons of floats in total order as comparisons of integers.
//   x <total y => key(x) < key(y), key(b) = b < 0 ? max - b : b of the bits b as a signed integer
// Total order: IEEE 754, 5.10. Assumes nothing. Later passes may assume that floats are compared in
// partial order only. Where a back end has no comparison of that kind.
#include "pass/expand/formula.h"

namespace hilo {
namespace {

ElementType integer_of(ElementType type) {
  const int bits = bits_of(type);
  return bits == 16 ? ElementType::S16 : bits == 32 ? ElementType::S32 : ElementType::S64;
}

// Negative numbers have their bits below the sign inverted.
Term key(Formula& f, Term x) {
  const ElementType integer = integer_of(x.shape().type);
  const Term bits = f.bitcast_convert(x, integer);
  const uint64_t all = ~uint64_t{0} >> (64 - bits_of(integer));
  const Term inverted = bits ^ f.bits(bits.shape(), all >> 1);
  const Term is_negative = f.compare(bits, ComparisonDirection::Lt, f.number(bits.shape(), 0));
  return f.select(is_negative, inverted, bits);
}

Term expand_total_order(Formula& f) {
  const auto a = f.module().attributes<CompareAttributes>(f.root());
  const ElementType type = f.operand(0).shape().type;
  const bool is_total = a.type == ComparisonType::TotalOrder || a.order == ComparisonOrder::Total;
  if (!is_total || !is_floating(type) || bits_of(type) < 16) return {};
  const Term x = key(f, f.operand(0)), y = key(f, f.operand(1));
  return f.compare(x, a.direction, y);
}

}  // namespace

Result<bool> expand_comparisons(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Compare, expand_total_order);
}

}  // namespace hilo
