#include "analysis/sharding_factors/factor_finder.h"

#include <algorithm>
#include <numeric>

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;
using VariableKind = IndexTerm::Kind;

void add_leaves(const Shape& shape, std::vector<const Shape*>& out) {
  if (!shape.is_tuple()) return out.push_back(&shape);
  for (const Shape& element : shape.elements) add_leaves(element, out);
}

}  // namespace

// The one term of coefficient 1 and no more, a variable.
const IndexTerm* plain_variable(const IndexExpression& expression) {
  if (expression.constant != 0 || expression.terms.size() != 1) return nullptr;
  const IndexTerm& term = expression.terms[0];
  return is_variable(term) && term.coefficient == 1 ? &term : nullptr;
}
FactorFinder::FactorFinder(const Module& module, InstructionId id) : module_(module), id_(id) {
  add_leaves(module.shape(id), results_);
  operands_.reserve(module[id].operand_count);
  std::vector<const Shape*> leaves;
  for (size_t i = 0; i < module[id].operand_count; ++i) {
    leaves.clear();
    add_leaves(module.shape(module.operand(id, i)), leaves);
    passes_tuples_ |= module.shape(module.operand(id, i)).is_tuple();
    for (size_t k = 0; k < leaves.size(); ++k) operands_.push_back({i, k, leaves[k]});
  }
  size_t dims = 0;
  for (const Shape* shape : results_) dims += shape->dims.size();
  for (const OperandLeaf& operand : operands_) dims += operand.shape->dims.size();
  nodes_.reserve(dims);
  result_nodes_.reserve(results_.size());
  for (const Shape* shape : results_) {
    std::vector<size_t>& nodes = result_nodes_.emplace_back();
    nodes.reserve(shape->dims.size());
    for (int64_t size : shape->dims) nodes.push_back(add_node(size));
  }
}

void FactorFinder::read_all() {
  readings_.resize(operands_.size());
  for (size_t a = 0; a < operands_.size(); ++a)
    readings_[a].resize(operands_[a].shape->dims.size());
  if (walk_same_order()) return;
  reads_.reserve(operands_.size() * results_.size());
  for (size_t a = 0; a < operands_.size(); ++a) {
    for (size_t output = 0; output < results_.size() && !passes_tuples_; ++output) {
      auto raw =
          unsimplified_index_map(module_, id_, operands_[a].operand, output, operands_[a].leaf);
      if (!raw || raw->needs_nothing) continue;
      reads_.push_back({a, output, *std::move(raw)});
    }
  }
  find_loops_that_stand_alone();
  for (const Read& read : reads_) {
    if (reads_.size() == 1 && walk_reshape(read)) continue;
    for (size_t d = 0; d < read.raw.index.size(); ++d) {
      FactorReading reading = read_dimension(read, d);
      std::optional<FactorReading>& before = readings_[read.operand][d];
      if (before && before->size() == 1 && reading.size() == 1)
        unite(before->front().node, reading.front().node);
      if (!before) before = std::move(reading);
    }
  }
  for (size_t a = 0; a < operands_.size(); ++a)
    for (size_t d = 0; d < readings_[a].size(); ++d)
      if (!readings_[a][d])
        readings_[a][d] = own(operands_[a].shape->dims[d], Kind::NeedReplication);
}

void FactorFinder::find_loops_that_stand_alone() {
  for (const Read& read : reads_)
    for (const IndexExpression& expression : read.raw.index)
      if (const IndexTerm* variable = plain_variable(expression);
          variable && variable->kind == VariableKind::Range)
        plain_loops_.insert(variable->number);
}

namespace {

// Whether elements keep their row-major order in an array of other dimensions.
bool regroups(const IndexMap& raw) {
  if (raw.operand_dims == raw.result_dims) return false;
  const auto has_order = [](const Dims& dims) {
    return std::ranges::all_of(dims, [](int64_t size) { return size > 1; });
  };
  if (has_order(raw.operand_dims) && has_order(raw.result_dims) && is_permutation(raw))
    return false;
  IndexMap map = raw;
  simplify(map);
  return keeps_order(map);
}

}  // namespace

bool FactorFinder::walk_reshape(const Read& read) {
  const Dims &from = read.raw.operand_dims, &to = read.raw.result_dims;
  if (element_count(from) != element_count(to) || !regroups(read.raw)) return false;
  regroup(read.operand, from, to);
  return true;
}

// An op that keeps the order of its operand has a map that need not be written down.
bool FactorFinder::walk_same_order() {
  if (!has_trait(module_[id_].op, TraitSameOrder) || passes_tuples_ || operands_.size() != 1 ||
      results_.size() != 1)
    return false;
  const Shape &from = *operands_[0].shape, &to = *results_[0];
  if (!from.is_array() || !to.is_array() || !is_static(from) || !is_static(to) ||
      from.dims == to.dims || element_count(from) == 0)
    return false;
  regroup(0, from.dims, to.dims);
  return true;
}

