#include "pass/shard/propagation_rules.h"

#include <algorithm>

#include "pass/field_hash.h"
#include "pass/shard/sharding_rule.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

using hilo::hash_field;
size_t hash_field(const std::string& text) { return std::hash<std::string>()(text); }

// What the factors of an instruction depend on of its operands beside their shapes.
bool is_fixed(const Module& module, InstructionId operand) {
  return module[operand].op == Op::Constant || module[operand].op == Op::Slice;
}

int64_t elements_of(const Shape& shape) {
  return shape.is_array() ? element_count(std::span<const int64_t>(shape.dims)) : 0;
}

bool keeps_elements(const Module& module, InstructionId id, const ShardingFactors& factors) {
  const Shape& shape = module.shape(id);
  if (!shape.is_array() || std::ranges::any_of(factors.factors, [](const ShardingFactor& factor) {
        return factor.kind != Kind::Pass;
      }))
    return false;
  return std::ranges::all_of(module.operands(id), [&](InstructionId operand) {
    const Shape& other = module.shape(operand);
    return other.is_scalar() || elements_of(other) == elements_of(shape);
  });
}

// Whether computations are one, or combine elements by one op in the same types.
bool are_alike(const Module& module, ComputationId a, ComputationId b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const auto x = find_combiner(module, a), y = find_combiner(module, b);
  return x && y && module[x->instruction].op == module[y->instruction].op &&
         x->element == y->element && x->wide == y->wide;
}
template <class T>
bool are_alike(const Module&, const T& a, const T& b) {
  return a == b;
}
template <class A>
bool have_alike_attributes(const Module& module, InstructionId a, InstructionId b) {
  const A &x = module.attributes<A>(a), &y = module.attributes<A>(b);
  return std::apply(
      [&](const auto&... field) {
        return (are_alike(module, x.*field.member, y.*field.member) && ...);
      },
      A::fields());
}

}  // namespace

std::vector<Direction> directions_at(const PropagationRule& rule, PropagationLevel level,
                                     bool sole_uses) {
  using Level = PropagationLevel;
  const auto of_factor = [&](const ShardingFactor& factor) {
    if (factor.blocks_propagation) return Direction::None;
    if (level < Level::PassingFactors) {
      if (rule.is_dynamic_slice) return Direction::Forward;
      return rule.keeps_elements && (sole_uses || level > Level::SoleUses) ? Direction::Both
                                                                           : Direction::None;
    }
    if ((level < Level::AllFactors || level == Level::Conflicts) && factor.kind != Kind::Pass)
      return Direction::None;
    return rule.is_broadcast && level < Level::BroadcastResults ? Direction::Backward
                                                                : Direction::Both;
  };
  std::vector<Direction> out;
  out.reserve(rule.factors.factors.size());
  for (const ShardingFactor& factor : rule.factors.factors) out.push_back(of_factor(factor));
  return out;
}

// Elementwise ops of the same shapes do the same to shardings and cost the same.
size_t PropagationRules::hash_of(InstructionId id) const {
  const Instruction& instruction = module_[id];
  const Op op = is_elementwise(instruction.op) ? Op::Copy : instruction.op;
  size_t seed = mix(static_cast<size_t>(op), instruction.shape.value);
  for (InstructionId operand : module_.operands(instruction))
    seed = mix(seed, module_[operand].shape.value);
  if (is_elementwise(instruction.op)) return seed;
  visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
    const A& values = module_.attributes<A>(instruction);
    std::apply(
        [&](const auto&... field) { ((seed = mix(seed, hash_field(values.*field.member))), ...); },
        A::fields());
  });
  return seed;
}

bool PropagationRules::are_alike(InstructionId a, InstructionId b) const {
  const Instruction &x = module_[a], &y = module_[b];
  const bool are_elementwise = is_elementwise(x.op) && is_elementwise(y.op) &&
                               has_trait(x.op, TraitMoves) == has_trait(y.op, TraitMoves);
  if ((x.op != y.op && !are_elementwise) || x.shape != y.shape ||
      x.operand_count != y.operand_count)
    return false;
  for (size_t i = 0; i < x.operand_count; ++i) {
    const InstructionId of_x = module_.operand(a, i), of_y = module_.operand(b, i);
    if (module_[of_x].shape != module_[of_y].shape) return false;
    if (!are_elementwise && is_fixed(module_, of_x) != is_fixed(module_, of_y)) return false;
  }
  return are_elementwise || visit_attributes_type(x.op, [&]<class A>(std::type_identity<A>) {
           return have_alike_attributes<A>(module_, a, b);
         });
}

Result<uint32_t> PropagationRules::of_instruction(InstructionId id) {
  const Extra& extra = module_.extra(module_[id]);
  if (const auto text = extra.frontend_attributes.find("xla.sdy.sharding_rule");
      text != extra.frontend_attributes.end() && module_[id].op == Op::CustomCall) {
    HILO_TRY(ShardingFactors factors, parse_sharding_rule(text->second.text));
    if (!fits_instruction(factors, module_, id))
      return fail(ErrorKind::Structure, "the sharding rule {} does not fit the shapes",
                  to_string(factors));
    const auto [found, is_new] = of_texts_.try_emplace(text->second.text, rules_.size());
    if (is_new) rules_.push_back({std::move(factors), true});
    return found->second;
  }
  if (is_identity_call(module_, id)) return of_identity(module_.shape(id));
  if (module_[id].op == Op::CustomCall)
    if (auto factors = batch_rule(module_, id)) {
      const auto [found, is_new] = of_texts_.try_emplace(to_string(*factors), rules_.size());
      if (is_new) rules_.push_back({*std::move(factors), true});
      return found->second;
    }
  const size_t hash = hash_of(id);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (are_alike(at->second.like, id)) return at->second.rule;
  const auto rule = static_cast<uint32_t>(rules_.size());
  ShardingFactors factors = sharding_factors(module_, id);
  const Op op = module_[id].op;
  const bool keeps = keeps_elements(module_, id, factors);
  rules_.push_back({std::move(factors), false, is_elementwise(op) || op == Op::Copy, keeps,
                    op == Op::Broadcast, op == Op::DynamicSlice || op == Op::DynamicUpdateSlice});
  known_.emplace(hash, Known{id, rule});
  return rule;
}

uint32_t PropagationRules::of_identity(const Shape& shape) {
  const auto id = static_cast<uint32_t>(rules_.size());
  const auto [found, is_new] = identities_.try_emplace(shape.dims, id);
  if (!is_new) return found->second;
  ShardingFactors factors;
  DimensionFactors dims;
  for (int64_t size : shape.dims) {
    dims.push_back({factors.factors.size()});
    factors.factors.push_back({size});
  }
  factors.operands = {dims};
  factors.results = {dims};
  rules_.push_back({std::move(factors), false, false, true});
  return id;
}

}  // namespace hilo
