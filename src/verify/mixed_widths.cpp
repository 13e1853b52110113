#include "verify/report.h"

namespace hilo {

std::vector<InstructionId> find_mixed_widths(const Module& module) {
  std::vector<InstructionId> out;
  for (const Computation& computation : module.computations)
    for (InstructionId id : computation.instructions)
      if (!module[id].removed && widened_shapes(module, module[id])) out.push_back(id);
  return out;
}

Error mixed_width(const Module& module, InstructionId id) {
  std::string operands;
  for (InstructionId operand : module.operands(id))
    operands += (operands.empty() ? "" : ", ") + shown(module.shape(operand));
  return {ErrorKind::Shape,
          fmt::format("expected one width of floats, found {} of {}", shown(module.shape(id)),
                      operands),
          module.place(id)};
}

}  // namespace hilo
