// Patterns against instructions. What is still to be matched is a list that lives on the stack, so
// that both orders of commutative operands are tried to the end.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rewrite/rule.h"

namespace hilo {
namespace {

bool commutes(const PatternNode& node) {
  if (node.op == Op::Compare) return node.direction <= 1;  // eq, ne
  return has_trait(node.op, TraitMonoid);
}

// Modules of TPUs mix widths of floats; products take narrower numbers than they give anywhere.
bool has_mixed_precision(const Module& module, const Instruction& instruction) {
  const Op op = instruction.op;
  const ElementType type = module.shape(instruction).type;
  const bool is_product = op == Op::Dot || op == Op::Convolution;
  if (!is_product && (has_trait(op, TraitExact) || !is_floating(type))) return false;
  return std::ranges::any_of(module.operands(instruction), [&](InstructionId operand) {
    const ElementType from = module.shape(operand).type;
    return from != type && (is_product || is_floating(from));
  });
}

// The constant, seen through the broadcast of a scalar.
const Literal* splat_source(const Module& module, InstructionId id) {
  if (module[id].op == Op::Broadcast && module.shape(module.operand(id, 0)).is_scalar())
    id = module.operand(id, 0);
  return constant_of(module, id);
}

// Longer constants of one number are broadcasts after rule constant-of-one-number.
constexpr int64_t longest_splat = 64;

template <class Predicate>
bool all_elements(const Literal& literal, Predicate&& predicate) {
  if (literal.count() == 0 || literal.count() > longest_splat) return false;
  for (int64_t i = 0; i < literal.count(); ++i)
    if (!predicate(i)) return false;
  return true;
}

bool is_number(const Literal& literal, int64_t i, double number) {
  return visit_storage(literal.type(), [&]<class T>(std::type_identity<T>) {
    const T value = literal.data<T>()[i];
    if constexpr (requires { value.real(); }) {
      return value.imag() == 0 && !std::signbit(value.imag()) && value.real() == number &&
             std::signbit(value.real()) == std::signbit(number);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<double>(value) == number;
    } else {
      const double wide = static_cast<double>(value);
      return wide == number && std::signbit(wide) == std::signbit(number);
    }
  });
}

// The type's least or greatest value; infinities of floats that have them.
bool is_extreme(const Literal& literal, int64_t i, bool lowest) {
  const ElementType type = literal.type();
  if (is_floating(type)) return literal.number_at(i) == (lowest ? -INFINITY : INFINITY);
  if (type == ElementType::Pred) return literal.number_at(i) == (lowest ? 0 : 1);
  if (!is_integral(type)) return false;
  const int bits = bits_of(type);
  const int64_t value = literal.integer_at(i);
  if (is_unsigned(type))
    return lowest ? value == 0 : static_cast<uint64_t>(value) == ~uint64_t{0} >> (64 - bits);
  const int64_t least = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return value == (lowest ? least : ~least);
}

bool is_all_ones(const Literal& literal, int64_t i) {
  const ElementType type = literal.type();
  if (is_signed(type)) return literal.integer_at(i) == -1;
  return (is_unsigned(type) || type == ElementType::Pred) && is_extreme(literal, i, false);
}

bool is_constant(const Module& module, InstructionId id, const PatternNode& node) {
  const Literal* literal = splat_source(module, id);
  if (!literal || !literal->shape().is_array()) return false;
  using Kind = PatternNode::Kind;
  switch (node.kind) {
    case Kind::AnyConstant: return true;
    case Kind::Number:
      return all_elements(*literal, [&](int64_t i) { return is_number(*literal, i, node.number); });
    case Kind::NegativeZero:
      return is_floating(literal->type()) &&
             all_elements(*literal, [&](int64_t i) { return is_number(*literal, i, -0.0); });
    case Kind::Lowest:
    case Kind::Highest:
      return all_elements(
          *literal, [&](int64_t i) { return is_extreme(*literal, i, node.kind == Kind::Lowest); });
    case Kind::Ones:
      return all_elements(*literal, [&](int64_t i) { return is_all_ones(*literal, i); });
    case Kind::Any:
    case Kind::Variable:
    case Kind::Apply: return false;
  }
  return false;
}

struct Goal {
  int node;
  InstructionId value;
  const Goal* next;
};

}  // namespace

class Matcher {
 public:
  Matcher(const Pattern& pattern, Match& match) : pattern_(pattern), match_(match) {}

