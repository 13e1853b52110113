// A map at one element of the result.
#include <algorithm>

#include "analysis/index_map/expression.h"

namespace hilo {
namespace {

using Kind = IndexTerm::Kind;

struct Point {
  std::span<const int64_t> result;
  Dims ranges, symbols;

  int64_t value_of(const IndexExpression& expression) const {
    int64_t out = expression.constant;
    for (const IndexTerm& term : expression.terms) out += value_of(term) * term.coefficient;
    return out;
  }
  int64_t value_of(const IndexTerm& term) const {
    if (term.kind == Kind::Result) return result[term.number];
    if (term.kind == Kind::Range) return ranges[term.number];
    if (term.kind == Kind::Symbol) return symbols[term.number];
    const int64_t inner = value_of(term.inner), down = floor_of(inner, term.number);
    return term.kind == Kind::Quotient ? down : inner - down * term.number;
  }
};

// False: a symbol that is not clamped lies outside.
bool read_symbols(const IndexMap& map, const SymbolValue& value_of, Point& point) {
  for (const IndexSymbol& symbol : map.symbols) {
    Dims index;
    for (const IndexExpression& expression : symbol.index)
      index.push_back(point.value_of(expression));
    const int64_t value = value_of(symbol, index);
    const auto [lower, upper] = symbol.within;
    if (!symbol.is_clamped && (value < lower || value > upper)) return false;
    point.symbols.push_back(std::clamp(value, lower, upper));
  }
  return true;
}

}  // namespace

void for_each_operand_index(const IndexMap& map, std::span<const int64_t> result_index,
                            const SymbolValue& value_of,
                            const std::function<void(const Dims& operand_index)>& body) {
  if (map.needs_nothing) return;
  Point point{result_index, Dims(map.range_sizes.size(), 0), {}};
  Dims index(map.index.size());
  do {
    point.symbols.clear();
    if (!read_symbols(map, value_of, point)) continue;
    const bool holds = std::ranges::all_of(map.guards, [&](const IndexGuard& guard) {
      const int64_t value = point.value_of(guard.expression);
      return value >= guard.within.lower && value <= guard.within.upper;
    });
    if (!holds) continue;
    for (size_t d = 0; d < index.size(); ++d) index[d] = point.value_of(map.index[d]);
    body(index);
  } while (next_index(point.ranges, map.range_sizes));
}

}  // namespace hilo
