// Takes slices of devices as near to collectives as they go.
//   dynamic-slice(f(all-reduce(x), y)) => f(dynamic-slice(all-reduce(x)), dynamic-slice(y))
// through ops that need, for an index of the sliced dimension, the same index of one dimension of
// an operand, or all of it: elementwise ops, transposes, products along their rows, sorts of
// others. Through reshapes that keep the sliced dimension, or have it as the most major one of
// those that they split or join. Only where the way leads to a collective through values that
// nobody else uses; so less is computed, and collectives see what is needed of them. Assumes
// nothing. Before what looks for slices of collectives.
#include <algorithm>
#include <deque>

#include "pass/collective/device_values.h"
#include "pass/shard/local_code.h"

namespace hilo {
namespace {

// Dimensions of a reshape's operand and result that hold the same elements.
struct SameElements {
  std::vector<size_t> from, to;
};
std::vector<SameElements> same_elements(const Dims& from, const Dims& to) {
  std::vector<SameElements> out;
  for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    SameElements one;
    int64_t in = 1, made = 1;
    if (i < from.size()) in *= from[i], one.from.push_back(i++);
    if (j < to.size()) made *= to[j], one.to.push_back(j++);
    while (in != made)
      if (in < made) in *= from[i], one.from.push_back(i++);
      else made *= to[j], one.to.push_back(j++);
    out.push_back(std::move(one));
  }
  return out;
}

class Hoister {
 public:
  explicit Hoister(Module& module)
      : module_(module), editor_(module), values_(editor_, count_devices(module)) {}

  bool run() {
    if (values_.devices() < 2 || module_.header.replica_count > 1) return false;
    bool changed = false;
    for (ComputationId id : open_computations(module_)) {
      const std::vector<InstructionId> order = operands_first(module_, id);
      for (size_t i = order.size(); i-- > 0;)
        if (!module_[order[i]].removed) changed |= hoist(order[i]);
    }
    return changed;
  }

 private:
  bool hoist(InstructionId slice) {
    const Op op = module_[slice].op;
    if ((op != Op::DynamicSlice && op != Op::Slice) || editor_.is_pinned(slice)) return false;
    const InstructionId from = module_.operand(slice, 0);
    // Of two slices the device's own comes first.
    const bool is_behind = op == Op::Slice && module_[from].op == Op::DynamicSlice;
    if (is_communication(module_[from].op) || is_behind || !leads_to_collective(from)) return false;
    const auto taken = device_slice(module_, slice, values_);
    if (!taken) return false;
    const InstructionId value = moved(slice, from, *taken);
    if (!value) return false;
    editor_.set_shape(value, module_.shape(slice));
    editor_.replace(slice, value);
    return true;
  }

  // Its elements follow from those of its operands alone, on this device.
  bool goes_through(InstructionId id) const {
    const Op op = module_[id].op;
    return !is_communication(op) && !has_trait(op, TraitNotFolded) &&
           std::ranges::all_of(module_.called(module_[id]), [&](ComputationId callee) {
             return std::ranges::all_of(module_[callee].parameters, [&](InstructionId parameter) {
               return module_.shape(parameter).is_scalar();
             });
           });
  }

  // Through values that nobody else uses.
  bool leads_to_collective(InstructionId from) const {
    std::vector<InstructionId> stack = {from};
    while (!stack.empty()) {
      const InstructionId id = stack.back();
      stack.pop_back();
      const Op op = module_[id].op;
      if (!has_one_use(editor_, id) || !is_static(module_.shape(id)) ||
          module_.extra(module_[id]).sharding)
        continue;
      if (op == Op::AllReduce || op == Op::AllGather) {
        if (module_[id].operand_count == 1) return true;
      } else if (goes_through(id)) {
        for (InstructionId operand : module_.operands(id)) stack.push_back(operand);
      }
    }
    return false;
  }