  bool solve(const Goal* goal) {
    if (!goal) return true;
    const PatternNode& node = pattern_.nodes[goal->node];
    const Module& module = match_.module();
    using Kind = PatternNode::Kind;
    if (node.kind == Kind::Apply) {
      if (!is_op(node, goal->value)) return false;
    } else if (node.kind == Kind::Variable) {
      if (splat_source(module, goal->value)) return false;
    } else if (node.kind != Kind::Any && !is_constant(module, goal->value, node)) {
      return false;
    }
    if (!is_static(module.shape(goal->value))) return false;  // last: tuples may be long
    if (node.slot == PatternNode::none)
      return node.kind == Kind::Apply ? operands(*goal, node) : solve(goal->next);
    InstructionId& bound = match_.bound_[node.slot];
    if (bound) return bound == goal->value && solve(goal->next);
    bound = goal->value;
    if (node.kind == Kind::Apply ? operands(*goal, node) : solve(goal->next)) return true;
    bound = {};
    return false;
  }

 private:
  bool is_op(const PatternNode& node, InstructionId id) const {
    const Module& module = match_.module();
    const Instruction& instruction = module[id];
    if (node.elementwise ? !is_elementwise(instruction.op) : instruction.op != node.op)
      return false;
    if (node.operands != PatternNode::none &&
        instruction.operand_count != static_cast<uint32_t>(node.operands))
      return false;
    if (node.direction != PatternNode::none) {
      const auto& compare = module.attributes<CompareAttributes>(instruction);
      if (static_cast<int8_t>(compare.direction) != node.direction) return false;
      if (compare.type == ComparisonType::TotalOrder || compare.order == ComparisonOrder::Total)
        return false;
    }
    if (node.sole_use && match_.editor_.use_count(id) != 1) return false;
    return !has_mixed_precision(module, instruction);
  }

  bool operands(const Goal& goal, const PatternNode& node) {
    if (node.operands == PatternNode::none || node.operands == 0) return solve(goal.next);
    const auto values = match_.module().operands(goal.value);
    const bool swaps = node.operands == 2 && commutes(node);
    for (int swapped = 0; swapped <= swaps; ++swapped) {
      std::array<Goal, Pattern::max_nodes> goals;
      int at = goal.node + 1;
      for (int i = 0; i < node.operands; ++i) {
        goals[i] = {at, values[swapped ? 1 - i : i],
                    i + 1 < node.operands ? &goals[i + 1] : goal.next};
        at += pattern_.nodes[at].size;
      }
      if (solve(&goals[0])) return true;
    }
    return false;
  }

  const Pattern& pattern_;
  Match& match_;
};

const Literal& Match::literal(char letter) const {
  const Literal* literal = splat_source(module_, (*this)[letter]);
  check(literal != nullptr, "Match::literal: no constant");
  return *literal;
}

bool is_splat(const Module& module, InstructionId id, double number) {
  PatternNode node;
  node.kind = PatternNode::Kind::Number;
  node.number = number;
  return is_constant(module, id, node);
}

namespace {

// A float without a sign or a zero is no float to rules.
uint8_t mask_of(const Shape& shape) {
  if (shape.type == ElementType::F8E8M0FNU) return MaskSpecial;
  static constexpr uint8_t masks[] = {MaskSpecial,  MaskPred,  MaskSigned,
                                      MaskUnsigned, MaskFloat, MaskComplex};
  return masks[static_cast<size_t>(kind_of(shape.type))];
}

}  // namespace

bool matches(const RewriteRule& rule, Match& match) {
  const Module& module = match.module();
  const auto operands = module.operands(match.root());
  const Shape& typed = operands.empty() ? match.shape() : module.shape(operands.back());
  if (!(mask_of(typed) & rule.types)) return false;
  const Goal goal{0, match.root(), nullptr};
  return Matcher(rule.pattern, match).solve(&goal) && (!rule.guard || rule.guard(match));
}

}  // namespace hilo
