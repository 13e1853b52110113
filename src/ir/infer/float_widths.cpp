// The one rule for floats of mixed widths: which operands an op wants of one type, the widest of
// them, and what it computes in. Traits of ops.def say what goes together.
#include "ir/infer/infer.h"

namespace hilo {
namespace {

// What goes together: operand i is in group(i), and element g of a result of `count` elements in
// group g; any other result is in every group.
struct Groups {
  size_t count = 1;
  size_t group(size_t operand) const { return operand % count; }
};

Groups groups_of(const Instruction& instruction) {
  const size_t operands = instruction.operand_count;
  if (has_trait(instruction.op, TraitApart)) return {std::max<size_t>(operands, 1)};
  // Of a scatter the indices stand between the halves.
  if (has_trait(instruction.op, TraitPaired)) return {std::max<size_t>((operands + 1) / 2, 1)};
  return {};
}

// The type that holds both; none is held by any.
std::optional<ElementType> joined(std::optional<ElementType> a, ElementType b) {
  if (!is_floating(b)) return a;
  return a ? wider(*a, b) : b;
}

std::optional<ElementType> joined_leaves(std::optional<ElementType> type, const Shape& shape) {
  for (const Shape& element : shape.elements) type = joined_leaves(type, element);
  return joined(type, shape.type);
}

bool has_two_widths(const Shape& shape, std::optional<ElementType>& met) {
  for (const Shape& element : shape.elements)
    if (has_two_widths(element, met)) return true;
  if (!is_floating(shape.type) && !is_complex(shape.type)) return false;
  const ElementType type = real_type_of(shape.type);
  return *(met = met.value_or(type)) != type;
}

// A quick look: most instructions know one floating type.
bool has_two_widths(const Given& given) {
  std::optional<ElementType> met;
  for (size_t i = 0; i < given.count(); ++i)
    if (has_two_widths(given.operand(i), met)) return true;
  return given.stated() && has_two_widths(*given.stated(), met);
}

// Floating arrays in the types of their groups.
void widen(Given& given, Groups groups, std::span<const std::optional<ElementType>> types) {
  std::vector<Shape> widened;
  for (size_t i = 0; i < given.count(); ++i) {
    Shape shape = given.operand(i);
    if (const auto type = types[groups.group(i)]; type && is_floating(shape.type))
      shape.type = *type;
    widened.push_back(std::move(shape));
  }
  given.widened = std::move(widened);
}

using Types = std::vector<std::optional<ElementType>>;  // by group

Types widest_of_operands(const Given& given, Groups groups) {
  Types out(groups.count);
  for (size_t i = 0; i < given.count(); ++i)
    out[groups.group(i)] = joined(out[groups.group(i)], given.operand(i).type);
  return out;
}

// What is computed in, where some width is mixed.
Types computed_types(const Given& given, Groups groups) {
  Types out = widest_of_operands(given, groups);
  const Shape& stated = *given.stated();
  const bool by_group = groups.count > 1 && stated.elements.size() == groups.count;
  for (size_t g = 0; g < out.size(); ++g) {
    const Shape& result = by_group ? stated.elements[g] : stated;
    const bool moves = has_trait(given.instruction.op, TraitMoves) && is_floating(result.type);
    out[g] = moves ? result.type : joined_leaves(out[g], result);
  }
  return out;
}

bool same_types(const Shape& a, const Shape& b) {
  if (a.type != b.type || a.elements.size() != b.elements.size()) return false;
  for (size_t i = 0; i < a.elements.size(); ++i)
    if (!same_types(a.elements[i], b.elements[i])) return false;
  return true;
}

bool mixes(const Given& given, Groups groups) {
  const Types types = widest_of_operands(given, groups);
  for (size_t i = 0; i < given.count(); ++i)
    if (const ElementType type = given.operand(i).type;
        is_floating(type) && type != types[groups.group(i)])
      return true;
  const Result<Shape> inferred = infer_seen(given);
  return inferred && !same_types(*inferred, *given.stated());
}

void take_types(const Shape& from, Shape& to) {
  if (to.is_array() && from.is_array()) to.type = from.type;
  for (size_t i = 0; i < to.elements.size() && i < from.elements.size(); ++i)
    take_types(from.elements[i], to.elements[i]);
}

}  // namespace

ElementType wider(ElementType a, ElementType b) {
  if (!is_floating(a) || !is_floating(b) || a == b) return a;
  // Neither of two formats of one width holds the other.
  if (bits_of(a) == bits_of(b)) return ElementType::F32;
  return bits_of(b) > bits_of(a) ? b : a;
}

Result<ElementType> product_type(const Given& given, ElementType inferred) {
  if (!given.stated() || !given.stated()->is_array()) return inferred;
  const ElementType stated = given.stated()->type;
  const bool fits =
      is_complex(stated) == is_complex(inferred) && (!is_floating(inferred) || is_floating(stated));
  if (fits) return stated;
  return misfit("a product of {} elements does not give {}", text_of(inferred),
                text(*given.stated()));
}

void see_in_widest(Given& given) {
  if (has_trait(given.instruction.op, TraitExact) || !has_two_widths(given)) return;
  const Groups groups = groups_of(given.instruction);
  widen(given, groups, widest_of_operands(given, groups));
}

std::optional<WidenedShapes> widened_shapes(const Module& module, const Instruction& instruction) {
  Given given{module, instruction};
  if (has_trait(instruction.op, TraitExact) || !given.stated() || !need_sound_operands(given))
    return std::nullopt;
  // What a called computation gives may be of yet another width.
  const bool calls = has_trait(instruction.op, TraitPaired | TraitApart);
  if (!calls && !has_two_widths(given)) return std::nullopt;
  const Groups groups = groups_of(instruction);
  if (!mixes(given, groups)) return std::nullopt;
  widen(given, groups, computed_types(given, groups));
  const Result<Shape> inferred = infer_seen(given);
  if (!inferred) return std::nullopt;
  WidenedShapes out{std::move(given.widened), *given.stated()};
  take_types(*inferred, out.result);
  return out;
}

}  // namespace hilo