  // What the slice of `from` is, or none where it cannot be said before it.
  InstructionId moved(InstructionId slice, InstructionId from, const DeviceSlice& taken) {
    if (module_[from].op == Op::Reshape) return before_reshape(slice, from, taken);
    if (module_[from].op != Op::GetTupleElement) return before_op(slice, from, 0, taken);
    if (!is_plain(module_.shape(slice))) return {};
    const auto index = module_.attributes<GetTupleElementAttributes>(from).index;
    const InstructionId tuple =
        before_op(slice, module_.operand(from, 0), static_cast<size_t>(index), taken);
    return tuple ? editor_.add_element(from, tuple, index) : InstructionId{};
  }

  // The op of sliced operands, where each sliced dimension of the result is, in each operand, one
  // dimension index for index, or none.
  InstructionId before_op(InstructionId slice, InstructionId from, size_t output,
                          const DeviceSlice& taken) {
    std::vector<Dims> orders;
    const auto given = module_.operands(from);
    const std::vector<InstructionId> operands(given.begin(), given.end());
    for (size_t k = 0; k < operands.size(); ++k) {
      auto order = sliced_dims(from, k, output, taken);
      if (!order) return {};
      orders.push_back(*std::move(order));
    }
    std::vector<InstructionId> parts;
    for (size_t k = 0; k < operands.size(); ++k)
      parts.push_back(sliced(slice, operands[k], orders[k], taken));
    const InstructionId value = editor_.clone(from, module_[slice].computation, parts);
    if (module_[value].op == Op::Slice) {
      auto& dims = module_.mutable_attributes<SliceAttributes>(value).slice.dims;
      for (size_t dim = 0; dim < dims.size(); ++dim)
        dims[dim].limit = std::min(dims[dim].limit, dims[dim].start + taken.sizes[dim]);
    }
    const auto shape = infer_shape(module_, module_[value]);
    const bool is_tuple = shape && shape->is_tuple();
    const auto fits = [&](const Shape& result) { return result.dims == taken.sizes; };
    if (!shape || !(is_tuple ? std::ranges::all_of(shape->elements, fits) : fits(*shape))) {
      editor_.remove_unused(value);
      return {};
    }
    editor_.set_shape(value, *shape);
    return value;
  }

  // By dimension of the operand: the sliced dimension of the result that it is, or -1. Nothing
  // where a sliced dimension decides otherwise what is needed of it.
  std::optional<Dims> sliced_dims(InstructionId from, size_t k, size_t output,
                                  const DeviceSlice& taken) const {
    const auto map = index_map(module_, from, k, output);
    if (!map) return std::nullopt;
    Dims out(map->operand_dims.size(), -1);
    for (size_t dim = 0; dim < map->result_dims.size(); ++dim) {
      if (taken.sizes[dim] == map->result_dims[dim]) continue;
      const auto number = static_cast<int64_t>(dim);
      for (const IndexGuard& guard : map->guards)
        if (mentions(guard.expression, number)) return std::nullopt;
      for (const IndexSymbol& symbol : map->symbols)
        for (const IndexExpression& index : symbol.index)
          if (mentions(index, number)) return std::nullopt;
      for (size_t d = 0; d < map->index.size(); ++d) {
        if (!mentions(map->index[d], number)) continue;
        if (!is_result_dim(map->index[d], number) || map->operand_dims[d] != map->result_dims[dim])
          return std::nullopt;
        out[d] = number;
      }
    }
    return out;
  }

  static bool mentions(const IndexExpression& expression, int64_t dim) {
    return std::ranges::any_of(expression.terms, [&](const IndexTerm& term) {
      return (term.kind == IndexTerm::Kind::Result && term.number == dim) ||
             mentions(term.inner, dim);
    });
  }
  static bool is_result_dim(const IndexExpression& expression, int64_t dim) {
    return expression.constant == 0 && expression.terms.size() == 1 &&
           expression.terms[0] == IndexTerm{IndexTerm::Kind::Result, dim, 1, {}};
  }

