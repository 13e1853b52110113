// Custom calls of TPU modules that see the bytes that layouts put into memory
// (docs/custom-calls.md). Padding is zeros.
#include "eval/custom_call.h"

namespace hilo {
namespace {

Result<void> need_bytes(const Call& call, int64_t bytes) {
  if (!call.shape().is_array()) return call.error(ErrorKind::Shape, "expected an array as result");
  if (const int64_t stated = padded_bytes(call.shape()); bytes != stated)
    return call.error(ErrorKind::Shape,
                      fmt::format("{} bytes of operands in memory for a result {} of {} bytes",
                                  bytes, to_string(call.shape()), stated));
  return {};
}

// In the layout that the module states.
StepValue operand_in_memory(Call& call, size_t i) {
  return {call.operands[i], call.module.shape(call.module.operand(call.id, i))};
}

Shape row_of_bytes(int64_t count) { return Shape::array(ElementType::U8, {count}); }

}  // namespace

// The operands' bytes one after the other.
Result<Literal> call_concat_bitcast(Call& call) {
  if (call.operands.empty()) return call.error(ErrorKind::Shape, "has no operand");
  Steps steps(call);
  std::vector<StepValue> rows;
  int64_t total = 0;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    StepValue operand = operand_in_memory(call, i);
    if (!operand.shape.is_array())
      return call.error(ErrorKind::Shape, fmt::format("expected an array as operand {}", i));
    const int64_t bytes = padded_bytes(operand.shape);
    rows.push_back(steps.op(Op::Bitcast, row_of_bytes(bytes), {std::move(operand)}));
    total += bytes;
  }
  HILO_DO(need_bytes(call, total));
  StepValue joined = steps.op(Op::Concatenate, row_of_bytes(total), std::move(rows),
                              DimensionsAttributes{Dims{0}});
  return steps.finish({steps.op(Op::Bitcast, call.shape(), {std::move(joined)})});
}

// What lies outside the operand's sizes is zeros, where a chip has left anything there.
Result<Literal> call_zero_crop(Call& call) {
  if (call.operands.size() != 1 || !call.operands[0].shape().is_array())
    return call.error(ErrorKind::Shape, "expected one array as operand");
  Steps steps(call);
  StepValue operand = operand_in_memory(call, 0);
  HILO_DO(need_bytes(call, padded_bytes(operand.shape)));
  return steps.finish({steps.op(Op::Bitcast, call.shape(), {std::move(operand)})});
}

}  // namespace hilo
