#include "verify/report.h"

namespace hilo {

namespace {

// The same bytes of memory hold either: arrays of one type and sizes, whose order may differ, or as
// many bytes in the layouts that are stated, padding included.
bool may_lie_over(const Shape& output, const Shape& operand) {
  if (fits(output, operand)) return true;
  if (!output.is_array() || !operand.is_array()) return false;
  for (const Shape* shape : {&output, &operand})
    if (!shape->has_layout || !is_static(*shape) || !layout_fault(*shape).empty()) return false;
  return padded_bytes(output) == padded_bytes(operand);
}

std::string shown_with_bytes(const Shape& shape) {
  if (!shape.is_array() || !shape.has_layout || !is_static(shape) || !layout_fault(shape).empty())
    return shown(shape);
  return fmt::format("{} of {} bytes", to_string(shape), padded_bytes(shape));
}

}  // namespace

// Not injective.
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
    if (!may_lie_over(*output, *operand))
      return subject.fault(
          fmt::format("output_to_operand_aliasing: output {} is {}, operand {} {} is {}",
                      listed(alias.output_index), shown_with_bytes(*output), alias.operand,
                      listed(alias.operand_index), shown_with_bytes(*operand)));
  }
}

}  // namespace hilo
