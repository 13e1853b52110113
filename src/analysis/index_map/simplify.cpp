// Canonical form of a map: expressions, then guards, then the variables that are left.
#include <algorithm>
#include <numeric>

#include "analysis/index_map/expression.h"

namespace hilo {
namespace {

using Kind = IndexTerm::Kind;

void make_empty(IndexMap& map) {
  map.range_sizes.clear(), map.symbols.clear(), map.index.clear(), map.guards.clear();
  map.combines.clear();
  map.needs_nothing = true, map.is_exact = true;
}

// The guard without a constant and common factors, its first coefficient positive. The interval of
// one that always holds is all that the expression takes; of one that never does it is empty.
void normalize(IndexGuard& guard, const IndexBounds& bounds) {
  guard.expression = canonical(guard.expression, bounds);
  IndexInterval& within = guard.within;
  const int64_t moved = saturating_multiply(guard.expression.constant, -1);
  within = within + IndexInterval{moved, moved};
  guard.expression.constant = 0;
  int64_t factor = 0;
  for (const IndexTerm& term : guard.expression.terms) factor = std::gcd(factor, term.coefficient);
  if (factor == 0) return;
  within.lower = ceiling_of(within.lower, factor);
  within.upper = floor_of(within.upper, factor);
  if (guard.expression.terms[0].coefficient < 0) within = within * -1;
  const int64_t sign = guard.expression.terms[0].coefficient < 0 ? -1 : 1;
  for (IndexTerm& term : guard.expression.terms) term.coefficient /= sign * factor;
  within = intersection(within, interval_of(guard.expression, bounds));
}

// Normal guards in order, each expression once. False: some guard never holds.
bool sort_guards(IndexMap& map) {
  if (map.guards.empty()) return true;
  const IndexBounds bounds(map);
  for (IndexGuard& guard : map.guards) {
    normalize(guard, bounds);
    if (guard.expression.terms.empty() ? guard.within.lower > 0 || guard.within.upper < 0
                                       : guard.within.is_empty())
      return false;
  }
  std::erase_if(map.guards, [&](const IndexGuard& guard) {
    return guard.expression.terms.empty() || guard.within == interval_of(guard.expression, bounds);
  });
  std::ranges::sort(map.guards, [](const IndexGuard& a, const IndexGuard& b) {
    return compare(a.expression, b.expression) < 0;
  });
  for (size_t i = 1; i < map.guards.size();) {
    IndexGuard& before = map.guards[i - 1];
    if (before.expression != map.guards[i].expression) {
      ++i;
      continue;
    }
    before.within = intersection(before.within, map.guards[i].within);
    if (before.within.is_empty()) return false;
    map.guards.erase(map.guards.begin() + static_cast<int64_t>(i));
  }
  return true;
}

void replace_variables(IndexMap& map, const ReplaceVariable& replace) {
  for_each_expression(
      map, [&](IndexExpression& expression) { expression = substitute(expression, replace); });
}

void replace_range(IndexMap& map, int64_t range, const IndexExpression& by) {
  replace_variables(map, [&](Kind kind, int64_t number) {
    return kind == Kind::Range && number == range ? by
                                                  : IndexExpression{0, {{kind, number, 1, {}}}};
  });
}

// A guard that bounds one range variable alone becomes its size.
bool narrow_ranges(IndexMap& map) {
  for (size_t g = 0; g < map.guards.size(); ++g) {
    const auto& [expression, within] = map.guards[g];
    if (expression.terms.size() != 1 || expression.terms[0].kind != Kind::Range) continue;
    const int64_t range = expression.terms[0].number;
    const IndexInterval kept = within;
    map.guards.erase(map.guards.begin() + static_cast<int64_t>(g));
    map.range_sizes[range] = kept.upper - kept.lower + 1;
    replace_range(map, range, range_index(range) + kept.lower);
    return true;
  }
  return false;
}

// A guard that says what a range variable is puts that in its place.
bool solve_ranges(IndexMap& map) {
  for (size_t g = 0; g < map.guards.size(); ++g) {
    const auto [expression, within] = map.guards[g];
    if (within.lower != within.upper) continue;
    for (const IndexTerm& term : expression.terms) {
      if (term.kind != Kind::Range || std::abs(term.coefficient) != 1 ||
          is_nested(expression, Kind::Range, term.number))
        continue;
      const IndexExpression others = expression - IndexExpression{0, {term}};
      const IndexExpression value = (others * -1 + within.lower) * term.coefficient;
      map.guards[g] = {value, {0, map.range_sizes[term.number] - 1}};
      replace_range(map, term.number, value);
      map.range_sizes[term.number] = 1;
      return true;
    }
  }
  return false;
}

// Whether in all expressions `major` stands as size(minor) times the minor one does.
bool are_digits(IndexMap& map, int64_t major, int64_t minor) {
  bool out = true;
  const std::function<void(const IndexExpression&)> look = [&](const IndexExpression& expression) {
    out &=
        coefficient_of(expression, Kind::Range, major) ==
        saturating_multiply(coefficient_of(expression, Kind::Range, minor), map.range_sizes[minor]);
    for (const IndexTerm& term : expression.terms) look(term.inner);
  };
  for_each_expression(map, look);
  return out;
}

// Two ranges that are digits of one number become that number.
bool join_ranges(IndexMap& map) {
  const auto count = static_cast<int64_t>(map.range_sizes.size());
  for (int64_t major = 0; major < count; ++major)
    for (int64_t minor = 0; minor < count; ++minor) {
      if (major == minor || map.combines[major] != map.combines[minor] ||
          !mentions(map, Kind::Range, major) || !are_digits(map, major, minor))
        continue;
      map.range_sizes[minor] = saturating_multiply(map.range_sizes[major], map.range_sizes[minor]);
      replace_range(map, major, {});
      map.range_sizes[major] = 1;
      return true;
    }
  return false;
}

void canonicalize(IndexMap& map) {
  const IndexBounds bounds(map);
  for_each_expression(
      map, [&](IndexExpression& expression) { expression = canonical(expression, bounds); });
}

// The variables of a kind in the order in which they first stand in the map.
void list_variables(const IndexExpression& expression, Kind kind, Dims& found) {
  for (const IndexTerm& term : expression.terms) {
    if (term.kind == kind && std::ranges::count(found, term.number) == 0)
      found.push_back(term.number);
    list_variables(term.inner, kind, found);
  }
}

// The symbol behind those that its own index needs; one like it stands for it.
void keep_symbol(const IndexMap& map, int64_t symbol, std::vector<IndexSymbol>& kept,
                 Dims& number_of) {
  if (number_of[symbol] >= 0) return;
  IndexSymbol renumbered = map.symbols[symbol];
  for (IndexExpression& expression : renumbered.index) {
    Dims needed;
    list_variables(expression, Kind::Symbol, needed);
    for (int64_t other : needed) keep_symbol(map, other, kept, number_of);
    expression = substitute(expression, [&](Kind kind, int64_t number) {
      return kind == Kind::Symbol ? symbol_index(number_of[number])
                                  : IndexExpression{0, {{kind, number, 1, {}}}};
    });
  }
  const auto same = std::ranges::find(kept, renumbered);
  number_of[symbol] = same - kept.begin();
  if (same == kept.end()) kept.push_back(std::move(renumbered));
}

// Only the symbols that decide something are kept, in the order of their first use.
void renumber_symbols(IndexMap& map) {
  if (map.symbols.empty()) return;
  Dims symbols;
  for (const IndexExpression& e : map.index) list_variables(e, Kind::Symbol, symbols);
  for (const IndexGuard& guard : map.guards)
    list_variables(guard.expression, Kind::Symbol, symbols);
  // One that is not clamped says where nothing is needed, even where its number does not count.
  for (size_t s = 0; s < map.symbols.size(); ++s)
    if (!map.symbols[s].is_clamped && std::ranges::count(symbols, static_cast<int64_t>(s)) == 0)
      symbols.push_back(static_cast<int64_t>(s));
  std::vector<IndexSymbol> kept;
  Dims number_of(map.symbols.size(), -1);
  for (int64_t symbol : symbols) keep_symbol(map, symbol, kept, number_of);
  map.symbols.clear();
  replace_variables(map, [&](Kind kind, int64_t number) {
    return kind == Kind::Symbol ? symbol_index(number_of[number])
                                : IndexExpression{0, {{kind, number, 1, {}}}};
  });
  map.symbols = std::move(kept);
}

// The same of ranges.
void renumber_ranges(IndexMap& map) {
  if (map.range_sizes.empty()) return;
  Dims ranges, sizes;
  std::vector<bool> combines;
  for_each_expression(
      map, [&](IndexExpression& expression) { list_variables(expression, Kind::Range, ranges); });
  for (int64_t range : ranges) {
    sizes.push_back(map.range_sizes[range]);
    combines.push_back(map.combines[range]);
  }
  map.range_sizes = std::move(sizes), map.combines = std::move(combines);
  replace_variables(map, [&](Kind kind, int64_t number) {
    if (kind == Kind::Range) number = std::ranges::find(ranges, number) - ranges.begin();
    return IndexExpression{0, {{kind, number, 1, {}}}};
  });
}

bool has_zero(const Dims& dims) { return std::ranges::count(dims, 0) > 0; }

}  // namespace

void simplify(IndexMap& map) {
  if (map.needs_nothing) return make_empty(map);
  do {
    if (has_zero(map.result_dims) || has_zero(map.operand_dims) || has_zero(map.range_sizes))
      return make_empty(map);
    canonicalize(map);
    if (!sort_guards(map)) return make_empty(map);
  } while (narrow_ranges(map) || solve_ranges(map) || join_ranges(map));
  renumber_symbols(map);
  renumber_ranges(map);
  if (!sort_guards(map)) return make_empty(map);
}

}  // namespace hilo
