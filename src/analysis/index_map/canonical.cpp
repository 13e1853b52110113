// Canonical form of one expression. The laws, for integers and positive c:
//   (c x + y) floordiv c = x + y floordiv c
//   (g x + y) floordiv (g c) = x floordiv c, and
//   (g x + y) mod (g c) = g (x mod c) + y, where 0 <= y < g
//   (x floordiv a + y) floordiv c = (x + a y) floordiv (a c)
//   (x mod (a c)) floordiv c = (x floordiv c) mod a
//   c (x floordiv c) + x mod c = x
//   c ((x floordiv c) mod a) + x mod c = x mod (a c)
#include <algorithm>
#include <numeric>

#include "analysis/index_map/expression.h"

namespace hilo {

using Kind = IndexTerm::Kind;

IndexBounds::IndexBounds(const IndexMap& map) {
  for (int64_t size : map.result_dims) results.push_back({0, size - 1});
  for (int64_t size : map.range_sizes) ranges.push_back({0, size - 1});
  for (const IndexSymbol& symbol : map.symbols) symbols.push_back(symbol.within);
}

IndexInterval& IndexBounds::of(Kind kind, int64_t number) {
  auto& all = kind == Kind::Result ? results : kind == Kind::Range ? ranges : symbols;
  check(static_cast<size_t>(number) < all.size(), "an index map names a variable that it lacks");
  return all[number];
}

const IndexInterval& IndexBounds::of(Kind kind, int64_t number) const {
  return const_cast<IndexBounds*>(this)->of(kind, number);
}

IndexInterval operator+(const IndexInterval& a, const IndexInterval& b) {
  return {saturating_add(a.lower, b.lower), saturating_add(a.upper, b.upper)};
}

IndexInterval operator*(const IndexInterval& a, int64_t factor) {
  if (a.is_empty()) return a;
  const int64_t x = saturating_multiply(a.lower, factor), y = saturating_multiply(a.upper, factor);
  return {std::min(x, y), std::max(x, y)};
}

IndexInterval intersection(const IndexInterval& a, const IndexInterval& b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}

namespace {

IndexInterval interval_of(const IndexTerm& term, const IndexBounds& bounds) {
  if (is_variable(term)) return bounds.of(term.kind, term.number);
  const IndexInterval inner = hilo::interval_of(term.inner, bounds);
  const int64_t low = floor_of(inner.lower, term.number), high = floor_of(inner.upper, term.number);
  if (term.kind == Kind::Quotient) return {low, high};
  if (low != high) return {0, term.number - 1};
  const int64_t whole = saturating_multiply(low, term.number);
  return {inner.lower - whole, inner.upper - whole};
}

bool lies_within(const IndexExpression& expression, int64_t size, const IndexBounds& bounds) {
  const IndexInterval interval = interval_of(expression, bounds);
  return interval.lower >= 0 && interval.upper < size;
}

// expression = unit * whole + rest; `whole` takes the terms and the multiples in the constant.
struct Split {
  IndexExpression whole, rest;
};
Split split(const IndexExpression& expression, int64_t unit) {
  Split out;
  out.whole.constant = floor_of(expression.constant, unit);
  out.rest.constant = expression.constant - out.whole.constant * unit;
  for (IndexTerm term : expression.terms)
    if (term.coefficient % unit == 0) {
      term.coefficient /= unit;
      out.whole.terms.push_back(std::move(term));
    } else {
      out.rest.terms.push_back(std::move(term));
    }
  return out;
}

// The largest g > 1 that divides the divisor, of which the expression has a multiple and a rest
// below it; 1 where there is none.
int64_t find_unit(const IndexExpression& expression, int64_t divisor, const IndexBounds& bounds) {
  std::vector<int64_t> units;
  for (const IndexTerm& term : expression.terms)
    units.push_back(std::gcd(term.coefficient, divisor));
  std::ranges::sort(units, std::greater());
  for (int64_t unit : units)
    if (unit > 1 && lies_within(split(expression, unit).rest, unit, bounds)) return unit;
  return 1;
}

IndexExpression take_remainder(IndexExpression expression, int64_t divisor,
                               const IndexBounds& bounds);

// The one quotient term of coefficient 1, or null.
const IndexTerm* only_quotient(const IndexExpression& expression) {
  const IndexTerm* found = nullptr;
  for (const IndexTerm& term : expression.terms) {
    if (term.kind != Kind::Quotient || term.coefficient != 1) continue;
    if (found) return nullptr;
    found = &term;
  }
  return found;
}

IndexExpression take_quotient(const IndexExpression& expression, int64_t divisor,
                              const IndexBounds& bounds) {
  if (divisor == 1) return expression;
  auto [whole, rest] = split(expression, divisor);
  const IndexInterval interval = interval_of(rest, bounds);
  if (const int64_t low = floor_of(interval.lower, divisor);
      low == floor_of(interval.upper, divisor))
    return std::move(whole) + low;
  if (const int64_t unit = find_unit(rest, divisor, bounds); unit > 1)
    return std::move(whole) + take_quotient(split(rest, unit).whole, divisor / unit, bounds);
  if (const IndexTerm* inner = only_quotient(rest)) {
    const IndexExpression others = rest - IndexExpression{0, {*inner}};
    return std::move(whole) +
           take_quotient(canonical(inner->inner + others * inner->number, bounds),
                         saturating_multiply(divisor, inner->number), bounds);
  }
  if (rest.terms.size() == 1 && rest.constant == 0 && rest.terms[0].coefficient == 1 &&
      rest.terms[0].kind == Kind::Remainder && rest.terms[0].number % divisor == 0)
    return std::move(whole) + take_remainder(take_quotient(rest.terms[0].inner, divisor, bounds),
                                             rest.terms[0].number / divisor, bounds);
  return std::move(whole) + quotient(std::move(rest), divisor);
}

IndexExpression take_remainder(IndexExpression expression, int64_t divisor,
                               const IndexBounds& bounds) {
  if (divisor == 1) return {};
  IndexExpression rest = split(expression, divisor).rest;
  const IndexInterval interval = interval_of(rest, bounds);
  if (const int64_t low = floor_of(interval.lower, divisor);
      low == floor_of(interval.upper, divisor))
    return std::move(rest) - saturating_multiply(low, divisor);
  for (const IndexTerm& term : rest.terms)
    if (term.kind == Kind::Remainder &&
        saturating_multiply(term.coefficient, term.number) % divisor == 0)
      return take_remainder(
          canonical(rest - IndexExpression{0, {term}} + term.inner * term.coefficient, bounds),
          divisor, bounds);
  if (const int64_t unit = find_unit(rest, divisor, bounds); unit > 1) {
    Split parts = split(rest, unit);
    return take_remainder(std::move(parts.whole), divisor / unit, bounds) * unit + parts.rest;
  }
  return remainder(std::move(rest), divisor);
}

// Whether the sum holds all terms of `part`, with their coefficients.
bool holds(const IndexExpression& sum, const IndexExpression& part) {
  return std::ranges::all_of(
      part.terms, [&](const IndexTerm& term) { return std::ranges::count(sum.terms, term) > 0; });
}

// The divisor of the remainder term of this value and coefficient, or 0.
int64_t find_remainder(const IndexExpression& sum, const IndexExpression& value,
                       int64_t coefficient) {
  for (const IndexTerm& term : sum.terms)
    if (term.kind == Kind::Remainder && term.coefficient == coefficient && term.inner == value)
      return term.number;
  return 0;
}

// Joins a remainder with what else of its value the sum holds, by the last two laws.
bool join_remainder(IndexExpression& sum, const IndexBounds& bounds) {
  for (const IndexTerm& term : sum.terms) {
    if (term.kind != Kind::Remainder) continue;
    const IndexExpression whole = take_quotient(term.inner, term.number, bounds);
    const int64_t unit = saturating_multiply(term.coefficient, term.number);
    const IndexExpression others = whole * unit, rest = sum - IndexExpression{0, {term}};
    if (!others.terms.empty() && holds(sum, others)) {
      sum = rest - others + term.inner * term.coefficient;
      return true;
    }
    if (const int64_t divisor = find_remainder(sum, whole, unit); divisor > 0) {
      sum = rest - remainder(whole, divisor) * unit +
            take_remainder(term.inner, saturating_multiply(term.number, divisor), bounds) *
                term.coefficient;
      return true;
    }
  }
  return false;
}

}  // namespace

IndexInterval interval_of(const IndexExpression& expression, const IndexBounds& bounds) {
  IndexInterval out{expression.constant, expression.constant};
  for (const IndexTerm& term : expression.terms)
    out = out + interval_of(term, bounds) * term.coefficient;
  return out;
}

IndexExpression canonical(const IndexExpression& expression, const IndexBounds& bounds) {
  IndexExpression out = constant_index(expression.constant);
  for (const IndexTerm& term : expression.terms) {
    IndexExpression value;
    if (is_variable(term)) {
      const IndexInterval& range = bounds.of(term.kind, term.number);
      value = range.lower == range.upper ? constant_index(range.lower)
                                         : IndexExpression{0, {{term.kind, term.number, 1, {}}}};
    } else if (term.kind == Kind::Quotient) {
      value = take_quotient(canonical(term.inner, bounds), term.number, bounds);
    } else {
      value = take_remainder(canonical(term.inner, bounds), term.number, bounds);
    }
    out = std::move(out) + value * term.coefficient;
  }
  while (join_remainder(out, bounds)) {
  }
  return out;
}

}  // namespace hilo
