// Dimensions that stay side by side are one, so that loops are long. Of a transpose outside of
// fusions:
//
//   transpose(x), dimensions={3,0,1,2}  =>  reshape(transpose(reshape(x), dimensions={1,0}))
//
// tiles of [32,32,30,8] end every 30 elements, those of [30720,8] do not. And of the loop of a
// fusion, or of what moves places outside of fusions, whose rows are short:
//
//   f32[300,534,3] pad(x), padding=0_0x4_0x0_0  =>  reshape(f32[300,1602] pad(reshape(x), ...))
//
// so far that a row is long enough and that there are still rows for many threads. Up to four
// repeated places that a loop joins to an array become operands of their own first, since they
// would keep their dimension apart:
//
//   concatenate(x, broadcast(e))  =>  concatenate(x, reshape(e), reshape(e))
//
// Values are the same. Of windows, the places are as many times as far apart as rows are long:
//
//   f32[300,7] reduce-window(x, z), window={size=5x1 pad=2_2x0_0}
//     =>  reshape(f32[2100] reduce-window(reshape(x), z), window={size=5 pad=14_14 rhs_dilate=7})
//
// Assumes plain layouts; later passes may assume nothing. Stands after the fusion of loops,
// in which the reshapes would divide places.
#include "pass/pass.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "pass/layout/collapsible_dims.h"

