#include "verify/report.h"

namespace hilo {

// Not injective, and layouts may change; the arrays are the same.
void verify_output_aliases(const Subject& subject, const OutputOperandAliases& aliases) {
  for (const OutputOperandAlias& alias : aliases) {
    const Shape* output = shape_at(subject.shape(), alias.output_index);
    if (!output)
      return subject.fault(fmt::format("output_to_operand_aliasing: no output {} in {}",
                                       listed(alias.output_index), shown(subject.shape())));
    if (alias.operand < 0 || alias.operand >= static_cast<int64_t>(subject.count()))
      return subject.fault(fmt::format("output_to_operand_aliasing: no operand {}", alias.operand));
    const Shape* operand = shape_at(subject.operand(alias.operand), alias.operand_index);
    if (!operand)
      return subject.fault(fmt::format("output_to_operand_aliasing: no part {} in operand {}",
                                       listed(alias.operand_index), alias.operand));
    if (!fits(*output, *operand))
      return subject.fault(
          fmt::format("output_to_operand_aliasing: output {} is {}, operand {} {} is {}",
                      listed(alias.output_index), shown(*output), alias.operand,
                      listed(alias.operand_index), shown(*operand)));
  }
}

}  // namespace hilo
