#include "emit/op_functions.h"
#include "emit/steps.h"

namespace hilo {

// Arguments and results lie where the callee's parameters and root do.
Result<void> step_Call(Steps& steps, InstructionId id) {
  const ComputationId callee = steps.module.attributes<CallAttributes>(id).to_apply;
  HILO_TRY(llvm::Function * function, emit_computation(steps.program, callee));
  steps.call_checked(function);
  return {};
}

}  // namespace hilo
