#include "emit/same_steps.h"

#include <algorithm>

namespace hilo {
namespace {

size_t mix(size_t seed, size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15ull + (seed >> 29);
}

}  // namespace

SameSteps::SameSteps(const Module& module)
    : module_(module), first_(module.computations.size()), hashes_(module.computations.size()) {
  constexpr int max_compared = 16;  // of equal hashes, so that odd programs stay cheap
  std::unordered_multimap<size_t, ComputationId> known;
  for (ComputationId id : module.post_order()) {
    first_[id.value] = id;
    hashes_[id.value] = hash_of(id);
    const auto [begin, end] = known.equal_range(hashes_[id.value]);
    int compared = 0;
    for (auto at = begin; at != end && compared < max_compared; ++at, ++compared)
      if (is_same_computation(at->second, id)) {
        first_[id.value] = at->second;
        break;
      }
    if (first_[id.value] == id) known.emplace(hashes_[id.value], id);
  }
}

size_t SameSteps::hash(InstructionId step) const {
  const Instruction& instruction = module_[step];
  size_t out = mix(static_cast<size_t>(instruction.op), instruction.shape.value);
  for (InstructionId operand : module_.operands(step)) out = mix(out, module_[operand].shape.value);
  for (ComputationId called : module_.called(instruction)) out = mix(out, hashes_[called.value]);
  return out;
}

size_t SameSteps::hash_of(ComputationId computation) const {
  const std::vector<InstructionId>& instructions = module_[computation].instructions;
  size_t out = instructions.size();
  for (InstructionId id : instructions) out = mix(out, hash(id));
  return out;
}

bool SameSteps::is_same(InstructionId a, InstructionId b) const {
  if (!is_same_instruction(module_[a], module_[b])) return false;
  const auto of_a = module_.operands(a), of_b = module_.operands(b);
  return std::ranges::equal(of_a, of_b, [&](InstructionId x, InstructionId y) {
    if (module_[x].shape != module_[y].shape) return false;
    const bool in_code = stands_in_code(module_, x);
    if (in_code != stands_in_code(module_, y)) return false;
    return !in_code || is_same_instruction(module_[x], module_[y]);
  });
}

// All but the operands.
bool SameSteps::is_same_instruction(const Instruction& a, const Instruction& b) const {
  if (a.op != b.op || a.shape != b.shape) return false;
  const Extra &extra_a = module_.extra(a), &extra_b = module_.extra(b);
  if (extra_a.backend_config != extra_b.backend_config ||
      extra_a.frontend_attributes != extra_b.frontend_attributes ||
      extra_a.result_accuracy != extra_b.result_accuracy || extra_a.unknown != extra_b.unknown)
    return false;
  return visit_attributes_type(a.op, [&]<class A>(std::type_identity<A>) {
    if constexpr (std::is_same_v<A, NoneAttributes>) return true;
    else {
      const A &in_a = module_.attributes<A>(a), &in_b = module_.attributes<A>(b);
      // Their values are no fields, because they stand where others have operands.
      if constexpr (std::is_same_v<A, ConstantAttributes> || std::is_same_v<A, ParameterAttributes>)
        return in_a == in_b;
      else
        return std::apply(
            [&](const auto&... field) {
              return (is_same_field(in_a.*field.member, in_b.*field.member) && ...);
            },
            A::fields());
    }
  });
}

bool SameSteps::is_same_field(ComputationId a, ComputationId b) const {
  return a && b ? first_[a.value] == first_[b.value] : a == b;
}
bool SameSteps::is_same_field(const std::vector<ComputationId>& a,
                              const std::vector<ComputationId>& b) const {
  return std::ranges::equal(a, b, [&](auto x, auto y) { return is_same_field(x, y); });
}

// Instruction for instruction, in their order.
bool SameSteps::is_same_computation(ComputationId a, ComputationId b) const {
  const auto &in_a = module_[a].instructions, &in_b = module_[b].instructions;
  if (in_a.size() != in_b.size()) return false;
  std::unordered_map<uint32_t, size_t> index_a, index_b;
  for (size_t i = 0; i < in_a.size(); ++i) index_a[in_a[i].value] = index_b[in_b[i].value] = i;
  for (size_t i = 0; i < in_a.size(); ++i) {
    if (!is_same_instruction(module_[in_a[i]], module_[in_b[i]])) return false;
    if (!std::ranges::equal(
            module_.operands(in_a[i]), module_.operands(in_b[i]),
            [&](InstructionId x, InstructionId y) { return index_a[x.value] == index_b[y.value]; }))
      return false;
  }
  return index_a[module_[a].root.value] == index_b[module_[b].root.value];
}

}  // namespace hilo
