// Matrix products and convolutions of floats of 8 and fewer bits read bf16 instead, which holds
// them exactly.
//   dot(x, y) => dot(convert(x), convert(y))
// The products of two such numbers are exact in f32 either way, so that the bits are the same
// but for the signs of NaN.
// Assumes nothing. Later passes may assume that no such operand is left but f8e8m0fnu, whose least
// numbers are no normal bf16. Before fusion, so that what makes the operands makes them so.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

bool is_widened(const Shape& shape) {
  return is_plain(shape) && is_static(shape) && is_floating(shape.type) &&
         bits_of(shape.type) <= 8 && shape.type != ElementType::F8E8M0FNU;
}

bool widen_operands(Editor& editor, InstructionId id) {
  Module& module = editor.module();
  const auto given = module.operands(id);
  std::vector<InstructionId> operands(given.begin(), given.end());
  bool changed = false;
  for (InstructionId& operand : operands) {
    const Shape shape = module.shape(operand);
    if (!is_widened(shape)) continue;
    operand = editor.add(id, Op::Convert, Shape::array(ElementType::BF16, shape.dims),
                         std::array{operand});
    changed = true;
  }
  if (changed) editor.replace(id, editor.clone(id, module[id].computation, operands));
  return changed;
}

}  // namespace

Result<bool> widen_narrow_operands(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : operands_first(module, computation))
      if (!module[id].removed && !editor.is_pinned(id) &&
          (module[id].op == Op::Dot || module[id].op == Op::Convolution))
        changed |= widen_operands(editor, id);
  return changed;
}

}  // namespace hilo
