#include "eval/routine.h"

#include <array>

namespace hilo {
namespace {

FindRoutine routine_function(Op op) {
  static const std::array<FindRoutine, op_count> functions = {
#define HILO_ROUTINE_Elementwise(name) nullptr
#define HILO_ROUTINE_Structural(name) routine_##name
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_ROUTINE_##op_class(name),
#include "ir/ops.def"
#undef OP
#undef HILO_ROUTINE_Elementwise
#undef HILO_ROUTINE_Structural
  };
  return functions[static_cast<size_t>(op)];
}

}  // namespace

Routine find_routine(const Module& module, InstructionId id, const EvalOptions& options) {
  const FindRoutine make = routine_function(module[id].op);
  if (!make || options.ideal_floats || !is_static(module.shape(id))) return {};
  for (InstructionId operand : module.operands(id))
    if (!is_static(module.shape(operand))) return {};
  return make(RoutineCall{module, id, options});
}

}  // namespace hilo
