#include "emit/op_functions.h"

#include <array>

namespace hilo {

const OpFunctions& functions_of(Op op) {
  static const std::array<OpFunctions, op_count> functions = {
#define HILO_FUNCTIONS_Elementwise(name) OpFunctions{scalar_##name, nullptr, nullptr, nullptr},
#define HILO_FUNCTIONS_Structural(name) \
  OpFunctions{nullptr, element_##name, write_##name, step_##name},
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_FUNCTIONS_##op_class(name)
#include "ir/ops.def"
#undef OP
#undef HILO_FUNCTIONS_Elementwise
#undef HILO_FUNCTIONS_Structural
  };
  return functions[static_cast<size_t>(op)];
}

}  // namespace hilo
