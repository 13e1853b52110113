#include "eval/sort_key.h"

#include <cmath>
#include <set>

namespace hilo {
namespace {

// A side of the comparison, its replacements taken off.
struct Side {
  int64_t parameter = -1;
  bool zeros = false, nans = false;
};

std::optional<double> constant_of(const Module& module, InstructionId id) {
  if (module[id].op != Op::Constant) return std::nullopt;
  const LiteralRef& value = module.attributes<ConstantAttributes>(id).literal;
  if (!value.literal || !is_floating(value.literal->type())) return std::nullopt;
  return value.literal->number_at(0);
}

std::optional<Side> find_side(const Module& module, InstructionId id) {
  Side out;
  std::vector<InstructionId> compared;
  while (module[id].op == Op::Select) {
    const InstructionId test = module.operand(id, 0);
    const auto replacement = constant_of(module, module.operand(id, 1));
    if (module[test].op != Op::Compare || !replacement) return std::nullopt;
    const InstructionId left = module.operand(test, 0), right = module.operand(test, 1);
    const auto direction = module.attributes<CompareAttributes>(test).direction;
    const auto limit = constant_of(module, right);
    if (direction == ComparisonDirection::Ne && left == right && std::isnan(*replacement))
      out.nans = true;
    else if (direction == ComparisonDirection::Eq && limit == 0 && *replacement == 0 &&
             !std::signbit(*replacement))
      out.zeros = true;
    else return std::nullopt;
    compared.push_back(left);
    id = module.operand(id, 2);
  }
  if (module[id].op != Op::Parameter) return std::nullopt;
  for (InstructionId left : compared)
    if (left != id) return std::nullopt;
  out.parameter = module.attributes<ParameterAttributes>(id).number;
  return out;
}

// Of an instruction that compares both sides' elements of one operand. EQ has an ascending key.
struct Comparison {
  ComparisonDirection direction;
  SortKey key;

  bool orders() const {
    return direction == ComparisonDirection::Lt || direction == ComparisonDirection::Gt;
  }
  bool is_equality_of(SortKey other) const {
    other.is_descending = false;
    return direction == ComparisonDirection::Eq && key == other;
  }
};

// Finds the keys of one comparator.
class KeyFinder {
 public:
  KeyFinder(const Module& module, ComputationId comparator)
      : module_(module),
        operands_(std::ssize(module[comparator].parameters) / 2),
        is_small_(module[comparator].instructions.size() <= max_instructions) {}

  SortKeys run(InstructionId id) {
    SortKeys out;
    while (const auto link = find_link(id)) {
      out.keys.push_back(link->key);
      id = link->rest;
    }
    const auto last = find_comparison(id);
    if (!last || !last->orders()) return {};
    out.keys.push_back(last->key);
    out.computed = std::move(computed_);
    return out;
  }

 private:
  static constexpr size_t max_instructions = 256;

  // A comparator that orders by one key and, where that is equal, by the rest.
  struct Link {
    SortKey key;
    InstructionId rest;
  };

  InstructionId operand(InstructionId of, int64_t i) const { return module_.operand(of, i); }

  std::optional<Link> find_link(InstructionId id) {
    if (module_[id].op == Op::Select)
      return find_link(operand(id, 2), operand(id, 0), operand(id, 1));
    if (module_[id].op != Op::Or) return std::nullopt;
    for (const int64_t less : {0, 1}) {
      const InstructionId both = operand(id, 1 - less);
      if (module_[both].op != Op::And) continue;
      for (const int64_t equal : {0, 1})
        if (auto link =
                find_link(operand(id, less), operand(both, equal), operand(both, 1 - equal)))
          return link;
    }
    return std::nullopt;
  }
  std::optional<Link> find_link(InstructionId less, InstructionId equal, InstructionId rest) {
    const auto first = find_comparison(less), same = find_equality(equal);
    if (!first || !same || !first->orders() || !same->is_equality_of(first->key))
      return std::nullopt;
    return Link{first->key, rest};
  }

