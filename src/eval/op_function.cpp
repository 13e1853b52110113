#include <array>

#include "eval/call.h"

namespace hilo {

OpFunction op_function(Op op) {
  static constexpr std::array<OpFunction, op_count> functions = {
#define HILO_FUNCTION_Elementwise(name) evaluate_elementwise
#define HILO_FUNCTION_Structural(name) evaluate_##name
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_FUNCTION_##op_class(name),
#include "ir/ops.def"
#undef OP
#undef HILO_FUNCTION_Elementwise
#undef HILO_FUNCTION_Structural
  };
  return functions[static_cast<size_t>(op)];
}

}  // namespace hilo
