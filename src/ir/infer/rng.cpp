#include "ir/infer/infer.h"

namespace hilo {

// Two scalar parameters of the distribution: bounds, or mean and deviation.
Result<Shape> infer_Rng(const Given& given) {
  HILO_TRY(Shape out, need_stated(given));
  if (given.count() != 2) return misfit("expected 2 operands, found {}", given.count());
  if (!out.is_array()) return misfit("rng gives an array, found {}", text(out));
  const auto distribution = given.attributes<RngAttributes>().distribution;
  if (const ElementType type = given.operand(0).type; is_floating(type) && is_floating(out.type))
    out.type = type;
  for (size_t i : {0, 1})
    if (!given.operand(i).is_scalar() || given.operand(i).type != out.type)
      return misfit("expected {}[] as operand {}, found {}", text_of(out.type), i,
                    text(given.operand(i)));
  const bool real = is_floating(out.type);
  if (distribution == RngDistribution::Invalid) return misfit("rng without a distribution");
  if (distribution == RngDistribution::Normal && !real)
    return misfit("rng_normal gives floating elements, found {}", text(out));
  if (!real && !is_integral(out.type) && out.type != ElementType::Pred)
    return misfit("rng_uniform gives real elements, found {}", text(out));
  return out;
}

// (new state, random bits), or the bits alone.
Result<Shape> infer_RngBitGenerator(const Given& given) {
  HILO_DO(need_arrays(given));
  HILO_TRY(const Shape out, need_stated(given));
  const Shape& bits = out.is_tuple() && out.elements.size() == 2 ? out.elements[1] : out;
  if (!bits.is_array()) return misfit("expected (state, bits), found {}", text(out));
  if (!out.is_tuple()) return out;
  return Shape::tuple({given.operand(0), bits});
}

Result<Shape> infer_RngGetAndUpdateState(const Given&) {
  return Shape::array(ElementType::U64, {2});
}

}  // namespace hilo
