// Ops without array operands: constants, counters, device ids, parameters.
#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Constant(const Given& given) {
  const LiteralRef& literal = given.attributes<ConstantAttributes>().literal;
  HILO_TRY(const Shape out, need_stated(given));
  if (!literal.literal) return misfit("a constant without a value");
  return literal.literal->shape();
}

Result<Shape> infer_Iota(const Given& given) {
  HILO_TRY(const Shape out, need_stated(given));
  if (!out.is_array() || out.rank() == 0 || out.type == ElementType::Pred)
    return misfit("iota gives an array of numbers of at least one dimension, found {}", text(out));
  HILO_DO(need_in_range("iota_dimension", given.attributes<IotaAttributes>().iota_dimension, 0,
                        out.rank()));
  return out;
}

Result<Shape> infer_Parameter(const Given& given) { return need_stated(given); }
Result<Shape> infer_PartitionId(const Given&) { return Shape::scalar(ElementType::U32); }
Result<Shape> infer_ReplicaId(const Given&) { return Shape::scalar(ElementType::U32); }

}  // namespace hilo
