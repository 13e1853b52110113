// reduce-precision as arithmetic on the bits.
//   round to nearest even:  b' = (b + (half - 1) + lowest bit kept) & ~mask
//   exponents too large => infinity of the sign, too small => zero of the sign; NaN stays
// Formula: XLA's operation semantics; denormals of the narrower format become zero. Assumes
// nothing. Later passes may assume that no reduce-precision of f16, bf16, f32 or f64 is left. Where
// a back end has no function of that name.
#include "pass/expand/formula.h"

namespace hilo {
namespace {

struct Format {
  ElementType type, integer;
  int64_t exponent_bits, mantissa_bits;
};
constexpr Format formats[] = {{ElementType::F16, ElementType::U16, 5, 10},
                              {ElementType::BF16, ElementType::U16, 8, 7},
                              {ElementType::F32, ElementType::U32, 8, 23},
                              {ElementType::F64, ElementType::U64, 11, 52}};

class Rounding {
 public:
  Rounding(Formula& f, const Format& format, ReducePrecisionAttributes to)
      : f_(f), format_(format), to_(to), shape_(f.operand(0).shape()) {
    shape_.type = format.integer;
  }

  Term run() {
    const Term x = f_.operand(0);
    const Term bits = f_.bitcast_convert(x, format_.integer);
    Term rounded = round_mantissa(bits);
    if (to_.exponent_bits < format_.exponent_bits) rounded = limit_exponent(bits, rounded);
    const Term is_number = f_.compare(x, ComparisonDirection::Eq, x);  // NaN is not equal to itself
    return f_.select(is_number, f_.bitcast_convert(rounded, format_.type), x);
  }

 private:
  Term constant(uint64_t bits) { return f_.bits(shape_, bits); }
  uint64_t exponent_mask() const {
    return ((uint64_t{1} << format_.exponent_bits) - 1) << format_.mantissa_bits;
  }
  uint64_t sign_mask() const {
    return uint64_t{1} << (format_.exponent_bits + format_.mantissa_bits);
  }

  Term round_mantissa(Term bits) {
    const int64_t dropped = format_.mantissa_bits - to_.mantissa_bits;
    if (dropped <= 0) return bits;
    const uint64_t last = uint64_t{1} << dropped;
    const Term lowest = f_.apply(Op::ShiftRightLogical, bits & constant(last), constant(dropped));
    return (bits + lowest + constant(last / 2 - 1)) & constant(~(last - 1));
  }

  // The exponent is looked at after rounding, which may have raised it.
  Term limit_exponent(Term bits, Term rounded) {
    const uint64_t bias = (uint64_t{1} << (format_.exponent_bits - 1)) - 1;
    const uint64_t reduced = (uint64_t{1} << (to_.exponent_bits - 1)) - 1;
    const Term sign = bits & constant(sign_mask());
    const Term exponent = rounded & constant(exponent_mask());
    const Term is_large = f_.compare(exponent, ComparisonDirection::Gt,
                                     constant((bias + reduced) << format_.mantissa_bits));
    const Term is_small = f_.compare(exponent, ComparisonDirection::Le,
                                     constant((bias - reduced) << format_.mantissa_bits));
    const Term limited = f_.select(is_large, sign | constant(exponent_mask()), rounded);
    return f_.select(is_small, sign, limited);
  }

  Formula& f_;
  const Format& format_;
  ReducePrecisionAttributes to_;
  Shape shape_;
};

Term expand_rounding(Formula& f) {
  const ElementType type = f.module().shape(f.root()).type;
  for (const Format& format : formats)
    if (format.type == type)
      return Rounding(f, format, f.module().attributes<ReducePrecisionAttributes>(f.root())).run();
  return {};
}

}  // namespace

Result<bool> expand_reduce_precisions(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::ReducePrecision, expand_rounding);
}

}  // namespace hilo
