// What one dimension of an operand is, as the index expression says.
#include <algorithm>

#include "analysis/sharding_factors/factor_finder.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;
using VariableKind = IndexTerm::Kind;

// Without variables that have one number only.
IndexExpression without_fixed(const IndexExpression& expression, const IndexMap& map) {
  return substitute(expression, [&](VariableKind kind, int64_t number) {
    if (kind == VariableKind::Range && map.range_sizes[number] == 1) return constant_index(0);
    if (kind == VariableKind::Symbol &&
        map.symbols[number].within.lower == map.symbols[number].within.upper)
      return constant_index(map.symbols[number].within.lower);
    return IndexExpression{0, {{kind, number, 1, {}}}};
  });
}

// Inside of a quotient that is all of the expression.
const IndexExpression& inside(const IndexExpression& expression) {
  const bool is_quotient = expression.terms.size() == 1 && expression.constant == 0 &&
                           expression.terms[0].kind == VariableKind::Quotient;
  return is_quotient ? inside(expression.terms[0].inner) : expression;
}

}  // namespace

FactorReading FactorFinder::read_dimension(const Read& read, size_t d) {
  const IndexExpression& raw = read.raw.index[d];
  for (size_t k = 0; k < read.raw.result_dims.size(); ++k)
    if (mentions(raw, VariableKind::Result, static_cast<int64_t>(k)))
      nodes_[result_nodes_[read.output][k]].is_mentioned = true;
  if (auto reading = read_plain(read, d, raw)) return *reading;
  const IndexExpression light = without_fixed(raw, read.raw);
  if (auto reading = read_plain(read, d, light)) return *reading;
  if (has_trait(module_[id_].op, TraitCollective))
    return own(read.raw.operand_dims[d], Kind::NeedReplication);
  if (auto reading = read_digits(read, d)) return *reading;
  return read_shifted(read, d, light);
}

// A variable that is all of the dimension.
std::optional<FactorReading> FactorFinder::read_plain(const Read& read, size_t d,
                                                      const IndexExpression& expression) {
  const IndexTerm* const variable = plain_variable(expression);
  const int64_t size = read.raw.operand_dims[d];
  if (!variable || variable->kind == VariableKind::Symbol) return std::nullopt;
  const bool is_range = variable->kind == VariableKind::Range;
  const Dims& sizes = is_range ? read.raw.range_sizes : read.raw.result_dims;
  if (sizes[variable->number] != size) return std::nullopt;
  const size_t node = node_of(read, variable->kind, variable->number);
  if (!is_range) nodes_[node].is_passed = true;
  if (is_range && !nodes_[node].is_window) {
    const bool combines = read.raw.combines[variable->number];
    mark(node, combines ? Kind::Reduction : Kind::NeedReplication);
  }
  return whole(node);
}

// Whether the ends of the digit divide the ends of those known, or are divided by them.
bool FactorFinder::fits_cuts(const FactorPart& part) const {
  const std::set<int64_t>& cuts = nodes_[root_of(part.node)].cuts;
  return std::ranges::all_of(cuts, [&](int64_t cut) {
    const auto divides = [&](int64_t end) { return cut % end == 0 || end % cut == 0; };
    return divides(part.unit) && divides(part.unit * part.size);
  });
}

// A number of several digits, each of one variable, that is all of the dimension. Variables of no
// numbers have no digits.
std::optional<FactorReading> FactorFinder::read_digits(const Read& read, size_t d) {
  const IndexExpression expression = canonical(read.raw.index[d], IndexBounds(read.raw));
  std::vector<std::pair<int64_t, FactorPart>> digits;
  for (const IndexTerm& term : expression.terms) {
    const auto digit = index_digit(term, read.raw);
    if (!digit || digit->coefficient < 0 || digit->kind == VariableKind::Symbol)
      return std::nullopt;
    digits.push_back({digit->coefficient,
                      {node_of(read, digit->kind, digit->number), digit->unit, digit->size}});
  }
  std::ranges::sort(digits, {}, [](const auto& digit) { return digit.first; });
  int64_t base = 1;
  FactorReading out;
  for (const auto& [coefficient, part] : digits) {
    if (coefficient != base || part.size == 0) return std::nullopt;
    base *= part.size;
    out.insert(out.begin(), part);
  }
  if (base != read.raw.operand_dims[d] || out.empty() || expression.constant != 0)
    return std::nullopt;
  for (const FactorPart& part : out)
    if (!fits_cuts(part)) return std::nullopt;
  for (const FactorPart& part : out)
    root(part.node).cuts.insert({part.unit, part.unit * part.size});
  for (const IndexTerm& term : expression.terms)
    if (const auto digit = index_digit(term, read.raw); digit->kind == VariableKind::Range)
      mark(loop_node(digit->number, 0),
           read.raw.combines[digit->number] ? Kind::Reduction : Kind::NeedReplication);
  return out;
}