// Elements stay in row-major order, in other groups: from the major end, what the sizes of both
// sides have in common is a factor of both; where they part, factors are of one side alone until
// the products meet again.
void FactorFinder::regroup(size_t operand, const Dims& from, const Dims& to) {
  const Dims sizes[2] = {from, to};
  std::vector<FactorReading> out[2] = {std::vector<FactorReading>(sizes[0].size()),
                                       std::vector<FactorReading>(sizes[1].size())};
  size_t at[2] = {0, 0};
  int64_t left[2] = {1, 1}, done[2] = {1, 1};  // of the dimension; the product of factors before
  const auto next = [&](int side) {
    while (left[side] == 1 && at[side] < sizes[side].size()) {
      left[side] = sizes[side][at[side]++];
      if (left[side] == 1) out[side][at[side] - 1] = own(1, Kind::Pass);
    }
  };
  const auto take = [&](int side, size_t node, int64_t size) {
    out[side][at[side] - 1].push_back({node, 1, size});
    left[side] /= size;
    done[side] *= size;
  };
  for (next(0), next(1); left[0] > 1 || left[1] > 1; next(0), next(1)) {
    const int64_t common = done[0] == done[1] ? std::gcd(left[0], left[1]) : 1;
    if (common > 1) {
      const size_t node = add_node(common);
      take(0, node, common), take(1, node, common);
      continue;
    }
    const int64_t before[2] = {done[0], done[1]};
    for (int side : {0, 1})
      if (before[side] <= before[1 - side]) take(side, add_node(left[side]), left[side]);
  }
  for (size_t d = 0; d < sizes[0].size(); ++d) readings_[operand][d] = std::move(out[0][d]);
  regrouped_ = std::move(out[1]);
}

// All of a dimension is needed at once: the result's dimension of the same number, where nothing
// else says what it is, is no more divisible than the operand's.
void FactorFinder::pair_whole_dimensions() {
  for (const Read& read : reads_)
    for (size_t d = 0; d < read.raw.index.size(); ++d) {
      const IndexTerm* const variable = plain_variable(read.raw.index[d]);
      const Dims &from = read.raw.operand_dims, &to = read.raw.result_dims;
      if (!variable || variable->kind != VariableKind::Range ||
          read.raw.combines[variable->number] || from.size() != to.size() ||
          (from.size() == 1 && from != to))
        continue;
      const size_t node = result_nodes_[read.output][d];
      if (nodes_[node].is_mentioned) continue;
      const size_t loop = loop_node(variable->number, from[d]);
      const bool is_alone = std::ranges::count_if(from, [](int64_t size) { return size > 1; }) <= 1;
      root(loop).blocks |= from[d] != to[d] || is_alone;
      root(node).size = std::max(root(node).size, from[d]);
      unite(node, loop);
      root(node).size = from[d];
    }
}

// Dimensions of the result that no operand has: each is its own factor. Parts of an element's bits
// cannot be made apart, nor what comes from several devices.
void FactorFinder::mark_new_dimensions() {
  for (const auto& nodes : result_nodes_)
    for (size_t node : nodes)
      if (has_trait(module_[id_].op, TraitCollective) && !nodes_[node].is_passed)
        mark(node, Kind::NeedReplication);
  for (const Read& read : reads_) {
    const ElementType from = operands_[read.operand].shape->type, to = results_[read.output]->type;
    if (reads_.size() != 1 || bits_of(from) == bits_of(to) || regrouped_) continue;
    for (size_t node : result_nodes_[read.output])
      if (!nodes_[node].is_mentioned) mark(node, Kind::NeedReplication);
  }
}

// Several operands at offsets in one dimension stand side by side: no tile of the result is that of
// one operand, unless all are slices, of which neighbours have the rest.
void FactorFinder::settle_shifts() {
  const auto operands = module_.operands(id_);
  const bool are_slices = std::ranges::all_of(
      operands, [&](InstructionId operand) { return module_[operand].op == Op::Slice; });
  for (size_t output = 0; output < results_.size(); ++output)
    for (size_t d = 0; d < result_nodes_[output].size(); ++d) {
      FactorNode& node = root(result_nodes_[output][d]);
      if (node.shifts < 2) continue;
      node.size = results_[output]->dims[d];
      if (!are_slices) node.kind = Kind::NeedReplication;
    }
}

// Gives numbers to the factors of a node that make up a digit, and tells them, the major one first.
std::vector<size_t> FactorFinder::numbers_of(std::span<const FactorPart> reading,
                                             ShardingFactors& out) {
  std::vector<size_t> factors;
  factors.reserve(reading.size());
  const auto add = [&](FactorNode& node, int64_t unit, int64_t size) {
    for (auto known = node.numbered; known; known = numbered_[*known].previous)
      if (numbered_[*known].unit == unit) return factors.push_back(*known);
    factors.push_back(out.factors.size());
    numbered_.push_back({unit, std::exchange(node.numbered, out.factors.size())});
    out.factors.push_back({node.cuts.empty() ? node.size : size, node.kind, node.blocks});
  };
  for (const FactorPart& digit : reading) {
    FactorNode& node = root(digit.node);
    int64_t upper = digit.unit * digit.size;
    for (auto cut = node.cuts.rbegin(); cut != node.cuts.rend(); ++cut) {
      if (*cut <= digit.unit || *cut >= upper) continue;
      add(node, *cut, upper / *cut);
      upper = *cut;
    }
    add(node, digit.unit, upper / digit.unit);
  }
  return factors;
}

ShardingFactors FactorFinder::number() {
  ShardingFactors out;
  out.factors.reserve(nodes_.size());
  numbered_.reserve(nodes_.size());
  out.operands.reserve(readings_.size());
  out.results.reserve(results_.size());
  for (const auto& dims : readings_) {
    DimensionFactors& factors = out.operands.emplace_back();
    factors.reserve(dims.size());
    for (const auto& reading : dims) factors.push_back(numbers_of(*reading, out));
  }
  for (size_t output = 0; output < results_.size(); ++output) {
    DimensionFactors& factors = out.results.emplace_back();
    factors.reserve(result_nodes_[output].size());
    for (size_t d = 0; d < result_nodes_[output].size(); ++d) {
      const size_t node = result_nodes_[output][d];
      const FactorPart own = {node, 1, root(node).size};
      factors.push_back(regrouped_ ? numbers_of((*regrouped_)[d], out)
                                   : numbers_of(std::span(&own, 1), out));
    }
  }
  return out;
}

}  // namespace hilo
