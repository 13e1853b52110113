// What can be asked of a map: its kind, strides, boxes, and how often an element is needed.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/index_map/expression.h"

namespace hilo {

using Kind = IndexTerm::Kind;

namespace {

// The dimension that the expression is, and no more.
std::optional<int64_t> only_dim(const IndexExpression& expression) {
  if (expression.constant != 0 || expression.terms.size() != 1) return std::nullopt;
  const IndexTerm& term = expression.terms[0];
  if (term.kind != Kind::Result || term.coefficient != 1) return std::nullopt;
  return term.number;
}

// Nothing but an index that result dimensions alone decide.
bool is_plain(const IndexMap& map) {
  return !map.needs_nothing && map.range_sizes.empty() && map.symbols.empty() &&
         map.guards.empty() && map.is_exact && map.result_dims.size() == map.operand_dims.size();
}

bool is_zero(const IndexExpression& expression) {
  return expression.terms.empty() && expression.constant == 0;
}

// The bounds of a variable from one guard, by what the other terms can be.
void narrow_by(const IndexGuard& guard, IndexBounds& bounds) {
  for (const IndexTerm& term : guard.expression.terms) {
    if (!is_variable(term)) continue;
    if (is_nested(guard.expression, term.kind, term.number)) continue;
    const IndexExpression others = guard.expression - IndexExpression{0, {term}};
    IndexInterval product = guard.within + interval_of(others, bounds) * -1;
    if (term.coefficient < 0) product = product * -1;
    const int64_t factor = std::abs(term.coefficient);
    const IndexInterval allowed{ceiling_of(product.lower, factor), floor_of(product.upper, factor)};
    IndexInterval& bound = bounds.of(term.kind, term.number);
    bound = intersection(bound, allowed);
    if (bound.is_empty()) return;
  }
}

// False: no guard can hold there.
bool narrow(const IndexMap& map, IndexBounds& bounds) {
  const auto has_empty = [](const auto& all) {
    return std::ranges::any_of(all, &IndexInterval::is_empty);
  };
  for (int round = 0; round < 2; ++round)
    for (const IndexGuard& guard : map.guards) {
      if (intersection(interval_of(guard.expression, bounds), guard.within).is_empty())
        return false;
      narrow_by(guard, bounds);
      if (has_empty(bounds.results) || has_empty(bounds.ranges) || has_empty(bounds.symbols))
        return false;
    }
  return true;
}

double count_of(const IndexInterval& interval) {
  return static_cast<double>(interval.upper) - static_cast<double>(interval.lower) + 1;
}

// How many numbers the sum takes: no more than its terms have combinations, nor than its interval
// has multiples of what divides all coefficients.
double count_values(const IndexExpression& expression, const IndexBounds& bounds) {
  double combinations = 1;
  int64_t step = 0;
  const auto steps_in = [](const IndexInterval& interval, int64_t step) {
    return std::floor((count_of(interval) - 1) / std::abs(static_cast<double>(step))) + 1;
  };
  for (const IndexTerm& term : expression.terms) {
    combinations *= steps_in(interval_of(IndexExpression{0, {term}}, bounds), term.coefficient);
    step = std::gcd(step, term.coefficient);
  }
  if (step == 0) return 1;
  return std::min(combinations, steps_in(interval_of(expression, bounds), step));
}

}  // namespace

bool is_permutation(const IndexMap& map) {
  if (!is_plain(map)) return false;
  std::vector<bool> taken(map.result_dims.size(), false);
  for (size_t d = 0; d < map.index.size(); ++d) {
    if (map.operand_dims[d] == 1 && is_zero(map.index[d])) continue;
    const auto dim = only_dim(map.index[d]);
    if (!dim || taken[*dim] || map.result_dims[*dim] != map.operand_dims[d]) return false;
    taken[*dim] = true;
  }
  for (size_t k = 0; k < taken.size(); ++k)
    if (!taken[k] && map.result_dims[k] != 1) return false;
  return true;
}

bool is_identity(const IndexMap& map) {
  if (!is_plain(map) || map.result_dims != map.operand_dims) return false;
  for (size_t d = 0; d < map.index.size(); ++d)
    if (map.operand_dims[d] != 1 && only_dim(map.index[d]) != static_cast<int64_t>(d)) return false;
  return true;
}

std::optional<int64_t> stride(const IndexMap& map, Kind kind, int64_t number,
                              std::span<const int64_t> operand_strides) {
  if (map.needs_nothing) return std::nullopt;
  const IndexExpression position =
      canonical(linear_index(map.index, operand_strides), IndexBounds(map));
  if (is_nested(position, kind, number)) return std::nullopt;
  return coefficient_of(position, kind, number);
}

std::vector<IndexInterval> whole_box(std::span<const int64_t> dims) {
  std::vector<IndexInterval> out;
  for (int64_t size : dims) out.push_back({0, size - 1});
  return out;
}

std::vector<IndexInterval> footprint(const IndexMap& map, std::span<const IndexInterval> box) {
  check(box.size() == map.result_dims.size(), "footprint: the box has another rank");
  const std::vector<IndexInterval> nothing(map.operand_dims.size());
  if (map.needs_nothing || std::ranges::any_of(box, &IndexInterval::is_empty)) return nothing;
  IndexBounds bounds(map);
  for (size_t d = 0; d < box.size(); ++d)
    bounds.results[d] = intersection(bounds.results[d], box[d]);
  if (std::ranges::any_of(bounds.results, &IndexInterval::is_empty) || !narrow(map, bounds))
    return nothing;
  std::vector<IndexInterval> out;
  for (size_t d = 0; d < map.index.size(); ++d) {
    IndexInterval interval =
        intersection(interval_of(map.index[d], bounds), {0, map.operand_dims[d] - 1});
    if (interval.is_empty()) return nothing;
    out.push_back(interval);
  }
  return out;
}

double reuse(const IndexMap& map) {
  if (map.needs_nothing) return 0;
  IndexBounds bounds(map);
  if (!narrow(map, bounds)) return 0;
  double uses = 1, elements = 1;
  for (const IndexInterval& interval : bounds.results) uses *= count_of(interval);
  for (const IndexInterval& interval : bounds.ranges) uses *= count_of(interval);
  for (const IndexGuard& guard : map.guards)
    for (const IndexTerm& term : guard.expression.terms)
      if (term.kind == Kind::Remainder && guard.within.lower == guard.within.upper)
        uses /= static_cast<double>(term.number);
  for (size_t d = 0; d < map.index.size(); ++d)
    elements *=
        std::min(static_cast<double>(map.operand_dims[d]), count_values(map.index[d], bounds));
  return std::max(1.0, uses / elements);
}

}  // namespace hilo
