#include "ir/infer/infer.h"

namespace hilo {
namespace {

// One gathered operand: `stated` is a whole number of times as large along the dimension. How many
// times, is the size of the replica groups, which the verifier compares.
Result<Shape> gathered(const Shape& from, const Shape& stated, int64_t dim) {
  if (!from.is_array()) return misfit("expected an array, found {}", text(from));
  HILO_DO(need_in_range("dimension", dim, 0, from.rank()));
  Shape out = make_array(from.type, from.dims, from.dynamic);
  if (!stated.is_array() || stated.rank() != from.rank()) return out;
  const int64_t size = from.dims[dim];
  if (size != 0 ? stated.dims[dim] % size != 0 : stated.dims[dim] != 0)
    return misfit("dimension {} of {} is not a multiple of that of {}", dim, text(stated),
                  text(from));
  out.dims[dim] = stated.dims[dim];
  return out;
}

Result<Shape> gathered_operands(const Given& given, const Shape& stated) {
  HILO_DO(need_count_at_least(given, 1));
  const Dims& dims = given.attributes<AllGatherAttributes>().dimensions;
  if (dims.size() != 1) return misfit("expected one dimension, found dimensions={}", braced(dims));
  if (given.count() == 1 && !stated.is_tuple()) return gathered(given.operand(0), stated, dims[0]);
  if (stated.elements.size() != given.count())
    return misfit("expected {} results, found {}", given.count(), text(stated));
  std::vector<Shape> out(given.count());
  for (size_t i = 0; i < out.size(); ++i) {
    HILO_TRY(out[i], gathered(given.operand(i), stated.elements[i], dims[0]));
  }
  return Shape::tuple(std::move(out));
}

}  // namespace

Result<Shape> infer_AllGather(const Given& given) {
  HILO_TRY(const Shape stated, need_stated(given));
  return gathered_operands(given, stated);
}

// (operand, result, contexts...), the first two tuples when there are several.
Result<Shape> infer_AllGatherStart(const Given& given) {
  HILO_TRY(Shape out, need_stated(given));
  if (!out.is_tuple() || out.elements.size() < 2)
    return misfit("expected (operand, result), found {}", text(out));
  HILO_TRY(out.elements[1], gathered_operands(given, out.elements[1]));
  HILO_TRY(const Shape operands, infer_Tuple(given));
  out.elements[0] = given.count() == 1 && !out.elements[0].is_tuple() ? given.operand(0) : operands;
  return out;
}

Result<Shape> infer_AllGatherDone(const Given& given) {
  const Shape& start = given.operand(0);
  if (start.is_tuple() && start.elements.size() >= 2) return start.elements[1];
  return misfit("expected (operand, result), found {}", text(start));
}

}  // namespace hilo