  // Also of two orders, of which neither holds or both.
  std::optional<Comparison> find_equality(InstructionId id) {
    if (auto direct = find_comparison(id)) return direct;
    if (module_[id].op != Op::Compare ||
        module_.attributes<CompareAttributes>(id).direction != ComparisonDirection::Eq)
      return std::nullopt;
    const auto less = find_comparison(operand(id, 0)), more = find_comparison(operand(id, 1));
    if (!less || !more || !less->orders() || !more->orders() ||
        less->key.is_descending == more->key.is_descending)
      return std::nullopt;
    Comparison out{ComparisonDirection::Eq, less->key};
    out.key.is_descending = more->key.is_descending;
    if (out.key != more->key) return std::nullopt;
    out.key.is_descending = false;
    return out;
  }

  std::optional<Comparison> find_comparison(InstructionId id) {
    if (module_[id].op != Op::Compare || !has_sort_key(module_.shape(operand(id, 0)).type))
      return std::nullopt;
    const auto& a = module_.attributes<CompareAttributes>(id);
    const bool is_total = a.type == ComparisonType::TotalOrder || a.order == ComparisonOrder::Total;
    auto key = find_plain_key(id);
    if (!key) key = find_computed_key(id);
    if (!key) return std::nullopt;
    // So far is_descending says that the left element stands on the right.
    key->is_descending = a.direction != ComparisonDirection::Eq &&
                         (a.direction == ComparisonDirection::Gt) != key->is_descending;
    key->is_total_order = is_total;
    key->zeros_are_equal |= !is_total;
    return Comparison{a.direction, *key};
  }

  std::optional<SortKey> find_plain_key(InstructionId id) const {
    const auto left = find_side(module_, operand(id, 0)),
               right = find_side(module_, operand(id, 1));
    if (!left || !right || left->parameter / 2 != right->parameter / 2 ||
        left->parameter == right->parameter || left->zeros != right->zeros ||
        left->nans != right->nans)
      return std::nullopt;
    return SortKey{left->parameter / 2, left->parameter > right->parameter, false, left->zeros,
                   left->nans};
  }

  std::optional<SortKey> find_computed_key(InstructionId id) {
    if (!is_small_) return std::nullopt;
    InstructionId left = operand(id, 0), right = operand(id, 1);
    alike_.clear();
    const bool is_swapped = !are_alike(left, right);
    if (is_swapped) {
      std::swap(left, right);
      alike_.clear();
      if (!are_alike(left, right)) return std::nullopt;
    }
    auto found = std::ranges::find(computed_, left);
    if (found == computed_.end()) found = computed_.insert(found, left);
    return SortKey{operands_ + (found - computed_.begin()), is_swapped, false, false, false};
  }

  // Whether `right` does with the right element's operands what `left` does with the left one's.
  bool are_alike(InstructionId left, InstructionId right) {
    if (alike_.contains({left, right})) return true;
    const Instruction &a = module_[left], &b = module_[right];
    if (a.op != b.op || a.shape != b.shape || !module_.shape(left).is_scalar()) return false;
    if (a.op == Op::Parameter) {
      const int64_t number = module_.attributes<ParameterAttributes>(left).number;
      return number % 2 == 0 && module_.attributes<ParameterAttributes>(right).number == number + 1;
    }
    const bool gives_one = a.op == Op::Constant || a.op == Op::BitcastConvert;
    if (!is_elementwise(a.op) && !has_trait(a.op, TraitRearranges) && !gives_one) return false;
    const bool have_same = visit_attributes_type(a.op, [&]<class A>(std::type_identity<A>) {
      if constexpr (std::is_same_v<A, NoneAttributes>) return true;
      else return module_.attributes<A>(a) == module_.attributes<A>(b);
    });
    if (!have_same || a.operand_count != b.operand_count) return false;
    for (uint32_t i = 0; i < a.operand_count; ++i)
      if (!are_alike(operand(left, i), operand(right, i))) return false;
    alike_.insert({left, right});
    return true;
  }

  const Module& module_;
  int64_t operands_;  // of the sort
  bool is_small_;
  std::vector<InstructionId> computed_;
  std::set<std::pair<InstructionId, InstructionId>> alike_;  // pairs of instructions
};

}  // namespace

SortKeys find_sort_keys(const Module& module, ComputationId comparator) {
  return KeyFinder(module, comparator).run(module[comparator].root);
}

}  // namespace hilo