namespace hilo {
namespace {

struct Merged {
  Dims from, order, to;  // of the operand, of the transpose, of its result
};

// Dimensions of one place are in no run.
Merged merged_dims(const Dims& from, const Dims& order) {
  struct Run {
    int64_t first, size;  // of the operand's dimensions
  };
  std::vector<Run> runs;
  int64_t next = -1;
  for (int64_t d : order) {
    const int64_t size = from[static_cast<size_t>(d)];
    if (size == 1) continue;
    if (d == next) runs.back().size *= size;
    else runs.push_back({d, size});
    for (next = d + 1; next < static_cast<int64_t>(from.size());) {
      if (from[static_cast<size_t>(next)] != 1) break;
      ++next;
    }
  }
  std::vector<Run> sorted = runs;
  std::ranges::sort(sorted, {}, &Run::first);
  Merged out;
  for (const Run& run : sorted) out.from.push_back(run.size);
  for (const Run& run : runs) {
    const auto at = std::ranges::find(sorted, run.first, &Run::first);
    out.order.push_back(at - sorted.begin());
    out.to.push_back(run.size);
  }
  return out;
}

// Of a transpose; nothing where it has no runs.
InstructionId merged_transpose(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  const Shape shape = module.shape(id), from = module.shape(module.operand(id, 0));
  if (!shape.is_array() || shape.has_dynamic_dims() || element_count(shape) == 0) return {};
  const Merged dims =
      merged_dims(from.dims, module.attributes<DimensionsAttributes>(id).dimensions);
  if (dims.from.size() < 2 || dims.from.size() == from.dims.size()) return {};
  InstructionId value = module.operand(id, 0);
  const auto add = [&](Op op, const Dims& to) {
    value = editor.add(id, op, Shape::array(shape.type, to), {&value, 1});
  };
  add(Op::Reshape, dims.from);
  value = editor.add(id, Op::Transpose, Shape::array(shape.type, dims.to), {&value, 1},
                     DimensionsAttributes{dims.order});
  add(Op::Reshape, shape.dims);
  return value;
}

// Rows of so many elements are long enough, and of so many are short for windows; of fewer rows
// than these there are too few for threads, which are given no less than so many elements.
constexpr int64_t long_row = 512, short_row = 256, min_rows = 16, shared_elements = 32768;
// Rows of so few elements are several times slower: that is worth being shared by fewer threads.
constexpr int64_t tiny_row = 16, min_tiny_rows = 4;

// Operands of a concatenation that are repeated, and of it then.
constexpr int64_t max_repeated = 4;
constexpr size_t max_operands = 8;

bool is_plain_array(const Shape& shape) {
  return shape.is_array() && !shape.has_dynamic_dims() && element_count(shape) > 0;
}

// Whether its elements lie in the order of those of its operands.
bool keeps_order(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  const bool is_splat = op == Op::Broadcast && module.shape(module.operand(id, 0)).dims.empty();
  return op == Op::Parameter || op == Op::Constant || op == Op::Reshape || is_splat ||
         is_elementwise(op);
}

// Whether there are more rows side by side than in the dimension before them, and not enough there.
bool are_more_rows(const Dims& dims, const Dims& merged) {
  const auto is_more = [](int64_t size) { return size > 1; };
  auto d = std::find_if(dims.rbegin(), dims.rend(), is_more);
  if (d == dims.rend() || merged.size() < 2) return false;
  d = std::find_if(std::next(d), dims.rend(), is_more);
  return d != dims.rend() && *d < long_row && merged[merged.size() - 2] > *d;
}

// Has the last run of the value end where it makes rows long enough. Whether rows are longer then,
// or tiny ones, of which a round of a loop does several, more.
bool lengthen_rows(const Module& module, CollapsibleDims& runs, InstructionId value) {
  const Dims& dims = module.shape(value).dims;
  const int64_t count = element_count(dims);
  size_t d = dims.size();
  int64_t row = 1, before = 0;
  while (d > 0 && row * dims[d - 1] == row) --d;
  if (d == 0 || dims[d - 1] >= long_row) return false;
  for (; d > 0; --d) {
    const int64_t longer = row * dims[d - 1], rows = count / longer;
    if (before == 0) before = longer;
    const bool is_shared =
        rows == 1 || count < shared_elements || rows >= (row < tiny_row ? min_tiny_rows : min_rows);
    if (d < dims.size() && (!runs.joins(value, d) || row >= long_row || !is_shared)) break;
    row = longer;
  }
  if (d > 0 && d < dims.size()) runs.cut(value, d);
  const Dims merged = runs.merged(value);
  if (merged.empty()) return false;
  return merged.back() > before || (merged.back() < tiny_row && are_more_rows(dims, merged));
}

// Of a reduce-window along dimension d, with dimensions behind it that have no windows and n
// places: along d and these as one, of places n times as far apart. Nothing where windows hold all
// of d, whose results are running ones, or rows are long already.
InstructionId merged_window(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  const Shape shape = module.shape(id), from = module.shape(module.operand(id, 0));
  if (!is_plain_array(shape) || !is_plain_array(from)) return {};
  ReduceWindowAttributes to = module.attributes<ReduceWindowAttributes>(id);
  std::vector<WindowDim>& dims = to.window.dims;
  size_t d = dims.size();
  int64_t behind = 1;
  while (d > 0 && dims[d - 1] == WindowDim{}) behind *= from.dims[--d];
  if (d-- == 0 || behind == 1 || behind > short_row || dims[d].size >= from.dims[d]) return {};
  if (dims[d].stride != 1 || dims[d].base_dilation != 1) return {};
  dims[d].window_dilation *= behind;
  dims[d].padding_low *= behind;
  dims[d].padding_high *= behind;
  dims.resize(d + 1);
  const auto merged = [&](Dims sizes) {
    sizes.resize(d + 1);
    sizes[d] *= behind;
    return Shape::array(shape.type, std::move(sizes));
  };
  std::array values = {module.operand(id, 0), module.operand(id, 1)};
  values[0] = editor.add(id, Op::Reshape, merged(from.dims), {&values[0], 1});
  const InstructionId windows =
      editor.add(id, Op::ReduceWindow, merged(shape.dims), values, std::move(to));
  return editor.add(id, Op::Reshape, shape, {&windows, 1});
}

// Whether it is made of reductions that keep the last dimension, whose columns are side by side.
bool is_of_slabs(const Module& module, ComputationId fused) {
  bool out = false;
  for (InstructionId id : module[fused].instructions) {
    if (module[id].removed || module[id].op != Op::Reduce) continue;
    const auto last = std::ssize(module.shape(module.operand(id, 0)).dims) - 1;
    if (std::ranges::count(module.attributes<ReduceAttributes>(id).dimensions, last) > 0)
      return false;
    out = true;
  }
  return out && module[module[fused].root].op != Op::Reduce;
}

// What the first reduction adds up where all of them reduce the last dimensions.
InstructionId elements_of_rows(const Module& module, ComputationId fused) {
  InstructionId out;
  for (InstructionId id : module[fused].instructions) {
    if (module[id].removed || module[id].op != Op::Reduce) continue;
    const InstructionId elements = module.operand(id, 0);
    const Dims &reduced = module.attributes<ReduceAttributes>(id).dimensions,
               &dims = module.shape(elements).dims;
    bool are_last = false;  // so far
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] > 1) {
        const bool is_reduced = std::ranges::count(reduced, static_cast<int64_t>(d)) > 0;
        if (are_last && !is_reduced) return {};
        are_last = is_reduced;
      }
    if (!are_last) return {};
    if (!out) out = elements;
  }
  return out;
}

