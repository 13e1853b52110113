#include "target/merged_dims.h"

#include <algorithm>

#include "target/fused_computations.h"

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

InstructionId merged(Editor& editor, InstructionId id) {
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

}  // namespace

Result<bool> merge_transposed_dims(Module& module, const PassOptions&) {
  const std::vector<bool> fused = fused_computations(module);
  Editor editor(module);
  bool changed = false;
  const size_t count = module.instructions.size();
  for (size_t i = 0; i < count; ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed || module[id].op != Op::Transpose || editor.is_pinned(id)) continue;
    if (fused[module[id].computation.value]) continue;
    const InstructionId value = merged(editor, id);
    if (!value || !editor.can_replace(id, value)) continue;
    editor.replace(id, value);
    changed = true;
  }
  return changed;
}

}  // namespace hilo
