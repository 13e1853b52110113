// and, or, xor, not, shifts, maximum, minimum, clamp.
#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

constexpr RewriteRule rules[] = {
    {"and-self", IntegralOrPred, Bits, "and(x, x)", "x"},
    {"and-zero", IntegralOrPred, Bits, "and(x, c:0)", "c"},
    {"and-ones", IntegralOrPred, Bits, "and(x, ones)", "x"},
    {"and-not-self", IntegralOrPred, Bits, "and(x, not(x))", "0"},
    {"and-or-self", IntegralOrPred, Bits, "and(x, or(x, y))", "x"},
    {"and-again", IntegralOrPred, Bits, "and(a:and(x, y), y)", "a"},
    {"and-constants", IntegralOrPred, Bits, "and(and(v, C), D)", "and(v, and(C, D))"},
    {"and-nots", IntegralOrPred, Bits, "and(not!(x), not!(y))", "not(or(x, y))"},

    {"or-self", IntegralOrPred, Bits, "or(x, x)", "x"},
    {"or-zero", IntegralOrPred, Bits, "or(x, 0)", "x"},
    {"or-ones", IntegralOrPred, Bits, "or(x, c:ones)", "c"},
    {"or-not-self", IntegralOrPred, Bits, "or(x, not(x))", "ones"},
    {"or-and-self", IntegralOrPred, Bits, "or(x, and(x, y))", "x"},
    {"or-again", IntegralOrPred, Bits, "or(o:or(x, y), y)", "o"},
    {"or-constants", IntegralOrPred, Bits, "or(or(v, C), D)", "or(v, or(C, D))"},
    {"or-nots", IntegralOrPred, Bits, "or(not!(x), not!(y))", "not(and(x, y))"},

    {"xor-self", IntegralOrPred, Bits, "xor(x, x)", "0"},
    {"xor-zero", IntegralOrPred, Bits, "xor(x, 0)", "x"},
    {"xor-ones", IntegralOrPred, Bits, "xor(x, ones)", "not(x)"},
    {"xor-again", IntegralOrPred, Bits, "xor(xor(x, y), y)", "x"},
    {"xor-constants", IntegralOrPred, Bits, "xor(xor(v, C), D)", "xor(v, xor(C, D))"},
    {"not-not", IntegralOrPred, Bits, "not(not(x))", "x"},

    {"shift-left-zero", Integral, Bits, "shift-left(x, 0)", "x"},
    {"shift-left-of-zero", Integral, Bits, "shift-left(c:0, x)", "c"},
    {"shift-right-zero", Integral, Bits, "shift-right-logical(x, 0)", "x"},
    {"shift-right-of-zero", Integral, Bits, "shift-right-logical(c:0, x)", "c"},
    {"shift-right-arithmetic-zero", Integral, Bits, "shift-right-arithmetic(x, 0)", "x"},

    {"maximum-self", Real | Pred, Bits, "maximum(x, x)", "x"},
    {"maximum-lowest", Real, Bits, "maximum(x, lowest)", "x"},
    {"maximum-highest", Integral, Bits, "maximum(x, c:highest)", "c"},
    {"maximum-again", Real, Values, "maximum(m:maximum(x, y), y)", "m"},
    {"maximum-constants", Real, Values, "maximum(maximum(v, C), D)", "maximum(v, maximum(C, D))"},
    {"maximum-of-minimum", IntegralOrPred, Bits, "maximum(minimum(x, y), y)", "y"},
    {"maximum-of-pred", Pred, Bits, "maximum(x, y)", "or(x, y)"},

    {"minimum-self", Real | Pred, Bits, "minimum(x, x)", "x"},
    {"minimum-highest", Real, Bits, "minimum(x, highest)", "x"},
    {"minimum-lowest", Integral, Bits, "minimum(x, c:lowest)", "c"},
    {"minimum-again", Real, Values, "minimum(m:minimum(x, y), y)", "m"},
    {"minimum-constants", Real, Values, "minimum(minimum(v, C), D)", "minimum(v, minimum(C, D))"},
    {"minimum-of-maximum", IntegralOrPred, Bits, "minimum(maximum(x, y), y)", "y"},
    {"minimum-of-pred", Pred, Bits, "minimum(x, y)", "and(x, y)"},
    {"minimum-maximum-to-clamp", Real, Values, "minimum(maximum!(v, C), D)", "clamp(C, v, D)"},

    {"clamp-again", Real, Values, "clamp(l, c:clamp(l, x, h), h)", "c"},
    {"clamp-lowest-highest", Real, Bits, "clamp(lowest, x, highest)", "x"},
};

}  // namespace

RuleTable logic_rules() { return rules; }

}  // namespace hilo