  // Dimension d of the operand takes the start of dimension order[d] of the slice, or all.
  InstructionId sliced(InstructionId slice, InstructionId operand, const Dims& order,
                       const DeviceSlice& taken) {
    const Shape from = module_.shape(operand);
    Shape shape = Shape::array(from.type, from.dims);
    for (size_t d = 0; d < order.size(); ++d)
      if (order[d] >= 0) shape.dims[d] = taken.sizes[static_cast<size_t>(order[d])];
    if (shape.dims == from.dims) return operand;
    if (module_[slice].op == Op::Slice) {
      const SliceDims given = module_.attributes<SliceAttributes>(slice).slice;
      SliceDims dims;
      for (size_t d = 0; d < order.size(); ++d)
        dims.dims.push_back(order[d] < 0 ? SliceDim{0, from.dims[d], 1}
                                         : given.dims[static_cast<size_t>(order[d])]);
      return editor_.add(slice, Op::Slice, shape, std::array{operand}, SliceAttributes{dims});
    }
    std::vector<InstructionId> operands = {operand};
    const ElementType type = module_.shape(module_.operand(slice, 1)).type;
    for (const int64_t dim : order)
      operands.push_back(dim < 0 ? editor_.add_constant(slice, scalar_of(type, 0))
                                 : module_.operand(slice, static_cast<size_t>(1 + dim)));
    return editor_.add(slice, Op::DynamicSlice, shape, operands,
                       DynamicSliceAttributes{shape.dims});
  }

  InstructionId before_reshape(InstructionId slice, InstructionId from, const DeviceSlice& taken) {
    const InstructionId operand = module_.operand(from, 0);
    const Dims in = module_.shape(operand).dims, out = module_.shape(from).dims;
    if (element_count(module_.shape(from)) == 0) return {};
    Dims sizes = in;
    std::vector<Dims> starts(in.size());  // by device; empty: 0
    for (const SameElements& same : same_elements(in, out))
      if (!take_major(same, taken, in, out, sizes, starts)) return {};
    LocalCode code(editor_, slice);
    std::vector<InstructionId> operands;
    for (const Dims& dim : starts) {
      const bool is_same = dim.empty() || std::ranges::count(dim, dim[0]) == std::ssize(dim);
      std::vector<Dims> table;
      for (int64_t start : dim) table.push_back({start});
      operands.push_back(is_same ? code.number(dim.empty() ? 0 : dim[0]) : code.row(table)[0]);
    }
    const InstructionId part = code.dynamic_slice(operand, operands, sizes);
    return editor_.add(from, Op::Reshape, module_.shape(slice), std::array{part});
  }

  // Whether what is taken of the result's dimensions is a slice of the operand's, of its most major
  // one that has more than one index; which slice.
  static bool take_major(const SameElements& same, const DeviceSlice& taken, const Dims& in,
                         const Dims& out, Dims& sizes, std::vector<Dims>& starts) {
    const auto is_long = [](const Dims& dims) { return [&dims](size_t d) { return dims[d] > 1; }; };
    const auto cut =
        std::ranges::find_if(same.to, [&](size_t d) { return taken.sizes[d] < out[d]; });
    if (cut == same.to.end()) return true;
    const auto from = std::ranges::find_if(same.from, is_long(in));
    if (from == same.from.end() || std::ranges::find_if(same.to, is_long(out)) != cut) return false;
    if (std::any_of(cut + 1, same.to.end(), [&](size_t d) { return taken.sizes[d] < out[d]; }))
      return false;
    int64_t in_row = 1, out_row = 1;  // elements of one index
    for (auto d = from + 1; d != same.from.end(); ++d) in_row *= in[*d];
    for (auto d = cut + 1; d != same.to.end(); ++d) out_row *= out[*d];
    if (!taken.is_known(*cut) || taken.sizes[*cut] * out_row % in_row != 0) return false;
    sizes[*from] = taken.sizes[*cut] * out_row / in_row;
    for (int64_t start : taken.starts[*cut]) {
      if (start * out_row % in_row != 0) return false;
      starts[*from].push_back(start * out_row / in_row);
    }
    return true;
  }

  Module& module_;
  Editor editor_;
  DeviceValues values_;
};

}  // namespace

Result<bool> hoist_device_slices(Module& module, const PassOptions&) {
  return Hoister(module).run();
}

}  // namespace hilo
