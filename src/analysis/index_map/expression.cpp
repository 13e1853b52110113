#include "analysis/index_map/expression.h"

#include <algorithm>

namespace hilo {

using Kind = IndexTerm::Kind;

bool operator==(const IndexExpression& a, const IndexExpression& b) {
  return a.constant == b.constant && a.terms == b.terms;
}

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t out;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t out;
  if (!__builtin_mul_overflow(a, b, &out)) return out;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

int64_t floor_of(int64_t a, int64_t divisor) { return a / divisor - (a % divisor < 0 ? 1 : 0); }

int64_t ceiling_of(int64_t a, int64_t divisor) { return a / divisor + (a % divisor > 0 ? 1 : 0); }

std::strong_ordering compare_variables(const IndexTerm& a, const IndexTerm& b) {
  if (a.kind != b.kind) return a.kind <=> b.kind;
  if (a.number != b.number) return a.number <=> b.number;
  return compare(a.inner, b.inner);
}

std::strong_ordering compare(const IndexExpression& a, const IndexExpression& b) {
  const auto order = [](const IndexTerm& x, const IndexTerm& y) {
    const auto variables = compare_variables(x, y);
    return variables != 0 ? variables : x.coefficient <=> y.coefficient;
  };
  const auto terms = std::lexicographical_compare_three_way(a.terms.begin(), a.terms.end(),
                                                            b.terms.begin(), b.terms.end(), order);
  return terms != 0 ? terms : a.constant <=> b.constant;
}

namespace {

IndexExpression variable(Kind kind, int64_t number) { return {0, {{kind, number, 1, {}}}}; }

void add_term(IndexExpression& sum, IndexTerm term) {
  const auto at = std::ranges::lower_bound(
      sum.terms, term,
      [](const IndexTerm& a, const IndexTerm& b) { return compare_variables(a, b) < 0; });
  if (at == sum.terms.end() || compare_variables(*at, term) != 0) {
    if (term.coefficient != 0) sum.terms.insert(at, std::move(term));
    return;
  }
  at->coefficient = saturating_add(at->coefficient, term.coefficient);
  if (at->coefficient == 0) sum.terms.erase(at);
}

}  // namespace

IndexExpression constant_index(int64_t value) { return {value, {}}; }
IndexExpression result_index(int64_t dim) { return variable(Kind::Result, dim); }
IndexExpression range_index(int64_t number) { return variable(Kind::Range, number); }
IndexExpression symbol_index(int64_t number) { return variable(Kind::Symbol, number); }

IndexExpression quotient(IndexExpression inner, int64_t divisor) {
  if (divisor == 1) return inner;
  return {0, {{Kind::Quotient, divisor, 1, std::move(inner)}}};
}

IndexExpression remainder(IndexExpression inner, int64_t divisor) {
  if (divisor == 1) return {};
  return {0, {{Kind::Remainder, divisor, 1, std::move(inner)}}};
}

IndexExpression operator+(IndexExpression a, const IndexExpression& b) {
  a.constant = saturating_add(a.constant, b.constant);
  for (const IndexTerm& term : b.terms) add_term(a, term);
  return a;
}

IndexExpression operator-(IndexExpression a, const IndexExpression& b) {
  return std::move(a) + b * int64_t{-1};
}

IndexExpression operator*(IndexExpression a, int64_t factor) {
  if (factor == 0) return {};
  a.constant = saturating_multiply(a.constant, factor);
  for (IndexTerm& term : a.terms) term.coefficient = saturating_multiply(term.coefficient, factor);
  return a;
}

IndexExpression operator+(IndexExpression a, int64_t constant) {
  a.constant = saturating_add(a.constant, constant);
  return a;
}

IndexExpression operator-(IndexExpression a, int64_t constant) {
  return std::move(a) + saturating_multiply(constant, -1);
}

IndexExpression linear_index(std::span<const IndexExpression> index,
                             std::span<const int64_t> strides) {
  IndexExpression out;
  for (size_t d = 0; d < index.size(); ++d) out = std::move(out) + index[d] * strides[d];
  return out;
}

bool is_variable(const IndexTerm& term) {
  return term.kind != Kind::Quotient && term.kind != Kind::Remainder;
}

IndexExpression substitute(const IndexExpression& expression, const ReplaceVariable& replace) {
  IndexExpression out = constant_index(expression.constant);
  for (const IndexTerm& term : expression.terms) {
    if (is_variable(term)) {
      out = std::move(out) + replace(term.kind, term.number) * term.coefficient;
      continue;
    }
    IndexTerm replaced = term;
    replaced.inner = substitute(term.inner, replace);
    add_term(out, std::move(replaced));
  }
  return out;
}

bool mentions(const IndexExpression& expression, Kind kind, int64_t number) {
  return std::ranges::any_of(expression.terms, [&](const IndexTerm& term) {
    return is_variable(term) ? term.kind == kind && term.number == number
                             : mentions(term.inner, kind, number);
  });
}

int64_t coefficient_of(const IndexExpression& expression, Kind kind, int64_t number) {
  for (const IndexTerm& term : expression.terms)
    if (term.kind == kind && term.number == number && is_variable(term)) return term.coefficient;
  return 0;
}

bool is_nested(const IndexExpression& expression, Kind kind, int64_t number) {
  return std::ranges::any_of(expression.terms, [&](const IndexTerm& term) {
    return !is_variable(term) && mentions(term.inner, kind, number);
  });
}

std::optional<IndexDigit> index_digit(const IndexTerm& term, const IndexMap& map) {
  if (is_variable(term)) {
    if (term.kind == Kind::Symbol) return std::nullopt;
    const Dims& sizes = term.kind == Kind::Result ? map.result_dims : map.range_sizes;
    return IndexDigit{term.kind, term.number, 1, sizes[term.number], term.coefficient};
  }
  if (term.inner.terms.size() != 1 || term.inner.constant != 0 ||
      term.inner.terms[0].coefficient != 1)
    return std::nullopt;
  auto out = index_digit(term.inner.terms[0], map);
  if (!out) return std::nullopt;
  out->coefficient = term.coefficient;
  if (term.kind == Kind::Quotient) {
    out->size = ceiling_of(out->size, term.number);
    out->unit *= term.number;
  } else {
    if (out->size % term.number != 0) return std::nullopt;
    out->size = term.number;
  }
  return out;
}

void for_each_expression(IndexMap& map, const std::function<void(IndexExpression&)>& body) {
  for (IndexExpression& expression : map.index) body(expression);
  for (IndexGuard& guard : map.guards) body(guard.expression);
  for (IndexSymbol& symbol : map.symbols)
    for (IndexExpression& expression : symbol.index) body(expression);
}

bool mentions(const IndexMap& map, Kind kind, int64_t number) {
  const auto in = [&](const IndexExpression& expression) {
    return mentions(expression, kind, number);
  };
  return std::ranges::any_of(map.index, in) ||
         std::ranges::any_of(map.guards, in, &IndexGuard::expression) ||
         std::ranges::any_of(map.symbols, [&](const IndexSymbol& symbol) {
           return std::ranges::any_of(symbol.index, in);
         });
}

}  // namespace hilo
