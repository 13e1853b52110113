// Modules made from the pattern of a rule, by random choice of types, dimensions, attributes and
// constants: there is no second list of rules. The same rule and seed make the same module.
#pragma once

#include "structural_instance.h"

namespace hilo::test {

class PatternInstance : public StructuralInstance {
 public:
  PatternInstance(const RewriteRule& rule, uint64_t seed)
      : StructuralInstance(seed), pattern_(rule.pattern) {
    std::vector<ElementType> fitting;
    for (ElementType type : all_types())
      if (mask_of(type) & rule.types) fitting.push_back(type);
    primary_ = dice_.pick(fitting);
  }

  // Whether it came to anything.
  bool make() {
    const InstructionId root = term(0, root_type(), root_dims());
    if (!root) return false;
    module[module.entry].root = root;
    return verify(module).empty();
  }

 private:
  using Kind = PatternNode::Kind;

  static uint8_t mask_of(ElementType type) {
    if (type == ElementType::F8E8M0FNU) return MaskSpecial;
    static constexpr uint8_t masks[] = {MaskSpecial,  MaskPred,  MaskSigned,
                                        MaskUnsigned, MaskFloat, MaskComplex};
    return masks[static_cast<size_t>(kind_of(type))];
  }

  ElementType root_type() {
    const Op op = pattern_.root().op;
    if (pattern_.root().elementwise) return primary_;
    if (op == Op::Compare || op == Op::IsFinite) return ElementType::Pred;
    if (op == Op::Convert) return any_type();
    if (op == Op::GetDimensionSize) return ElementType::S32;
    if (op == Op::AfterAll) return ElementType::Token;
    const bool has_complex = primary_ == ElementType::F32 || primary_ == ElementType::F64;
    if (op == Op::Complex && has_complex) return complex_type_of(primary_);
    return op == Op::Real || op == Op::Imag || op == Op::Abs ? real_type_of(primary_) : primary_;
  }
  Dims root_dims() { return pattern_.root().op == Op::GetDimensionSize ? Dims{} : random_dims(); }

  InstructionId operand_of(int at, int i, const Shape& of) override {
    return i < pattern_.nodes[at].operands ? term(operand(at, i), of.type, of.dims)
                                           : InstructionId{};
  }
  int operand(int at, int i) const {
    int next = at + 1;
    for (; i > 0; --i) next += pattern_.nodes[next].size;
    return next;
  }

  InstructionId term(int at, ElementType type, const Dims& dims) {
    const PatternNode& node = pattern_.nodes[at];
    if (node.slot != PatternNode::none && bound_[node.slot]) {
      const InstructionId known = bound_[node.slot];
      return is(known, type, dims) ? known : InstructionId{};
    }
    const Shape of = type == ElementType::Token ? Shape::token() : Shape::array(type, dims);
    const InstructionId made = node.kind == Kind::Apply ? application(at, of) : leaf(node, of);
    if (node.slot != PatternNode::none) bound_[node.slot] = made;
    return made;
  }

  InstructionId leaf(const PatternNode& node, const Shape& of) {
    if (of.is_token()) return add(Op::AfterAll, of, {});
    switch (node.kind) {
      case Kind::Any:
        if (one_in(of.is_scalar() ? 2 : 5)) return any_constant(of.type, of.dims);
        return parameter(of.type, of.dims);
      case Kind::Variable: return parameter(of.type, of.dims);
      case Kind::AnyConstant: return any_constant(of.type, of.dims);
      case Kind::Ones: return splat(ones(of.type), of.dims);
      case Kind::Lowest:
      case Kind::Highest:
        if (is_complex(of.type)) return {};
        return splat(extreme(of.type, node.kind == Kind::Lowest), of.dims);
      default: return number(of.type, of.dims, node.number);
    }
  }

  InstructionId application(int at, const Shape& of) {
    const PatternNode& node = pattern_.nodes[at];
    if (node.elementwise) return any_elementwise(of);
    if (is_elementwise(node.op)) return elementwise(at, of);
    const Maker maker = maker_of(node.op);
    return maker ? (this->*maker)(at, of) : InstructionId{};
  }

  ElementType operand_type(int at, int i, ElementType type) {
    const Op op = pattern_.nodes[at].op;
    if (op == Op::Select && i == 0) return ElementType::Pred;
    if (op == Op::Complex) return real_type_of(type);
    const bool free = op == Op::Compare || op == Op::Convert || op == Op::IsFinite;
    const bool part = op == Op::Real || op == Op::Imag || op == Op::Abs;
    if (at == 0 && (free || part)) return primary_;
    if (free) return one_in(2) ? primary_ : any_type();
    const bool has_complex = type == ElementType::F32 || type == ElementType::F64;
    return part && has_complex && one_in(2) ? complex_type_of(type) : type;
  }

  InstructionId elementwise(int at, const Shape& of) {
    const PatternNode& node = pattern_.nodes[at];
    if (node.op == Op::Complex && !is_complex(of.type)) return {};
    std::vector<InstructionId> operands;
    ElementType type = of.type;
    for (int i = 0; i < node.operands; ++i) {
      if (i == 0 || node.op == Op::Select) type = operand_type(at, i, of.type);
      operands.push_back(term(operand(at, i), type, of.dims));
    }
    if (node.op == Op::Compare)
      return add(node.op, of, operands,
                 CompareAttributes{static_cast<ComparisonDirection>(node.direction)});
    if (node.op == Op::ReducePrecision)
      return add(node.op, of, operands,
                 ReducePrecisionAttributes{one_in(2) ? 11 : 2 + dice_.below(10),
                                           one_in(2) ? 52 : dice_.below(24)});
    return add(node.op, of, operands);
  }

  InstructionId any_elementwise(const Shape& of) {
    static const std::vector<Op> ops = [] {
      std::vector<Op> out;
      for (int i = 0; i < op_count; ++i)
        if (is_elementwise(static_cast<Op>(i))) out.push_back(static_cast<Op>(i));
      return out;
    }();
    const Op op = dice_.pick(ops);
    std::vector<InstructionId> operands;
    for (int i = 0; i < info(op).operands; ++i) {
      const ElementType type = op == Op::Select && i == 0 ? ElementType::Pred : of.type;
      operands.push_back(operands.empty() || !operands[0] || one_in(4)
                             ? any_value(type, of.dims)
                             : value_like(operands[0], type));
    }
    Shape result = of;
    if (op == Op::Compare || op == Op::IsFinite) result.type = ElementType::Pred;
    if (op == Op::Compare)
      return add(op, result, operands,
                 CompareAttributes{static_cast<ComparisonDirection>(dice_.below(6))});
    if (op == Op::ReducePrecision)
      return add(op, result, operands, ReducePrecisionAttributes{4, 3});
    if (op == Op::Convert) result.type = any_type();
    if (op == Op::Real || op == Op::Imag || op == Op::Abs) result.type = real_type_of(of.type);
    return add(op, result, operands);
  }

  const Pattern& pattern_;
  ElementType primary_;
  std::array<InstructionId, slot_count> bound_ = {};
};

}  // namespace hilo::test