class DimMerger {
 public:
  explicit DimMerger(Module& module)
      : module_(module), editor_(module), calls_(module.computations.size()) {
    for (const Instruction& each : module_.instructions)
      if (!each.removed && each.op == Op::Fusion)
        ++calls_[module_.attributes<FusionAttributes>(each).calls.value];
  }

  bool run() {
    bool changed = false;
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (module_[id].removed || calls_[module_[id].computation.value] > 0) continue;
      if (editor_.is_pinned(id)) continue;
      const InstructionId value = merged(id);
      if (!value || !editor_.can_replace(id, value)) continue;
      editor_.replace(id, value);
      changed = true;
    }
    return changed;
  }

 private:
  // The same value of fewer dimensions, reshaped, or nothing.
  InstructionId merged(InstructionId id) {
    const Op op = module_[id].op;
    if (op == Op::Transpose) return merged_transpose(editor_, id);
    if (op == Op::ReduceWindow) return merged_window(editor_, id);
    if (op == Op::Fusion) return merged_fusion(id);
    return has_trait(op, TraitByDimension) ? merged_mover(id) : InstructionId{};
  }

  bool has_plain_arrays(InstructionId id) const {
    return is_plain_array(module_.shape(id)) &&
           std::ranges::all_of(module_.operands(id), [&](InstructionId operand) {
             return is_plain_array(module_.shape(operand));
           });
  }

  InstructionId reshaped(InstructionId like, InstructionId value, const Dims& dims) {
    const ElementType type = module_.shape(value).type;
    if (module_.shape(value).dims == dims) return value;
    return editor_.add(like, Op::Reshape, Shape::array(type, dims), {&value, 1});
  }

  InstructionId merged_mover(InstructionId id) {
    if (!has_plain_arrays(id) || keeps_order(module_, id)) return {};
    CollapsibleDims runs(module_, {&id, 1});
    if (!lengthen_rows(module_, runs, id)) return {};
    const Dims dims = module_.shape(id).dims;
    const InstructionId copy = copy_of(id, id, runs);
    runs.merge_attributes(id, module_, copy);
    return reshaped(id, copy, dims);
  }

  // With operands and result of the runs of those of `value` and of what it gets from outside.
  InstructionId copy_of(InstructionId id, InstructionId value, const CollapsibleDims& runs) {
    const std::vector<InstructionId> old(module_.operands(id).begin(), module_.operands(id).end());
    std::vector<InstructionId> operands;
    for (size_t i = 0; i < old.size(); ++i)
      operands.push_back(reshaped(id, old[i], runs.merged(inner_operand(id, i))));
    const Shape shape = Shape::array(module_.shape(id).type, runs.merged(value));
    const InstructionId copy = editor_.clone(id, module_[id].computation, operands);
    set_merged_shape(copy, shape);
    return copy;
  }

  // A sharding counts dimensions that are no longer there.
  void set_merged_shape(InstructionId id, const Shape& shape) {
    if (shape.rank() != module_.shape(id).rank() && module_[id].extra)
      module_.mutable_extra(id).sharding = nullptr;
    editor_.set_shape(id, shape);
  }

  // A fused computation knows its operands as parameters.
  InstructionId inner_operand(InstructionId id, size_t i) const {
    if (module_[id].op != Op::Fusion) return module_.operand(id, i);
    return module_[module_.attributes<FusionAttributes>(id).calls].parameters[i];
  }

  // concatenate(a, broadcast(b))  =>  concatenate(a, b, b)   of few places along the dimension of
  // concatenation, which is not told apart from those behind it then, where these are short.
  void repeat_short_operands(InstructionId id) {
    if (module_[id].op != Op::Concatenate) return;
    const DimensionsAttributes along = module_.attributes<DimensionsAttributes>(id);
    const auto dim = static_cast<size_t>(along.dimensions[0]);
    const Shape shape = module_.shape(id);
    const int64_t behind = std::accumulate(shape.dims.begin() + along.dimensions[0] + 1,
                                           shape.dims.end(), int64_t{1}, std::multiplies());
    if (behind == 1 || behind >= long_row) return;
    const std::vector<InstructionId> old(module_.operands(id).begin(), module_.operands(id).end());
    std::vector<InstructionId> operands;
    for (InstructionId operand : old) {
      Dims dims = module_.shape(operand).dims;
      const int64_t times = std::exchange(dims[dim], 1);
      InstructionId one = repeated_along(operand, along.dimensions[0]);
      if (one && times <= max_repeated) {
        one = editor_.add(id, Op::Reshape, Shape::array(shape.type, dims), {&one, 1});
        operands.insert(operands.end(), static_cast<size_t>(times), one);
      } else {
        operands.push_back(operand);
      }
    }
    if (operands.size() > old.size() && operands.size() <= max_operands)
      editor_.replace(id, editor_.add(id, Op::Concatenate, shape, operands, along));
  }
  // What a broadcast along this dimension alone is of, or nothing.
  InstructionId repeated_along(InstructionId id, int64_t dim) const {
    if (module_[id].op != Op::Broadcast) return {};
    const Dims& kept = module_.attributes<DimensionsAttributes>(id).dimensions;
    const bool is_along = kept.size() + 1 == module_.shape(id).dims.size() &&
                          std::ranges::is_sorted(kept) && std::ranges::count(kept, dim) == 0;
    return is_along ? module_.operand(id, 0) : InstructionId{};
  }

  InstructionId merged_fusion(InstructionId id) {
    const FusionAttributes& fusion = module_.attributes<FusionAttributes>(id);
    const ComputationId fused = fusion.calls;
    const InstructionId of_rows = elements_of_rows(module_, fused);
    const bool may_be = fusion.kind == FusionKind::Loop || of_rows || is_of_slabs(module_, fused);
    if (!may_be || !has_plain_arrays(id) || calls_[fused.value] != 1) return {};
    if (fusion.kind == FusionKind::Loop) repeat_short_operands(module_[fused].root);
    std::vector<InstructionId> instructions;
    std::ranges::copy_if(module_[fused].instructions, std::back_inserter(instructions),
                         [&](InstructionId each) { return !module_[each].removed; });
    bool keeps = true;
    for (InstructionId each : instructions) {
      if (!is_plain_array(module_.shape(each))) return {};
      keeps &= keeps_order(module_, each);
    }
    if (keeps) return {};
    CollapsibleDims runs(module_, instructions);
    const InstructionId root = module_[fused].root;
    if (!lengthen_rows(module_, runs, of_rows ? of_rows : root)) return {};
    const Dims dims = module_.shape(id).dims;
    const InstructionId copy = copy_of(id, root, runs);
    merge_all(instructions, runs);
    return reshaped(id, copy, dims);
  }

  void merge_all(const std::vector<InstructionId>& instructions, const CollapsibleDims& runs) {
    std::vector<Shape> shapes;
    for (InstructionId each : instructions) {
      runs.merge_attributes(each, module_, each);
      shapes.push_back(Shape::array(module_.shape(each).type, runs.merged(each)));
    }
    for (size_t i = 0; i < instructions.size(); ++i) set_merged_shape(instructions[i], shapes[i]);
    for (InstructionId each : instructions)
      if (module_[each].op == Op::Reshape &&
          module_.shape(each).dims == module_.shape(module_.operand(each, 0)).dims &&
          editor_.can_replace(each, module_.operand(each, 0)))
        editor_.replace(each, module_.operand(each, 0));
  }

  Module& module_;
  Editor editor_;
  std::vector<int> calls_;  // by fusions, of each computation
};

}  // namespace

Result<bool> collapse_dims(Module& module, const PassOptions&) { return DimMerger(module).run(); }

}  // namespace hilo
