#include "ir/infer/infer.h"

namespace hilo {

// Operands: inputs, then num_carries initial carries. to_apply gives what each step puts out, then
// the carries; what steps put out is stacked along the scanned dimension.
Result<Shape> infer_Scan(const Given& given) {
  HILO_DO(need_arrays(given));
  const auto& a = given.attributes<ScanAttributes>();
  HILO_DO(need_in_range("num_carries", a.num_carries, 0, static_cast<int64_t>(given.count()) + 1));
  const size_t carries = static_cast<size_t>(a.num_carries), inputs = given.count() - carries;
  if (inputs == 0) return misfit("expected at least one scanned input");
  if (a.dimensions.size() != 1)
    return misfit("expected one dimension, found dimensions={}", braced(a.dimensions));
  const int64_t dim = a.dimensions[0];
  for (size_t i = 0; i < inputs; ++i) {
    HILO_DO(need_in_range("dimension", dim, 0, given.operand(i).rank()));
    if (given.operand(i).dims[dim] != given.operand(0).dims[dim])
      return misfit("inputs differ in the scanned dimension: {} and {}", text(given.operand(0)),
                    text(given.operand(i)));
  }
  HILO_TRY(Shape out, result_of(given, a.to_apply, "to_apply"));
  const bool single = !out.is_tuple();
  if (single) out = Shape::tuple({out});
  if (out.elements.size() < carries)
    return misfit("expected to_apply to give {} carries, found {}", carries, text(out));
  for (size_t i = 0; i + carries < out.elements.size(); ++i) {
    Shape& element = out.elements[i];
    if (!element.is_array() || element.rank() < dim)
      return misfit("cannot stack {} along dimension {}", text(element), dim);
    Dims dims = element.dims;
    dims.insert(dims.begin() + dim, given.operand(0).dims[dim]);
    element = make_array(element.type, std::move(dims));
  }
  return single ? out.elements[0] : out;
}

}  // namespace hilo
