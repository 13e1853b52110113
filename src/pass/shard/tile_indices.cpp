#include "pass/shard/tile_indices.h"

#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {

TileIndices::TileIndices(OpPartition& op, InstructionId indices, const Dims& dims,
                         int64_t vector_dim)
    : code_(op.code()), components_(dims.size()), vector_dim_(vector_dim) {
  indices_ = saturated_index(code_, indices);
}

InstructionId TileIndices::component(size_t c) {
  Dims dims = code_.dims(indices_);
  if (vector_dim_ == std::ssize(dims)) return indices_;
  Dims starts(dims.size()), batch = dims;
  const auto at = static_cast<size_t>(vector_dim_);
  starts[at] = static_cast<int64_t>(c);
  dims[at] = 1;
  batch.erase(batch.begin() + vector_dim_);
  return code_.reshape(code_.slice(indices_, starts, dims), batch);
}

InstructionId TileIndices::each(std::span<const InstructionId> scalars) {
  const Dims dims = code_.dims(indices_);
  if (vector_dim_ == std::ssize(dims)) return code_.broadcast(scalars[0], dims, {});
  std::vector<InstructionId> vectors;
  for (InstructionId scalar : scalars) vectors.push_back(code_.reshape(scalar, {1}));
  return code_.broadcast(code_.concatenate(vectors, 0), dims, {vector_dim_});
}

InstructionId TileIndices::each(const Dims& numbers) {
  const Dims dims = code_.dims(indices_);
  if (numbers.size() == 1) return code_.broadcast(code_.number(numbers[0]), dims, {});
  const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
  const InstructionId vector = code_.constant(
      Literal::from<int32_t>({std::ssize(narrow)}, std::span(std::as_const(narrow))));
  return code_.broadcast(vector, dims, {vector_dim_});
}

void TileIndices::clamp(const Dims& least, const Dims& greatest) {
  if (components_ == 0) return;
  indices_ = code_.binary(Op::Maximum, indices_, each(least));
  indices_ = code_.binary(Op::Minimum, indices_, each(greatest));
}

void TileIndices::subtract(std::span<const InstructionId> offsets) {
  std::vector<InstructionId> all(offsets.begin(), offsets.end());
  if (std::ranges::none_of(all, [](InstructionId id) { return bool(id); })) return;
  for (InstructionId& offset : all)
    if (!offset) offset = code_.number(0);
  indices_ = code_.binary(Op::Subtract, indices_, each(all));
}

void TileIndices::keep_where(InstructionId mask, int64_t otherwise) {
  const Dims dims = code_.dims(indices_);
  Dims batch;
  for (int64_t dim = 0; dim < std::ssize(dims); ++dim)
    if (dim != vector_dim_) batch.push_back(dim);
  indices_ = code_.select_each(code_.broadcast(mask, dims, batch), indices_,
                               code_.broadcast(code_.number(otherwise), dims, {}));
}

bool is_even(const Shard& tile) {
  const Dims& dims = tile.shape->dims;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (dims[dim] % tile_count(tile.sharding, dim) != 0) return false;
  return true;
}

namespace {

// The result's dimension that the expression is, plus a constant.
std::optional<int64_t> shifted_dim(const IndexExpression& expression) {
  if (expression.terms.size() != 1) return std::nullopt;
  const IndexTerm& term = expression.terms[0];
  const bool is_plain = term.kind == IndexTerm::Kind::Result && term.coefficient == 1;
  return is_plain ? std::optional(term.number) : std::nullopt;
}

bool is_zero(const Module& module, InstructionId id) {
  if (module[id].op == Op::Broadcast) id = module.operand(id, 0);
  const Literal* literal = constant_of(module, id);
  return literal && literal->count() == 1 && literal->number_at(0) == 0;
}

// select(x < 0, any, x): what wraps negative indices, where x counts from 0.
bool keeps_counts(const Module& module, InstructionId select) {
  const InstructionId mask = module.operand(select, 0);
  return module[mask].op == Op::Compare &&
         module.attributes<CompareAttributes>(mask).direction == ComparisonDirection::Lt &&
         module.operand(mask, 0) == module.operand(select, 2) &&
         is_zero(module, module.operand(mask, 1));
}

// Whether numbers below `size` are themselves in the type.
bool holds(ElementType type, int64_t size) {
  return is_integral(type) && (bits_of(type) >= 32 || size <= int64_t{1} << (bits_of(type) - 1));
}

// Which elements of a value are meant: those at `component` along `vector_dim`; -1: all.
struct Counted {
  InstructionId id;
  int64_t vector_dim, component;
};

// Whether the operand has the elements that are meant; nothing where that is not to be seen.
std::optional<bool> is_source(const IndexMap& map, const Counted& of) {
  if (map.needs_nothing) return false;
  if (!map.is_exact || !map.symbols.empty() || !map.range_sizes.empty()) return std::nullopt;
  for (const IndexGuard& guard : map.guards) {
    if (shifted_dim(guard.expression) != of.vector_dim) return std::nullopt;
    const int64_t at = of.component + guard.expression.constant;
    if (at < guard.within.lower || at > guard.within.upper) return false;
  }
  return true;
}

std::optional<int64_t> counts_along(const Module& module, const Counted& of);

// Along which dimension of the result the operand's elements count.
std::optional<int64_t> counts_from(const Module& module, const Counted& of, size_t operand,
                                   const IndexMap& map) {
  Counted inner{module.operand(of.id, operand), -1, 0};
  for (size_t dim = 0; dim < map.index.size(); ++dim)
    if (of.vector_dim >= 0 && shifted_dim(map.index[dim]) == of.vector_dim)
      inner.vector_dim = static_cast<int64_t>(dim),
      inner.component = of.component + map.index[dim].constant;
  const auto along = counts_along(module, inner);
  if (!along || map.index[static_cast<size_t>(*along)].constant != 0) return std::nullopt;
  return shifted_dim(map.index[static_cast<size_t>(*along)]);
}

std::optional<int64_t> counts_along(const Module& module, const Counted& of) {
  const Op op = module[of.id].op;
  const Dims& dims = module.shape(of.id).dims;
  const int64_t most = dims.empty() ? 0 : *std::ranges::max_element(dims);
  if (!holds(module.shape(of.id).type, most)) return std::nullopt;
  if (op == Op::Iota) return module.attributes<IotaAttributes>(of.id).iota_dimension;
  if (op == Op::Select) {
    if (!keeps_counts(module, of.id)) return std::nullopt;
    return counts_along(module, {module.operand(of.id, 2), of.vector_dim, of.component});
  }
  if (op != Op::Convert && !has_trait(op, TraitMoves)) return std::nullopt;
  for (size_t i = 0; i < module[of.id].operand_count; ++i) {
    const auto map = index_map(module, of.id, i);
    const auto is_it = map ? is_source(*map, of) : std::nullopt;
    if (!is_it) return std::nullopt;
    if (*is_it) return counts_from(module, of, i, *map);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> counting_dim(const Module& module, InstructionId indices, int64_t vector_dim,
                                    int64_t component) {
  const auto out = counts_along(module, {indices, vector_dim, component});
  return out == vector_dim ? std::nullopt : out;
}

}  // namespace hilo
