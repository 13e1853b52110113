// Reductions: N inputs, N initial values; the result types are those of to_apply.
#include "ir/infer/infer.h"

namespace hilo {
namespace {

// The element types that to_apply gives, one for each of n accumulators.
Result<std::vector<ElementType>> accumulator_types(const Given& given, ComputationId to_apply,
                                                   size_t n) {
  HILO_TRY(const Shape result, result_of(given, to_apply, "to_apply"));
  std::vector<ElementType> out;
  if (n == 1 && result.is_scalar()) return std::vector{result.type};
  for (const Shape& element : result.elements)
    if (element.is_scalar()) out.push_back(element.type);
  if (out.size() != n || result.elements.size() != n)
    return misfit("expected to_apply to give {} scalar{}, found {}", n, n == 1 ? "" : "s",
                  text(result));
  return out;
}

Result<size_t> need_inputs_and_initial_values(const Given& given) {
  HILO_DO(need_arrays(given));
  if (given.count() == 0 || given.count() % 2 != 0)
    return misfit("expected N inputs and N initial values, found {} operand{}", given.count(),
                  given.count() == 1 ? "" : "s");
  const size_t n = given.count() / 2;
  for (size_t i = 0; i < n; ++i) {
    if (given.operand(i).dims != given.operand(0).dims)
      return misfit("inputs have different dimensions: {} and {}", text(given.operand(0)),
                    text(given.operand(i)));
    if (!given.operand(n + i).is_scalar())
      return misfit("expected a scalar as initial value {}, found {}", i,
                    text(given.operand(n + i)));
    if (given.operand(i).type != given.operand(n + i).type)
      return misfit("input and initial value {} have different element types: {} and {}", i,
                    text(given.operand(i)), text(given.operand(n + i)));
  }
  return n;
}

// `reduced` with each accumulator's element type.
Shape with_types(const Shape& reduced, const std::vector<ElementType>& types) {
  std::vector<Shape> out(types.size(), reduced);
  for (size_t i = 0; i < out.size(); ++i) out[i].type = types[i];
  return out.size() == 1 ? out[0] : Shape::tuple(std::move(out));
}

}  // namespace

Result<Shape> infer_Reduce(const Given& given) {
  HILO_TRY(const size_t n, need_inputs_and_initial_values(given));
  const auto& a = given.attributes<ReduceAttributes>();
  HILO_DO(need_distinct("dimensions", a.dimensions, given.operand(0).rank()));
  HILO_TRY(const auto types, accumulator_types(given, a.to_apply, n));
  return with_types(drop_dims(given.operand(0), a.dimensions), types);
}

Result<Shape> infer_ReduceWindow(const Given& given) {
  HILO_TRY(const size_t n, need_inputs_and_initial_values(given));
  const auto& a = given.attributes<ReduceWindowAttributes>();
  HILO_TRY(const auto types, accumulator_types(given, a.to_apply, n));
  HILO_TRY(const Shape out, windowed(given.operand(0), a.window, types[0]));
  return with_types(out, types);
}

}  // namespace hilo
