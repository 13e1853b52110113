// The index map of each op: one function `IndexMapResult map_Gather(const MapQuery&)` for every
// structural op, found through ops.def, and map_elementwise for the others. An op without one does
// not link. Private to `analysis`.
//
// The dispatcher has checked that what is asked for are arrays of known static sizes, but for ops
// that pass values through.
#pragma once

#include "analysis/index_map/expression.h"

namespace hilo {

using IndexMapResult = std::expected<IndexMap, std::string_view>;

struct MapQuery {
  const Module& module;
  InstructionId id;
  size_t operand, output, leaf;  // output and leaf count leaves
  const Shape& result;           // that leaf of the result
  const Shape& from;             // that leaf of the operand

  const Shape& operand_shape(size_t i) const { return module.shape(module.operand(id, i)); }
  InstructionId operand_id(size_t i) const { return module.operand(id, i); }
  size_t count() const { return module[id].operand_count; }
  template <class A>
  const A& attributes() const {
    return module.attributes<A>(id);
  }
};

IndexMapResult map_elementwise(const MapQuery& query);
#define HILO_DECLARE_Elementwise(name)
#define HILO_DECLARE_Structural(name) IndexMapResult map_##name(const MapQuery& query);
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_DECLARE_##op_class(name)
#include "ir/ops.def"
#undef OP
#undef HILO_DECLARE_Elementwise
#undef HILO_DECLARE_Structural

// As the op's function gives it: ranges of one number are one loop in the maps of all operands.
IndexMapResult unsimplified_index_map(const Module& module, InstructionId id, size_t operand,
                                      size_t output, size_t leaf);

// A map of these sizes whose index expressions are all 0.
IndexMap blank_map(const MapQuery& query);
IndexMap no_elements(const MapQuery& query);
IndexMap identity_map(const MapQuery& query);
// Every element of the operand, whichever element of the result.
IndexMap all_elements(const MapQuery& query);
// A new range variable, of numbers below the size.
IndexExpression add_range(IndexMap& map, int64_t size, bool combines = false);
// Element `index` of operand number `operand`, as a number within the interval.
IndexExpression add_symbol(IndexMap& map, const MapQuery& query, size_t operand,
                           std::vector<IndexExpression> index, IndexInterval within,
                           bool is_clamped = true);
// The same index where both are the same leaf, else nothing: operand leaf number `leaf` becomes
// result leaf number `output`.
IndexMapResult passes_through(const MapQuery& query, bool is_same_leaf);
// How many leaves stand before element `index` of a tuple.
size_t leaves_before(const Shape& tuple, size_t index);
// Dimensions of [0, rank) that are not in the list, ascending.
Dims other_dimensions(size_t rank, std::initializer_list<std::span<const int64_t>> lists);
bool lists_dimension(std::span<const int64_t> dims, int64_t dim);

// How a window lies over one dimension.
struct WindowIndex {
  IndexExpression index;           // of the array's element
  std::vector<IndexGuard> guards;  // it is none of padding, and no hole of dilation
};
// Element `element` of the window number `window`, over `size` elements of an array.
WindowIndex window_index(const WindowDim& dim, const IndexExpression& window,
                         const IndexExpression& element, int64_t size);

}  // namespace hilo
