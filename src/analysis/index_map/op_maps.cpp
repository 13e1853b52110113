#include "analysis/index_map/op_maps.h"

#include <algorithm>

namespace hilo {
namespace {

using MapFunction = IndexMapResult (*)(const MapQuery&);

#define HILO_ROW_Elementwise(name) map_elementwise,
#define HILO_ROW_Structural(name) map_##name,
constexpr MapFunction functions[] = {
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_ROW_##op_class(name)
#include "ir/ops.def"
#undef OP
};

// Leaf number `leaf`, or null.
const Shape* find_leaf(const Shape& shape, size_t& leaf) {
  if (!shape.is_tuple()) return leaf-- == 0 ? &shape : nullptr;
  for (const Shape& element : shape.elements)
    if (const Shape* found = find_leaf(element, leaf)) return found;
  return nullptr;
}

const Shape* leaf_of(const Shape& shape, size_t leaf) { return find_leaf(shape, leaf); }

bool has_unknown_size(const Shape& shape) {
  return shape.has_dynamic_dims() || lists_dimension(shape.dims, Shape::unbounded);
}

// The number that the symbol always is, in its interval where that is said, or nothing.
std::optional<int64_t> constant_of(const Module& module, const IndexSymbol& symbol) {
  if (!symbol.value || module[symbol.value].op != Op::Constant) return std::nullopt;
  const LiteralRef& constant = module.attributes<ConstantAttributes>(symbol.value).literal;
  const bool is_fixed = std::ranges::all_of(
      symbol.index, [](const IndexExpression& expression) { return expression.terms.empty(); });
  if (constant.elided || !is_fixed) return std::nullopt;
  const Dims strides = row_major_strides(constant.literal->shape().dims);
  int64_t position = 0;
  for (size_t d = 0; d < strides.size(); ++d) position += symbol.index[d].constant * strides[d];
  const int64_t value = constant.literal->integer_at(position);
  const auto [lower, upper] = symbol.within;
  // Of unsigned numbers the largest ones come as negative ones.
  if (value < 0 && is_unsigned(constant.literal->type())) return std::nullopt;
  if (!symbol.is_clamped && (value < lower || value > upper)) return std::nullopt;
  return std::clamp(value, lower, upper);
}

// Symbols that are constants of the program become numbers.
void put_in_constants(const Module& module, IndexMap& map) {
  for (IndexSymbol& symbol : map.symbols)
    if (const auto value = constant_of(module, symbol)) symbol = {{}, {}, {*value, *value}, true};
}

}  // namespace

IndexMapResult unsimplified_index_map(const Module& module, InstructionId id, size_t operand,
                                      size_t output, size_t leaf) {
  check(operand < module[id].operand_count, "index_map: no such operand");
  const Shape* const from = leaf_of(module.shape(module.operand(id, operand)), leaf);
  const Shape* const result = leaf_of(module.shape(id), output);
  check(from && result, "index_map: no such leaf");
  if (!from->is_array() || !result->is_array()) return std::unexpected("it is no array");
  if (has_unknown_size(*from) || has_unknown_size(*result))
    if (!is_elementwise(module[id].op) || from->dims != result->dims)
      return std::unexpected("sizes are known only at run time");
  const MapQuery query{module, id, operand, output, leaf, *result, *from};
  return functions[static_cast<size_t>(module[id].op)](query);
}

IndexMapResult index_map(const Module& module, InstructionId id, size_t operand, size_t output,
                         size_t leaf) {
  IndexMapResult map = unsimplified_index_map(module, id, operand, output, leaf);
  if (!map) return map;
  put_in_constants(module, *map);
  simplify(*map);
  return map;
}

IndexMap blank_map(const MapQuery& query) {
  IndexMap map;
  map.result_dims = query.result.dims, map.operand_dims = query.from.dims;
  map.index.resize(map.operand_dims.size());
  return map;
}

IndexMap no_elements(const MapQuery& query) {
  IndexMap map = blank_map(query);
  map.needs_nothing = true;
  return map;
}

IndexMap identity_map(const MapQuery& query) {
  IndexMap map = blank_map(query);
  check(map.result_dims.size() == map.operand_dims.size(), "identity_map: ranks differ");
  for (size_t d = 0; d < map.index.size(); ++d)
    map.index[d] = result_index(static_cast<int64_t>(d));
  return map;
}

IndexMap all_elements(const MapQuery& query) {
  IndexMap map = blank_map(query);
  for (size_t d = 0; d < map.index.size(); ++d) map.index[d] = add_range(map, map.operand_dims[d]);
  return map;
}

IndexExpression add_range(IndexMap& map, int64_t size, bool combines) {
  map.range_sizes.push_back(size);
  map.combines.push_back(combines);
  return range_index(std::ssize(map.range_sizes) - 1);
}

IndexExpression add_symbol(IndexMap& map, const MapQuery& query, size_t operand,
                           std::vector<IndexExpression> index, IndexInterval within,
                           bool is_clamped) {
  map.symbols.push_back({query.operand_id(operand), std::move(index), within, is_clamped});
  return symbol_index(std::ssize(map.symbols) - 1);
}

IndexMapResult passes_through(const MapQuery& query, bool is_same_leaf) {
  return is_same_leaf ? identity_map(query) : no_elements(query);
}

size_t leaves_before(const Shape& tuple, size_t index) {
  size_t out = 0;
  for (size_t i = 0; i < index; ++i) out += static_cast<size_t>(leaf_count(tuple.elements[i]));
  return out;
}

bool lists_dimension(std::span<const int64_t> dims, int64_t dim) {
  return std::ranges::find(dims, dim) != dims.end();
}

Dims other_dimensions(size_t rank, std::initializer_list<std::span<const int64_t>> lists) {
  Dims out;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
    if (std::ranges::none_of(lists, [&](auto list) { return lists_dimension(list, d); }))
      out.push_back(d);
  return out;
}

}  // namespace hilo
