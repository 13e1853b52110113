#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<Shape> scattered(const Shape& from, const Shape& stated, int64_t dim) {
  HILO_DO(need_in_range("dimension", dim, 0, from.rank()));
  Shape out = make_array(from.type, from.dims, from.dynamic);
  if (!stated.is_array() || stated.rank() != from.rank()) return out;
  const int64_t size = stated.dims[dim];
  if (size > 0 ? from.dims[dim] % size != 0 : from.dims[dim] != 0)
    return misfit("dimension {} of {} is not a multiple of that of {}", dim, text(from),
                  text(stated));
  out.dims[dim] = size;
  return out;
}

}  // namespace

// Each operand, cut along the dimension by the size of the replica groups (the verifier compares).
Result<Shape> infer_ReduceScatter(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  HILO_DO(need_arrays(given));
  HILO_TRY(const Shape stated, need_stated(given));
  const Dims& dims = given.attributes<ReduceScatterAttributes>().dimensions;
  if (dims.size() != 1) return misfit("expected one dimension, found dimensions={}", braced(dims));
  if (given.count() == 1 && !stated.is_tuple()) return scattered(given.operand(0), stated, dims[0]);
  if (stated.elements.size() != given.count())
    return misfit("expected {} results, found {}", given.count(), text(stated));
  std::vector<Shape> out(given.count());
  for (size_t i = 0; i < out.size(); ++i) {
    HILO_TRY(out[i], scattered(given.operand(i), stated.elements[i], dims[0]));
  }
  return Shape::tuple(std::move(out));
}

}  // namespace hilo
