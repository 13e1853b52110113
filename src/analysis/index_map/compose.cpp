// One map behind another, and the map back.
#include <algorithm>

#include "analysis/index_map/expression.h"

namespace hilo {

using Kind = IndexTerm::Kind;

IndexMap compose(const IndexMap& outer, const IndexMap& inner) {
  check(outer.operand_dims == inner.result_dims, "compose: the maps do not meet");
  IndexMap out = outer;
  out.operand_dims = inner.operand_dims;
  out.needs_nothing = outer.needs_nothing || inner.needs_nothing;
  if (out.needs_nothing) {
    simplify(out);
    return out;
  }
  const auto ranges = static_cast<int64_t>(outer.range_sizes.size());
  const auto symbols = static_cast<int64_t>(outer.symbols.size());
  const auto moved = [&](const IndexExpression& expression) {
    return substitute(expression, [&](Kind kind, int64_t number) {
      if (kind == Kind::Result) return outer.index[number];
      return kind == Kind::Range ? range_index(number + ranges) : symbol_index(number + symbols);
    });
  };
  out.range_sizes.insert(out.range_sizes.end(), inner.range_sizes.begin(), inner.range_sizes.end());
  for (IndexSymbol symbol : inner.symbols) {
    for (IndexExpression& expression : symbol.index) expression = moved(expression);
    out.symbols.push_back(std::move(symbol));
  }
  for (const IndexGuard& guard : inner.guards)
    out.guards.push_back({moved(guard.expression), guard.within});
  out.index.clear();
  for (const IndexExpression& expression : inner.index) out.index.push_back(moved(expression));
  out.is_exact = outer.is_exact && inner.is_exact;
  out.combines.insert(out.combines.end(), inner.combines.begin(), inner.combines.end());
  simplify(out);
  return out;
}

namespace {

// The index whose row-major position is `position`.
std::vector<IndexExpression> delinearized(const IndexExpression& position, const Dims& dims) {
  const Dims strides = row_major_strides(dims);
  std::vector<IndexExpression> out;
  for (size_t d = 0; d < dims.size(); ++d)
    out.push_back(remainder(quotient(position, strides[d]), dims[d]));
  return out;
}

std::vector<IndexExpression> plain_index(size_t rank) {
  std::vector<IndexExpression> out;
  for (size_t d = 0; d < rank; ++d) out.push_back(result_index(static_cast<int64_t>(d)));
  return out;
}

// The digits of one operand dimension, least first, where they are all of it.
std::optional<std::vector<IndexDigit>> digits_of(const IndexExpression& expression, int64_t size,
                                                 const IndexMap& map) {
  std::vector<IndexDigit> digits;
  for (const IndexTerm& term : expression.terms) {
    const auto digit = index_digit(term, map);
    if (!digit) return std::nullopt;
    digits.push_back(*digit);
  }
  std::ranges::sort(digits, {},
                    [](const IndexDigit& digit) { return std::abs(digit.coefficient); });
  int64_t base = 1, constant = 0;
  for (const IndexDigit& digit : digits) {
    if (std::abs(digit.coefficient) != base) return std::nullopt;
    if (digit.coefficient < 0) constant += base * (digit.size - 1);
    base *= digit.size;
  }
  if (base != size || constant != expression.constant) return std::nullopt;
  return digits;
}

// Result dimensions as sums of digits of the operand's index.
std::optional<IndexMap> inverse_by_digits(const IndexMap& map, IndexMap out) {
  std::vector<std::vector<IndexDigit>> taken(map.result_dims.size());
  out.index.assign(map.result_dims.size(), {});
  for (size_t d = 0; d < map.index.size(); ++d) {
    const auto digits = digits_of(map.index[d], map.operand_dims[d], map);
    if (!digits) return std::nullopt;
    int64_t base = 1;
    for (const IndexDigit& digit : *digits) {
      IndexExpression value =
          remainder(quotient(result_index(static_cast<int64_t>(d)), base), digit.size);
      if (digit.coefficient < 0) value = value * -1 + (digit.size - 1);
      out.index[digit.number] = out.index[digit.number] + value * digit.unit;
      taken[digit.number].push_back(digit);
      base *= digit.size;
    }
  }
  for (size_t k = 0; k < taken.size(); ++k) {
    std::ranges::sort(taken[k], {}, &IndexDigit::unit);
    int64_t unit = 1;
    for (const IndexDigit& digit : taken[k]) {
      if (digit.unit != unit) return std::nullopt;
      unit *= digit.size;
    }
    if (unit != map.result_dims[k]) return std::nullopt;
  }
  simplify(out);
  return out;
}

// Between all elements of both, without anything that data decide.
bool may_be_bijection(const IndexMap& map) {
  return !map.needs_nothing && map.range_sizes.empty() && map.symbols.empty() &&
         map.guards.empty() && map.is_exact &&
         element_count(map.result_dims) == element_count(map.operand_dims);
}

}  // namespace

bool keeps_order(const IndexMap& map) {
  if (!may_be_bijection(map)) return false;
  const IndexBounds bounds(map);
  const IndexExpression position =
      linear_index(plain_index(map.result_dims.size()), row_major_strides(map.result_dims));
  return canonical(linear_index(map.index, row_major_strides(map.operand_dims)), bounds) ==
         canonical(position, bounds);
}

std::optional<IndexMap> inverse(const IndexMap& map) {
  if (!may_be_bijection(map)) return std::nullopt;
  IndexMap out;
  out.result_dims = map.operand_dims, out.operand_dims = map.result_dims;
  if (!keeps_order(map)) return inverse_by_digits(map, std::move(out));
  const auto operand = plain_index(map.operand_dims.size());
  out.index =
      delinearized(linear_index(operand, row_major_strides(map.operand_dims)), map.result_dims);
  simplify(out);
  return out;
}

}  // namespace hilo
