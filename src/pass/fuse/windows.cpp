// What a reduce-window may compute itself: arrays of which each element is in one window at most,
// or is added once to running results.
#include <algorithm>

#include "pass/fuse/groups.h"

namespace hilo {
namespace {

// Whether windows along a dimension hold everything up to their place, or from it on.
bool is_running(const WindowDim& dim, int64_t size, int64_t results) {
  return dim.stride == 1 && dim.window_dilation == 1 && dim.size >= size && results == size &&
         (dim.padding_low == 0 || dim.size - dim.padding_low == 1);
}

bool is_apart(const WindowDim& dim) {
  return dim.size == 1 || dim.stride > (dim.size - 1) * dim.window_dilation;
}

// Whether results that lie side by side read elements that do.
bool reads_in_order(const Module& module, InstructionId windows) {
  const auto& dims = module.attributes<ReduceWindowAttributes>(windows).window.dims;
  const Dims& results = module.shape(windows).dims;
  for (size_t d = dims.size(); d-- > 0;)
    if (results[d] != 1) return dims[d].size == 1 && dims[d].stride == 1;
  return false;
}

// Whether results run down lines, which are read as one piece of memory: an index of them would
// take a division for each element.
bool runs_down_lines(const Module& module, InstructionId windows) {
  const auto& dims = module.attributes<ReduceWindowAttributes>(windows).window.dims;
  const Dims& results = module.shape(windows).dims;
  bool is_behind = false, out = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    out = out || (is_behind && results[d] != 1);
    is_behind = is_behind || !is_apart(dims[d]);
  }
  return out;
}

// Whether its elements are made at places, not found at one position of memory.
bool needs_index(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  if (op == Op::Broadcast) return !module.shape(module.operand(id, 0)).is_scalar();
  return op == Op::Iota || op == Op::Reshape;
}

// Whether the cheap ops that a value is made of read several arrays, some of them made by costly
// ops: they are better made with these, as vectors, than by themselves of what is stored then.
bool is_computed_from_several_costly(const Module& module, InstructionId value) {
  std::vector<InstructionId> seen = {value};
  size_t arrays = 0, costly = 0;
  for (size_t i = 0; i < seen.size() && seen.size() < SearchBudget::max_visited; ++i) {
    const Op op = module[seen[i]].op;
    if (is_sourceless(module, seen[i]) || module.shape(seen[i]).is_scalar()) continue;
    if (!is_elementwise(op) || !has_trait(op, TraitCheap)) {
      ++arrays;
      costly += is_elementwise(op) ? 1 : 0;
      continue;
    }
    for (InstructionId operand : module.operands(seen[i]))
      if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
  }
  return arrays > 1 && costly > 0;
}

}  // namespace

bool reads_each_once(const Module& module, InstructionId windows) {
  if (module[windows].operand_count != 2 || !module.shape(windows).is_array()) return false;
  const auto& dims = module.attributes<ReduceWindowAttributes>(windows).window.dims;
  const Dims &from = module.shape(module.operand(windows, 0)).dims,
             &to = module.shape(windows).dims;
  if (dims.size() != from.size() || element_count(to) == 0 ||
      std::ranges::any_of(dims, [](const WindowDim& dim) { return dim.base_dilation != 1; }))
    return false;
  if (std::ranges::all_of(dims, is_apart)) return true;
  size_t others = 0;
  bool runs = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == WindowDim{}) continue;
    ++others;
    runs = is_running(dims[d], from[d], to[d]);
  }
  return others == 1 && runs;
}

bool can_fuse_windows(const Module& module, InstructionId windows, InstructionId id) {
  const Op op = module[id].op;
  const bool has_index = !runs_down_lines(module, windows);
  if (is_elementwise(op))
    return (reads_in_order(module, windows) ||
            (has_trait(op, TraitCheap) && !is_computed_from_several_costly(module, id))) &&
           (has_index || std::ranges::none_of(module.operands(id), [&](InstructionId operand) {
              return needs_index(module, operand);
            }));
  if (op == Op::Reshape) return has_index && is_degenerate_reshape(module, id);
  return op == Op::Constant ||
         ((op == Op::Broadcast || op == Op::Iota) && (has_index || !needs_index(module, id)));
}

}  // namespace hilo
