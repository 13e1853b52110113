// Index maps: which elements of an operand does one element of a result need? Shown through
// analysis/analysis.h.
//
//   (i0, i1)[r0 < 8] -> (i0, r0)                        the left side of a product
//   (i0)[s0 = %start clamped to 0..5] -> (i0 + s0)      a dynamic-slice
//   (i0) -> (i0 - 1) if 1 <= i0 <= 6                    a pad
//   (i0) -> (i0 floordiv 4, i0 mod 4)                   a reshape
//
// i0, i1, ... are the indices of the result's element. It needs every operand element that the
// range variables r0, r1, ... lead to, where the guards hold, and no other. Symbols s0, s1, ... are
// numbers that data decide: start indices of dynamic-slice, gather and scatter.
#pragma once

#include <functional>

#include "ir/ir.h"

namespace hilo {

struct IndexTerm;
// The constant and the sum of the terms. In canonical form terms are sorted, none stands twice, and
// no coefficient is zero.
struct IndexExpression {
  int64_t constant = 0;
  std::vector<IndexTerm> terms;
  friend bool operator==(const IndexExpression& a, const IndexExpression& b);
};
struct IndexTerm {
  // A variable, or the quotient rounded down or the remainder of `inner` by a positive constant.
  enum class Kind : uint8_t { Result, Range, Symbol, Quotient, Remainder };
  Kind kind = Kind::Result;
  int64_t number = 0;  // of the variable; the divisor of a quotient or remainder
  int64_t coefficient = 1;
  IndexExpression inner;
  bool operator==(const IndexTerm&) const = default;
};

// The numbers from lower to upper, both included; none where lower > upper.
struct IndexInterval {
  int64_t lower = 0, upper = -1;
  bool is_empty() const { return lower > upper; }
  bool operator==(const IndexInterval&) const = default;
};
// The map holds only where the expression lies in the interval.
struct IndexGuard {
  IndexExpression expression;
  IndexInterval within;
  bool operator==(const IndexGuard&) const = default;
};
// The element of `value` at `index`, an expression for each of its dimensions. What lies outside
// the interval is moved to its nearest end; where it is not clamped, nothing is needed then.
struct IndexSymbol {
  InstructionId value;  // none: a number of the device, which its rank in a group decides
  std::vector<IndexExpression> index;
  IndexInterval within;
  bool is_clamped = true;
  bool operator==(const IndexSymbol&) const = default;
};

struct IndexMap {
  Dims result_dims, operand_dims;  // sizes
  Dims range_sizes;                // range variable r runs over [0, range_sizes[r])
  // By range: what it leads to is combined by sums or the like, so that each part of it gives a
  // part of the result; false: all of it is needed at once, as of a sort.
  std::vector<bool> combines;
  std::vector<IndexSymbol> symbols;
  std::vector<IndexExpression> index;  // one for each dimension of the operand
  std::vector<IndexGuard> guards;      // all of them hold
  // No element needs anything of the operand. All but the sizes is empty then.
  bool needs_nothing = false;
  // False: whether an element that is named takes part, is decided by data that no symbol stands
  // for, or by the values themselves; none that is not named takes part.
  bool is_exact = true;
  bool operator==(const IndexMap&) const = default;
};

// Of the array number `output` among the leaves of the result and number `leaf` among those of the
// operand; 0 of arrays. The module must verify. The error is the reason why there is no map, as in
// "what the computation does decides". A collective's map tells of the operand on whichever devices
// take part. The map is simplified.
std::expected<IndexMap, std::string_view> index_map(const Module& module, InstructionId id,
                                                    size_t operand, size_t output = 0,
                                                    size_t leaf = 0);
// The same, and of fusions and calls one for each way from the result to the operand, each once.
// None of the maps needs nothing. Symbols are values of the called computation.
using IndexMapsResult = std::expected<std::vector<IndexMap>, std::string_view>;
IndexMapsResult index_maps(const Module& module, InstructionId id, size_t operand,
                           size_t output = 0, size_t leaf = 0);
// From the computation's result to one of its parameters.
IndexMapsResult index_maps_through(const Module& module, ComputationId computation,
                                   int64_t parameter, size_t output = 0, size_t leaf = 0);
// Which elements the results of `outer` need of what the operand of `outer` is computed from by
// `inner`, whose result_dims are the operand_dims of `outer`.
IndexMap compose(const IndexMap& outer, const IndexMap& inner);
// From each element of the operand the one element of the result that needs it; nothing where the
// map is not seen to be one to one between all elements: permutations, reversals, reshapes.
std::optional<IndexMap> inverse(const IndexMap& map);
// Brings a map into canonical form: equal texts for most maps that are equal. Ranges that decide
// nothing go, guards that always hold go.
void simplify(IndexMap& map);

// Each element needs the element at the same index, for equal sizes.
bool is_identity(const IndexMap& map);
// Elements stand in the same row-major order in the operand and the result, as after a reshape.
bool keeps_order(const IndexMap& map);
// Each dimension of the operand is one of the result's, and each of the result's is there once.
bool is_permutation(const IndexMap& map);
// By how much the position in the operand grows with the variable; strides are of the operand, in
// elements. Nothing where it does not grow evenly.
std::optional<int64_t> stride(const IndexMap& map, IndexTerm::Kind kind, int64_t number,
                              std::span<const int64_t> operand_strides);
// A box of the operand, an interval for each dimension, that holds all that a box of the result
// needs. The smallest one where index and guards are affine with every variable in one dimension,
// for whatever values symbols take; all are empty where nothing is needed.
std::vector<IndexInterval> footprint(const IndexMap& map, std::span<const IndexInterval> box);
// All of the result.
std::vector<IndexInterval> whole_box(std::span<const int64_t> dims);
// How many elements of the result need one element of the operand, in the mean over those that are
// needed: 1 for a transpose, the columns of the result for the left side of a product. Windows
// count without their margins.
double reuse(const IndexMap& map);

// Calls body(operand index) for each element that the result's element needs, in the order of the
// range variables, some of them perhaps more than once.
using SymbolValue = std::function<int64_t(const IndexSymbol& symbol, const Dims& index)>;
void for_each_operand_index(const IndexMap& map, std::span<const int64_t> result_index,
                            const SymbolValue& value_of,
                            const std::function<void(const Dims& operand_index)>& body);

// As in the head of this file; "(i0) -> nothing"; "~>" for "->" where the map is not exact.
std::string to_string(const Module& module, const IndexMap& map);

}  // namespace hilo