// One result dimension, moved, spaced, reversed, or under a window.
FactorReading FactorFinder::read_shifted(const Read& read, size_t d,
                                         const IndexExpression& expression) {
  const int64_t size = read.raw.operand_dims[d];
  const IndexExpression& linear = inside(expression);
  Dims dims, loops;
  bool has_symbol = false, is_linear = true;
  for (const IndexTerm& term : linear.terms) {
    is_linear &= is_variable(term);
    if (term.kind == VariableKind::Result) dims.push_back(term.number);
    if (term.kind == VariableKind::Range) loops.push_back(term.number);
    has_symbol |= term.kind == VariableKind::Symbol;
  }
  if (has_symbol && is_linear) return read_symbol(read, d, linear);
  if (!is_linear || dims.size() != 1) return own(size, Kind::NeedReplication);
  if (loops.size() == 1 && plain_loops_.contains(loops[0]))
    return read_window(read, d, dims[0], loops[0]);
  const size_t node = result_nodes_[read.output][dims[0]];
  mark(node, Kind::Permutation);
  if (loops.empty() && root(node).shifts == 0) root(node).size = size;
  ++root(node).shifts;
  return {{node, 1, root(node).size}};
}

// An offset that data decide.
FactorReading FactorFinder::read_symbol(const Read& read, size_t d,
                                        const IndexExpression& expression) {
  const int64_t size = read.raw.operand_dims[d];
  const IndexTerm* symbol_term = nullptr;
  const IndexTerm* dim_term = nullptr;
  for (const IndexTerm& term : expression.terms) {
    const IndexTerm*& found = term.kind == VariableKind::Symbol ? symbol_term : dim_term;
    if (found || term.kind == VariableKind::Range) return own(size, Kind::NeedReplication);
    found = &term;
  }
  const IndexSymbol& symbol = read.raw.symbols[symbol_term->number];
  const bool is_constant = symbol.value && module_[symbol.value].op == Op::Constant;
  if (symbol_term->coefficient < 0)
    return own(size, is_constant ? Kind::Pass : Kind::NeedReplication);
  const bool is_looked_up = std::ranges::any_of(
      symbol.index, [](const IndexExpression& at) { return !at.terms.empty(); });
  if (!dim_term) return own(size, size == 1 ? Kind::NeedReplication : Kind::Reduction);
  const size_t node = result_nodes_[read.output][dim_term->number];
  mark(node, Kind::NeedReplication);
  if (is_looked_up && read.raw.result_dims[dim_term->number] == 1)
    return own(size, Kind::Reduction);
  root(node).size = size;
  root(node).blocks = true;
  return {{node, 1, size}};
}

// A window that another operand has the elements of: both are factors of the dimension, the larger
// is the major one, and each takes of the size what is left.
FactorReading FactorFinder::read_window(const Read& read, size_t d, int64_t dim, int64_t loop) {
  const size_t positions = result_nodes_[read.output][dim];
  const size_t elements = loop_node(loop, read.raw.range_sizes[loop]);
  const int64_t size = read.raw.operand_dims[d];
  const bool is_window_larger = nodes_[elements].size > nodes_[positions].size;
  const size_t major = is_window_larger ? elements : positions,
               minor = is_window_larger ? positions : elements;
  root(major).size = std::min(root(major).size, size);
  root(minor).size = std::min(root(minor).size, size / std::max<int64_t>(1, root(major).size));
  root(elements).kind = root(elements).size > 1 ? Kind::Reduction : Kind::Pass;
  nodes_[elements].is_window = true;
  if (root(positions).size > 1) mark(positions, Kind::Permutation);
  FactorReading out = {{major, 1, root(major).size}};
  if (root(minor).size > 1) out.push_back({minor, 1, root(minor).size});
  return out;
}

}  // namespace hilo
