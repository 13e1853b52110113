#include "emit/op_functions.h"
#include "emit/steps.h"

namespace hilo {

// Arguments and results lie where the callee's parameters and root do.
Result<void> step_Call(Steps& steps, InstructionId id) {
  return steps.emit_called(steps.module.attributes<CallAttributes>(id).to_apply);
}

}  // namespace hilo
