// Which kernel computes an elementwise instruction, and in which types.
#include <array>

#include "eval/eval.h"
#include "eval/kernel.h"

namespace hilo {
namespace {

struct Typing {  // the kernel of an instruction with its own typing
  const Module& module;
  const Instruction& instruction;
  bool ideal;
  std::optional<WidenedShapes> widened;  // what is seen, where widths are mixed
  ElementwiseKernel out;

  ElementType held(ElementType type) const { return held_type(type, ideal); }
  ElementType operand(size_t i) const {
    return widened ? widened->operands[i].type : module.shape(module.operands(instruction)[i]).type;
  }
};

using Chooser = void (*)(Typing&);

Kernel find(Op op, ElementType type);

void choose_convert(Typing& t) {
  t.out.operands[0] = t.held(t.operand(0));
  t.out.kernel =
      t.out.operands[0] == t.out.result ? nullptr : convert_kernel(t.out.operands[0], t.out.result);
  t.out.first = bits_of(t.out.result);
}

void choose_compare(Typing& t) {
  const auto& attributes = t.module.attributes<CompareAttributes>(t.instruction);
  const ElementType type = t.held(t.operand(0));
  t.out.operands[0] = t.out.operands[1] = type;
  const bool total =
      attributes.type == ComparisonType::TotalOrder || attributes.order == ComparisonOrder::Total;
  t.out.kernel = compare_kernel(attributes.direction, total, representation_of(type));
}

void choose_select(Typing& t) {
  t.out.operands[0] = ElementType::Pred;
  t.out.kernel = select_kernel(representation_of(t.out.result));
}

void choose_stochastic_convert(Typing& t) {
  t.out.operands[0] = ElementType::F64;
  t.out.operands[1] = ElementType::U64;
  const bool unrounded = t.out.result == ElementType::F64;
  t.out.kernel = unrounded ? find(Op::Real, t.out.result)
                           : stochastic_convert_kernel(ElementType::F64, t.out.result);
  t.out.first = bits_of(t.out.result);
  t.out.second = bits_of(t.operand(1));
}

struct Special {
  Op op;
  Chooser choose;
};
constexpr Special specials[] = {
    {Op::Convert, choose_convert},
    {Op::Compare, choose_compare},
    {Op::Select, choose_select},
    {Op::StochasticConvert, choose_stochastic_convert},
};

// Ops that compute in the type of their first operand, not of the result.
constexpr Op of_operand[] = {Op::Abs, Op::Real, Op::Imag, Op::IsFinite, Op::Complex};
constexpr std::array<std::pair<Op, Op>, 2> on_pred = {{{Op::Add, Op::Or}, {Op::Multiply, Op::And}}};

Kernel find(std::span<const KernelEntry> entries, Op op, Representation r) {
  for (const KernelEntry& entry : entries)
    if (entry.op == op) return entry.kernels[static_cast<size_t>(r)];
  return nullptr;
}

Kernel find(Op op, ElementType type) {
  if (type == ElementType::Pred)
    for (const auto& [from, to] : on_pred)
      if (op == from) op = to;
  const Representation r = representation_of(type);
  if (is_complex(type)) return find(complex_kernels(), op, r);
  return find(is_floating(type) ? float_kernels() : integer_kernels(), op, r);
}

void choose_plain(Typing& t) {
  ElementType type = t.out.result;
  for (Op op : of_operand)
    if (op == t.instruction.op) type = t.held(t.operand(0));
  const ElementType result = t.out.result;
  t.out = elementwise_kernel(t.instruction.op, type);
  t.out.result = result;
}

// Rounding to a type that ideal arithmetic holds unrounded is no rounding there.
void choose_reduce_precision(Typing& t) {
  const auto& attributes = t.module.attributes<ReducePrecisionAttributes>(t.instruction);
  t.out.first = attributes.exponent_bits, t.out.second = attributes.mantissa_bits;
  // As wide exponents as the type's own change nothing, though f32 holds it.
  if (t.out.result == ElementType::F16 && t.out.first >= 5)
    t.out.first = std::max<int64_t>(t.out.first, 8);
  if (t.ideal && 1 + t.out.first + t.out.second >= 16) t.out.kernel = find(Op::Real, t.out.result);
}

}  // namespace

ElementwiseKernel elementwise_kernel(Op op, ElementType type) {
  const int64_t bits = type == ElementType::Pred ? 1 : bits_of(type);
  return {find(op, type), finish_kernel(type), bits, 0, {type, type, type}, type};
}

Result<ElementwiseKernel> elementwise_kernel(const Module& module, const Instruction& instruction,
                                             bool ideal) {
  Typing t{module, instruction, ideal, widened_shapes(module, instruction), {}};
  const ElementType stated = module.shape(instruction).type;
  const ElementType declared = t.widened ? t.widened->result.type : stated;
  const int wanted = info(instruction.op).operands;
  if (static_cast<int>(instruction.operand_count) != wanted || !is_array(declared))
    return fail(ErrorKind::Shape, "{} needs {} arrays", text_of(instruction.op), wanted);
  for (int i = 0; i < wanted; ++i)
    if (!is_array(t.operand(i))) return fail(ErrorKind::Shape, "operand {} is no array", i);
  t.out.result = t.held(declared);
  for (ElementType& operand : t.out.operands) operand = t.out.result;
  Chooser choose = choose_plain;
  for (const Special& special : specials)
    if (special.op == instruction.op) choose = special.choose;
  choose(t);
  if (instruction.op == Op::ReducePrecision) choose_reduce_precision(t);
  const bool nothing = instruction.op == Op::Convert && !t.out.kernel;
  if (!t.out.kernel && !nothing)
    return fail(ErrorKind::Unsupported, "{} of {}", text_of(instruction.op), text_of(t.operand(0)));
  t.out.finish = nothing || instruction.op == Op::Select ? nullptr : finish_kernel(t.out.result);
  if (t.widened) t.out.rounded = t.held(stated);
  return t.out;
}

}  // namespace hilo
