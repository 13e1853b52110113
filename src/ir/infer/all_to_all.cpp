#include "ir/infer/infer.h"

namespace hilo {

// Array form: pieces along one dimension change places. Tuple form: one operand for each device.
Result<Shape> infer_AllToAll(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  HILO_DO(need_arrays(given));
  const auto& dims = given.attributes<AllToAllAttributes>().dimensions;
  if (!dims) {
    for (size_t i = 1; i < given.count(); ++i)
      if (!same_dims(given.operand(i), given.operand(0)))
        return misfit("operands have different shapes: {} and {}", text(given.operand(0)),
                      text(given.operand(i)));
    return infer_Tuple(given);
  }
  if (given.count() != 1) return misfit("expected 1 operand, found {}", given.count());
  if (dims->size() != 1)
    return misfit("expected one dimension, found dimensions={}", braced(*dims));
  HILO_DO(need_in_range("dimension", (*dims)[0], 0, given.operand(0).rank()));
  return given.operand(0);
}

// Input, output, input offsets, send sizes, output offsets, receive sizes.
Result<Shape> infer_RaggedAllToAll(const Given& given) {
  HILO_DO(need_arrays(given));
  for (size_t i = 2; i < 6; ++i)
    if (const Shape& shape = given.operand(i); !is_integral(shape.type) || shape.rank() < 1)
      return misfit("expected an integer array as operand {}, found {}", i, text(shape));
  if (given.operand(0).type != given.operand(1).type)
    return misfit("input and output have different element types: {} and {}",
                  text(given.operand(0)), text(given.operand(1)));
  return given.operand(1);
}

}  // namespace hilo
