#include "eval/convert.h"
#include "eval/physical.h"

namespace hilo {

// The bits of the elements under another type. A wider type takes up the last dimension, a narrower
// one adds one, low bits first. Values held in f64 are rounded to their declared type first.
Result<Literal> evaluate_BitcastConvert(Call& call) {
  const ElementType from = call.module.shape(call.module.operand(call.id, 0)).type;
  const Shape& to = call.shape();
  const Literal literal = converted(call, call.operands[0], from);
  if (literal.count() * bits_of(from) != element_count(to) * bits_of(to.type))
    return call.error(ErrorKind::Shape, fmt::format("expected as many bits as in {}, found {}",
                                                    to_string_without_layout(literal.shape()),
                                                    to_string_without_layout(to)));
  Literal out;
  if (bits_of(from) == bits_of(to.type)) {
    out = literal.with_shape(to);
    if (!is_whole(to.type, bits_of(from))) {  // signed and unsigned extend differently
      out = call.make_held(to);
      unpack_bits(literal.raw().data(), out.count(), to.type, 8, out.mutable_raw().data());
    }
  } else {
    const int64_t count = literal.count(), bits = bits_of(from);
    Literal packed = call.make_held(Shape::array(ElementType::U8, {count * bits / 8 + 1}));
    pack_bits(literal.raw().data(), count, from, bits, packed.mutable_raw().data());
    out = call.make_held(to);
    unpack_bits(packed.raw().data(), out.count(), to.type, bits_of(to.type),
                out.mutable_raw().data());
  }
  return converted(call, out, call.held(to.type));
}

}  // namespace hilo
