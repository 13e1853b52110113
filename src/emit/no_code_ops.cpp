// Ops without code: their results lie where their operands do, or are no arrays.
#include "emit/op_functions.h"
#include "emit/steps.h"

namespace hilo {

Result<void> step_Parameter(Steps&, InstructionId) { return {}; }
Result<void> step_Constant(Steps&, InstructionId) { return {}; }
Result<void> step_Tuple(Steps&, InstructionId) { return {}; }
Result<void> step_GetTupleElement(Steps&, InstructionId) { return {}; }
Result<void> step_Bitcast(Steps&, InstructionId) { return {}; }
Result<void> step_OptimizationBarrier(Steps&, InstructionId) { return {}; }
Result<void> step_AddDependency(Steps&, InstructionId) { return {}; }
Result<void> step_AfterAll(Steps&, InstructionId) { return {}; }
Result<void> step_Domain(Steps&, InstructionId) { return {}; }

llvm::Value* element_OptimizationBarrier(ElementEmitter& e, InstructionId id, const Index& index,
                                         size_t leaf) {
  return e.at(e.module.operand(id, 0), index, leaf);
}

}  // namespace hilo
