// send, recv, infeed, outfeed: values that leave or enter the program, ordered by tokens.
#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<void> need_token(const Given& given, size_t operand) {
  if (given.operand(operand).is_token()) return {};
  return misfit("expected a token as operand {}, found {}", operand, text(given.operand(operand)));
}

// What send and recv give: (value, u32[] context, token).
Result<void> need_transfer(const Shape& shape) {
  if (shape.is_tuple() && shape.elements.size() == 3 && shape.elements[1].is_scalar() &&
      shape.elements[1].type == ElementType::U32 && shape.elements[2].is_token())
    return {};
  return misfit("expected (value, u32[], token[]), found {}", text(shape));
}

}  // namespace

Result<Shape> infer_Send(const Given& given) {
  HILO_DO(need_token(given, 1));
  return Shape::tuple({given.operand(0), Shape::scalar(ElementType::U32), Shape::token()});
}

Result<Shape> infer_SendDone(const Given& given) {
  HILO_DO(need_transfer(given.operand(0)));
  return Shape::token();
}

Result<Shape> infer_Recv(const Given& given) {
  HILO_DO(need_token(given, 0));
  HILO_TRY(const Shape out, need_stated(given));
  HILO_DO(need_transfer(out));
  return out;
}

Result<Shape> infer_RecvDone(const Given& given) {
  HILO_DO(need_transfer(given.operand(0)));
  return Shape::tuple({given.operand(0).elements[0], Shape::token()});
}

Result<Shape> infer_Infeed(const Given& given) {
  HILO_DO(need_token(given, 0));
  HILO_TRY(const Shape out, need_stated(given));
  if (out.is_tuple() && out.elements.size() == 2 && out.elements[1].is_token()) return out;
  return misfit("expected (value, token[]), found {}", text(out));
}

Result<Shape> infer_Outfeed(const Given& given) {
  HILO_DO(need_token(given, 1));
  const auto& sent = given.attributes<OutfeedAttributes>().outfeed_shape;
  if (sent && !same_dims(*sent, given.operand(0)))
    return misfit("expected an operand of outfeed_shape={}, found {}", text(*sent),
                  text(given.operand(0)));
  return Shape::token();
}

}  // namespace hilo
