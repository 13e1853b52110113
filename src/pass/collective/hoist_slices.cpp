// Takes slices of devices as near to collectives as they go.
//   dynamic-slice(f(all-reduce(x), y)) => f(dynamic-slice(all-reduce(x)), dynamic-slice(y))
// f elementwise, a transpose, or a reshape that keeps the sliced dimension or has it as the most
// major one of those that it splits or joins. Only where the way leads to a collective through
// values that nobody else uses; so less is computed, and collectives see what is needed of them.
// Assumes nothing. Before what looks for slices of collectives.
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
    if (!leads_to_collective(from)) return false;
    const auto taken = device_slice(module_, slice, values_);
    if (!taken) return false;
    const InstructionId value = moved(slice, from, *taken);
    if (!value) return false;
    editor_.set_shape(value, module_.shape(slice));
    editor_.replace(slice, value);
    return true;
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
      } else if (is_elementwise(op) || op == Op::Reshape || op == Op::Transpose || op == Op::Copy) {
        for (InstructionId operand : module_.operands(id)) stack.push_back(operand);
      }
    }
    return false;
  }

  // What the slice of `from` is, or none where it cannot be said before it.
  InstructionId moved(InstructionId slice, InstructionId from, const DeviceSlice& taken) {
    const Op op = module_[from].op;
    if (op == Op::Reshape) return before_reshape(slice, from, taken);
    if (op == Op::Transpose) return before_transpose(slice, from, taken);
    if (!is_elementwise(op) && op != Op::Copy) return {};
    const Shape whole = module_.shape(from);
    std::vector<InstructionId> operands;
    for (InstructionId operand :
         std::vector(module_.operands(from).begin(), module_.operands(from).end())) {
      const Shape shape = module_.shape(operand);
      if (same_dims(Shape::array(whole.type, shape.dims), Shape::array(whole.type, whole.dims)))
        operand = sliced(slice, operand, {}, taken.sizes);
      operands.push_back(operand);
    }
    return editor_.clone(from, module_[slice].computation, operands);
  }

  // Dimension d of the operand takes the start of dimension order[d] of the slice; an empty order
  // is that of the slice.
  InstructionId sliced(InstructionId slice, InstructionId operand, const Dims& order, Dims sizes) {
    const Shape from = module_.shape(operand);
    const Shape shape = Shape::array(from.type, sizes);
    const auto dim_of = [&](size_t d) { return order.empty() ? d : static_cast<size_t>(order[d]); };
    if (module_[slice].op == Op::Slice) {
      const SliceDims given = module_.attributes<SliceAttributes>(slice).slice;
      SliceDims dims;
      for (size_t d = 0; d < sizes.size(); ++d) dims.dims.push_back(given.dims[dim_of(d)]);
      return editor_.add(slice, Op::Slice, shape, std::array{operand}, SliceAttributes{dims});
    }
    std::vector<InstructionId> operands = {operand};
    for (size_t d = 0; d < sizes.size(); ++d)
      operands.push_back(module_.operand(slice, 1 + dim_of(d)));
    return editor_.add(slice, Op::DynamicSlice, shape, operands, DynamicSliceAttributes{sizes});
  }

  InstructionId before_transpose(InstructionId slice, InstructionId from,
                                 const DeviceSlice& taken) {
    const DimensionsAttributes attributes = module_.attributes<DimensionsAttributes>(from);
    Dims order(attributes.dimensions.size()), sizes(order.size());
    for (size_t d = 0; d < order.size(); ++d) {
      order[static_cast<size_t>(attributes.dimensions[d])] = static_cast<int64_t>(d);
      sizes[static_cast<size_t>(attributes.dimensions[d])] = taken.sizes[d];
    }
    const InstructionId part = sliced(slice, module_.operand(from, 0), order, sizes);
    return editor_.add(from, Op::Transpose, module_.shape(slice), std::array{part}, attributes);
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
