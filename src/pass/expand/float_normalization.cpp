// Elementwise ops on floats narrower than 32 bits are computed in f32.
//   f(x, y) of bf16 => convert(f(convert(x), convert(y)))
// Rounding once after each op, as the evaluator does. Ops that only move or compare values, and
// convert itself, stay. Assumes nothing. Later passes may assume that arithmetic is on f32 and
// wider; algebra removes conversions there and back. Before fusion, where a back end computes no
// narrow floats.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

bool is_narrow(ElementType type) { return is_floating(type) && bits_of(type) < 32; }

// Ops that no precision matters to, or whose meaning is in it.
bool stays(Op op) { return !is_elementwise(op) || has_trait(op, TraitUnrounded); }

bool is_dense_static(const Module& module, InstructionId id) {
  return is_plain(module.shape(id)) && is_static(module.shape(id));
}

InstructionId widened(Editor& editor, InstructionId like, InstructionId value) {
  const Shape shape = editor.module().shape(value);
  if (!is_narrow(shape.type)) return value;
  return editor.add(like, Op::Convert, Shape::array(ElementType::F32, shape.dims),
                    std::array{value});
}

bool widen(Editor& editor, InstructionId id) {
  Module& module = editor.module();
  const auto given = module.operands(id);
  const std::vector<InstructionId> operands(given.begin(), given.end());
  const bool narrow = std::ranges::any_of(
      operands, [&](InstructionId operand) { return is_narrow(module.shape(operand).type); });
  const bool total = module[id].op == Op::Compare &&
                     module.attributes<CompareAttributes>(id).type == ComparisonType::TotalOrder;
  if (!narrow || total || editor.is_pinned(id) || !is_dense_static(module, id)) return false;
  std::vector<InstructionId> wide;
  for (InstructionId operand : operands) {
    if (!is_dense_static(module, operand)) return false;
    wide.push_back(widened(editor, id, operand));
  }
  const Shape shape = module.shape(id);
  const InstructionId computed = editor.clone(id, module[id].computation, wide);
  if (!is_narrow(shape.type)) {
    editor.replace(id, computed);
    return true;
  }
  editor.set_shape(computed, Shape::array(ElementType::F32, shape.dims));
  module[computed].extra = {};
  editor.replace(id, editor.add(id, Op::Convert, shape, std::array{computed}));
  return true;
}

}  // namespace

Result<bool> normalize_floats(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : operands_first(module, computation))
      if (!module[id].removed && !stays(module[id].op)) changed |= widen(editor, id);
  return changed;
}

}  // namespace hilo
