#include "pass/fuse/fusible_producer.h"

#include <algorithm>

#include "pass/dense_arrays.h"
#include "pass/fuse/groups.h"

namespace hilo {
namespace {

bool is_computed_per_element(const Module& module, InstructionId inside) {
  static constexpr Op others[] = {Op::Dot,       Op::Fusion, Op::DynamicUpdateSlice,
                                  Op::Transpose, Op::Tuple,  Op::ReduceWindow};
  const Op op = module[inside].op;
  if (op != Op::Reduce) return std::ranges::find(others, op) == std::end(others);
  const InstructionId from = module.operand(inside, 0);
  return module[inside].operand_count == 2 &&
         element_count(module.shape(from)) <= short_reduction * element_count(module.shape(inside));
}

}  // namespace

bool is_elementwise_producer(const Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  if (!is_unpinned_dense_array(editor, id)) return false;
  const InstructionId made = is_output_of_fusion(module, id) ? module.operand(id, 0) : id;
  if (module[made].op != Op::Fusion)
    return is_elementwise(module[made].op) &&
           std::ranges::all_of(module.operands(made), [&](InstructionId operand) {
             return is_unpinned_dense_array(editor, operand);
           });
  const auto& fusion = module.attributes<FusionAttributes>(made);
  const InstructionId root = module[fusion.calls].root;
  return fusion.kind != FusionKind::Output && !editor.is_pinned(made) &&
         std::ranges::all_of(module[fusion.calls].instructions, [&](InstructionId inside) {
           return (inside == root && made != id) || is_computed_per_element(module, inside);
         });
}

InstructionId clone_producer(Editor& editor, InstructionId id, ComputationId into,
                             std::span<const InstructionId> operands) {
  const Module& module = editor.module();
  if (module[id].op != Op::Fusion) return editor.clone(id, into, operands);
  return editor.clone_body(module.attributes<FusionAttributes>(id).calls, into, operands);
}

bool is_output_of_fusion(const Module& module, InstructionId id) {
  return module[id].op == Op::GetTupleElement && module[module.operand(id, 0)].op == Op::Fusion;
}

}  // namespace hilo
