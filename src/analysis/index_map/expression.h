// Arithmetic of index expressions. Private to `analysis`.
//
// Sums and products of expressions are written with operators; quotients and remainders are left as
// they are until `canonical` sees the bounds of their variables. Numbers beyond 63 bits saturate.
#pragma once

#include "analysis/index_map.h"

namespace hilo {

int64_t saturating_add(int64_t a, int64_t b);
int64_t saturating_multiply(int64_t a, int64_t b);
// The quotient rounded down or up; the divisor is positive.
int64_t floor_of(int64_t a, int64_t divisor);
int64_t ceiling_of(int64_t a, int64_t divisor);

IndexExpression constant_index(int64_t value);
IndexExpression result_index(int64_t dim);
IndexExpression range_index(int64_t number);
IndexExpression symbol_index(int64_t number);
IndexExpression quotient(IndexExpression inner, int64_t divisor);
IndexExpression remainder(IndexExpression inner, int64_t divisor);
IndexExpression operator+(IndexExpression a, const IndexExpression& b);
IndexExpression operator-(IndexExpression a, const IndexExpression& b);
IndexExpression operator*(IndexExpression a, int64_t factor);
IndexExpression operator+(IndexExpression a, int64_t constant);
IndexExpression operator-(IndexExpression a, int64_t constant);
// The sum of strides[d] * index[d].
IndexExpression linear_index(std::span<const IndexExpression> index,
                             std::span<const int64_t> strides);

// Bounds of variables: those of the map, or narrower ones.
struct IndexBounds {
  std::vector<IndexInterval> results, ranges, symbols;
  explicit IndexBounds(const IndexMap& map);
  IndexInterval& of(IndexTerm::Kind kind, int64_t number);
  const IndexInterval& of(IndexTerm::Kind kind, int64_t number) const;
};
IndexInterval operator+(const IndexInterval& a, const IndexInterval& b);
IndexInterval operator*(const IndexInterval& a, int64_t factor);
IndexInterval intersection(const IndexInterval& a, const IndexInterval& b);
// Numbers that the expression can take; no bound is empty.
IndexInterval interval_of(const IndexExpression& expression, const IndexBounds& bounds);

// The canonical form: quotients and remainders that the bounds decide are gone, and x floordiv c
// with x mod c is x again.
IndexExpression canonical(const IndexExpression& expression, const IndexBounds& bounds);
// An order of expressions and terms, coefficients last.
std::strong_ordering compare(const IndexExpression& a, const IndexExpression& b);
std::strong_ordering compare_variables(const IndexTerm& a, const IndexTerm& b);

bool is_variable(const IndexTerm& term);
// The expression with each variable replaced.
using ReplaceVariable = std::function<IndexExpression(IndexTerm::Kind kind, int64_t number)>;
IndexExpression substitute(const IndexExpression& expression, const ReplaceVariable& replace);
bool mentions(const IndexExpression& expression, IndexTerm::Kind kind, int64_t number);
// The coefficient of a variable outside of quotients and remainders.
int64_t coefficient_of(const IndexExpression& expression, IndexTerm::Kind kind, int64_t number);
// Whether a quotient or a remainder holds the variable.
bool is_nested(const IndexExpression& expression, IndexTerm::Kind kind, int64_t number);
// The digit (variable floordiv unit) mod size, `coefficient` times.
struct IndexDigit {
  IndexTerm::Kind kind;
  int64_t number, unit, size, coefficient;
};
// The term as a digit of its one variable, where it is one.
std::optional<IndexDigit> index_digit(const IndexTerm& term, const IndexMap& map);
// Every expression of a map: index, guards, and the indices of symbols.
void for_each_expression(IndexMap& map, const std::function<void(IndexExpression&)>& body);
bool mentions(const IndexMap& map, IndexTerm::Kind kind, int64_t number);

}  // namespace hilo
