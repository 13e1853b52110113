// A map whose computation is made of elementwise ops becomes these ops on whole arrays.
//   map(x, y), to_apply=f => f's ops with arrays for scalars
// Assumes nothing. Later passes may assume that maps are left only where their computation does
// more. Early, because rules and fusion know elementwise ops and not maps.
#include <algorithm>

#include "pass/expand/map.h"

namespace hilo {
bool is_mappable(const Module& module, ComputationId computation) {
  return std::ranges::all_of(module[computation].instructions, [&](InstructionId id) {
    const Instruction& instruction = module[id];
    if (instruction.op == Op::Tuple && id == module[computation].root) return true;
    const bool known = is_elementwise(instruction.op) || instruction.op == Op::Parameter ||
                       (instruction.op == Op::Constant && constant_of(module, id));
    return known && module.shape(id).is_scalar() &&
           module.extra(instruction).control_predecessors.empty();
  });
}

std::vector<InstructionId> map_arrays(Editor& editor, InstructionId like, ComputationId computation,
                                      std::span<const InstructionId> arrays) {
  Module& module = editor.module();
  const Dims dims = module.shape(arrays[0]).dims;
  const InstructionId root = module[computation].root;
  std::unordered_map<uint32_t, InstructionId> copies;
  for (InstructionId id : operands_first(module, computation)) {
    if (module[id].op == Op::Tuple) continue;
    const Shape shape = Shape::array(module.shape(id).type, dims);
    InstructionId& copy = copies[id.value];
    if (module[id].op == Op::Parameter) {
      copy = arrays[static_cast<size_t>(module.attributes<ParameterAttributes>(id).number)];
    } else if (const Literal* literal = constant_of(module, id)) {
      copy = editor.add_splat(like, shape, Literal(*literal));
    } else {
      std::vector<InstructionId> operands;
      for (InstructionId operand : module.operands(id)) operands.push_back(copies[operand.value]);
      copy = editor.clone(id, module[like].computation, operands);
      editor.set_shape(copy, shape);
    }
  }
  if (module[root].op != Op::Tuple) return {copies[root.value]};
  std::vector<InstructionId> out;
  for (InstructionId element : module.operands(root)) out.push_back(copies[element.value]);
  return out;
}

Result<bool> inline_maps(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : operands_first(module, computation)) {
      if (module[id].op != Op::Map || module[id].removed || editor.is_pinned(id) ||
          !is_plain(module.shape(id)) || !is_static(module.shape(id)))
        continue;
      const auto operands = module.operands(id);
      const bool plain = std::ranges::all_of(
          operands, [&](InstructionId operand) { return is_plain(module.shape(operand)); });
      if (!plain || !is_mappable(module, module.attributes<MapAttributes>(id).to_apply)) continue;
      const std::vector<InstructionId> arrays(operands.begin(), operands.end());
      const InstructionId result =
          map_arrays(editor, id, module.attributes<MapAttributes>(id).to_apply, arrays)[0];
      if (!editor.can_replace(id, result)) continue;
      editor.replace(id, result);
      changed = true;
    }
  return changed;
}

}  // namespace hilo
