#include "eval/block_program.h"
#include "eval/call.h"

namespace hilo {

Literal to_held(const Literal& literal, bool ideal_floats) {
  if (!ideal_floats) return literal;
  if (literal.shape().is_tuple()) {
    std::vector<Literal> elements;
    for (const Literal& element : literal.elements()) elements.push_back(to_held(element, true));
    return Literal::tuple(std::move(elements));
  }
  const ElementType type = held_type(literal.type(), true);
  if (type == literal.type()) return literal;
  Shape shape = literal.shape();
  shape.type = type;
  Literal out = Literal::uninitialized(std::move(shape));
  BlockProgram program;
  program.add_output(program.add_convert(program.add_source(literal.type()), type));
  program.finish();
  const void* source = literal.raw().data();
  void* const target = out.mutable_raw().data();
  program.run(std::array{source}, std::array{target}, 0, literal.count());
  for (size_t d = 0; d < literal.dynamic_sizes().size(); ++d) out.set_size(d, literal.size(d));
  return out;
}

Result<Literal> evaluate_Constant(Call& call) {
  const LiteralRef& value = call.attributes<ConstantAttributes>().literal;
  if (!value.literal) return call.error(ErrorKind::Structure, "a constant without a value");
  return to_held(*value.literal, call.ideal());
}

}  // namespace hilo
