#include "ir/infer/infer.h"

namespace hilo {
namespace {

// Operand 0 is the array; operands 1 to `factors` are floating vectors of the feature dimension.
Result<Shape> feature_vector(const Given& given, size_t factors) {
  HILO_DO(need_arrays(given));
  const Shape& from = given.operand(0);
  const int64_t feature = given.attributes<BatchNormAttributes>().feature_index;
  if (!is_floating(from.type)) return misfit("expected a floating operand 0, found {}", text(from));
  HILO_DO(need_in_range("feature_index", feature, 0, from.rank()));
  const Shape expected =
      make_array(given.operand(1).type, {from.dims[feature]}, {from.is_dynamic(feature)});
  for (size_t i = 1; i <= factors; ++i)
    if (given.operand(i).dims != expected.dims || given.operand(i).type != from.type)
      return misfit("expected {}[{}] as operand {}, found {}", text_of(from.type),
                    from.dims[feature], i, text(given.operand(i)));
  return expected;
}

}  // namespace

// (normalised, mean, variance)
Result<Shape> infer_BatchNormTraining(const Given& given) {
  HILO_TRY(const Shape feature, feature_vector(given, 2));
  return Shape::tuple({given.operand(0), feature, feature});
}

Result<Shape> infer_BatchNormInference(const Given& given) {
  HILO_DO(feature_vector(given, 4));
  return given.operand(0);
}

// (gradient of the operand, of the scale, of the offset)
Result<Shape> infer_BatchNormGrad(const Given& given) {
  HILO_TRY(const Shape feature, feature_vector(given, 3));
  if (given.operand(4).dims != given.operand(0).dims ||
      given.operand(4).type != given.operand(0).type)
    return misfit("expected {} as operand 4, found {}", text(given.operand(0)),
                  text(given.operand(4)));
  return Shape::tuple({given.operand(0), feature, feature});
}

}  // namespace hilo
