// compare and select.
#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

bool x_is_pred(const Match& match) { return match.shape('x').type == ElementType::Pred; }
bool p_is_pred(const Match& match) { return match.shape('p').type == ElementType::Pred; }
bool x_is_no_float(const Match& match) {
  const ElementType type = match.shape('x').type;
  return !is_floating(type) && !is_complex(type);
}

constexpr RewriteRule rules[] = {
    {"eq-self", IntegralOrPred, Bits, "eq(x, x)", "ones"},
    {"ne-self", IntegralOrPred, Bits, "ne(x, x)", "0"},
    {"ge-self", IntegralOrPred, Bits, "ge(x, x)", "ones"},
    {"le-self", IntegralOrPred, Bits, "le(x, x)", "ones"},
    {"gt-self", Real, Bits, "gt(x, x)", "0"},
    {"lt-self", Real, Bits, "lt(x, x)", "0"},
    {"eq-true", Pred, Bits, "eq(x, true)", "x"},
    {"eq-false", Pred, Bits, "eq(x, false)", "not(x)"},
    {"ne-true", Pred, Bits, "ne(x, true)", "not(x)"},
    {"ne-false", Pred, Bits, "ne(x, false)", "x"},
    {"ge-lowest", Integral, Bits, "ge(x, lowest)", "ones"},
    {"lt-lowest", Integral, Bits, "lt(x, lowest)", "0"},
    {"le-highest", Integral, Bits, "le(x, highest)", "ones"},
    {"gt-highest", Integral, Bits, "gt(x, highest)", "0"},
    {"gt-zero", Unsigned, Bits, "gt(x, c:0)", "ne(x, c)"},
    {"le-zero", Unsigned, Bits, "le(x, c:0)", "eq(x, c)"},
    {"lt-constant-left", Real, Bits, "lt(C, v)", "gt(v, C)"},
    {"le-constant-left", Real, Bits, "le(C, v)", "ge(v, C)"},
    {"gt-constant-left", Real, Bits, "gt(C, v)", "lt(v, C)"},
    {"ge-constant-left", Real, Bits, "ge(C, v)", "le(v, C)"},
    {"eq-add-constants", Integral, Bits, "eq(add(v, C), D)", "eq(v, subtract(D, C))"},
    {"ne-add-constants", Integral, Bits, "ne(add(v, C), D)", "ne(v, subtract(D, C))"},
    {"eq-difference", Integral, Bits, "eq(subtract!(x, y), 0)", "eq(x, y)"},
    {"ne-difference", Integral, Bits, "ne(subtract!(x, y), 0)", "ne(x, y)"},
    {"ne-zero-of-pred", Real, Bits, "ne(convert(x), 0)", "x", x_is_pred},
    {"eq-zero-of-pred", Real, Bits, "eq(convert(x), 0)", "not(x)", x_is_pred},
    {"eq-one-of-pred", Real, Bits, "eq(convert(x), 1)", "x", x_is_pred},
    {"not-eq", Pred, Bits, "not(eq!(x, y))", "ne(x, y)"},
    {"not-ne", Pred, Bits, "not(ne!(x, y))", "eq(x, y)"},
    {"not-lt", Pred, Bits, "not(lt!(x, y))", "ge(x, y)", x_is_no_float},
    {"not-le", Pred, Bits, "not(le!(x, y))", "gt(x, y)", x_is_no_float},
    {"not-gt", Pred, Bits, "not(gt!(x, y))", "le(x, y)", x_is_no_float},
    {"not-ge", Pred, Bits, "not(ge!(x, y))", "lt(x, y)", x_is_no_float},

    {"select-true", Any, Bits, "select(true, x, y)", "x"},
    {"select-false", Any, Bits, "select(false, x, y)", "y"},
    {"select-same", Any, Bits, "select(p, x, x)", "x"},
    {"select-true-or-false", Pred, Bits, "select(p, true, false)", "p"},
    {"select-false-or-true", Pred, Bits, "select(p, false, true)", "not(p)"},
    {"select-or-false", Pred, Bits, "select(p, x, false)", "and(p, x)"},
    {"select-true-or", Pred, Bits, "select(p, true, x)", "or(p, x)"},
    {"select-false-or", Pred, Bits, "select(p, false, x)", "and(not(p), x)"},
    {"select-or-true", Pred, Bits, "select(p, x, true)", "or(not(p), x)"},
    {"select-one-or-zero", Number, Bits, "select(p, 1, 0)", "convert(p)"},
    {"select-zero-or-one", Number, Bits, "select(p, 0, 1)", "convert(not(p))"},
    {"multiply-by-pred", Integral, Bits, "multiply(convert(p), x)", "select(p, x, 0)", p_is_pred},
    {"select-not", Any, Bits, "select(not(p), x, y)", "select(p, y, x)"},
    {"select-again-left", Any, Bits, "select(p, select(p, x, y), z)", "select(p, x, z)"},
    {"select-again-right", Any, Bits, "select(p, x, select(p, y, z))", "select(p, x, z)"},
    {"select-greater", Integral, Bits, "select(gt(x, y), x, y)", "maximum(x, y)"},
    {"select-at-least", Integral, Bits, "select(ge(x, y), x, y)", "maximum(x, y)"},
    {"select-less", Integral, Bits, "select(lt(x, y), x, y)", "minimum(x, y)"},
    {"select-at-most", Integral, Bits, "select(le(x, y), x, y)", "minimum(x, y)"},
    {"select-equal", IntegralOrPred, Bits, "select(eq(x, y), x, y)", "y"},
    {"select-unequal", IntegralOrPred, Bits, "select(ne(x, y), x, y)", "x"},
};

}  // namespace

RuleTable choice_rules() { return rules; }

}  // namespace hilo
