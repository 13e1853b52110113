// Merges instructions that make the same value: same op, operands, attributes, shape and marks.
//   y = f(a), z = f(a) => y for both
// Called computations are the same when their instructions are. Assumes nothing. Later passes may
// assume that equal values are one instruction, so that a rule's "same letter" sees them. Here and
// not in a back end, because one back end's kernels do not see each other's values.
#include <algorithm>
#include <cstring>

#include "pass/field_hash.h"
#include "pass/pass.h"

namespace hilo {
namespace {

using hilo::hash_field;
size_t hash_field(const LiteralRef& ref) {
  constexpr size_t most = 4096;  // bytes looked at
  if (!ref.literal || !ref.literal->shape().is_array()) return 0;
  const auto raw = ref.literal->raw();
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(raw.data()), std::min(raw.size(), most)});
}

// Values of these are not merged: parameters are not equal because they look so, and the others do
// more than make a value, or stand for a place in the order.
bool may_merge(const Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  const Op op = module[id].op;
  // Buffers that somebody makes, and copies that keep two buffers apart.
  if (op == Op::CustomCall && module[id].operand_count == 0) return false;
  if (op == Op::Copy && module.header.is_scheduled) return false;
  const bool is_name_or_order =
      has_trait(op, TraitNoTraffic) && has_trait(op, TraitNotFolded) && op != Op::Bitcast;
  return !is_name_or_order && !is_communication(op) && !editor.is_pinned(id) &&
         !editor.effects().has(id);
}

class Merger {
 public:
  explicit Merger(Module& module)
      : module_(module),
        editor_(module),
        canonical_(module.computations.size()),
        communicates_(module.computations.size()) {
    for (uint32_t i = 0; i < canonical_.size(); ++i) canonical_[i] = {i};
  }

  bool run() {
    bool changed = false;
    for (ComputationId id : module_.post_order()) {
      communicates_[id.value] =
          std::ranges::any_of(module_[id].instructions, [&](InstructionId instruction) {
            return is_communication(module_[instruction].op) || calls_communication(instruction);
          });
      find_canonical(id);
    }
    for (ComputationId id : open_computations(module_)) changed |= merge(id);
    return changed;
  }

 private:
  bool merge(ComputationId id) {
    bool changed = false;
    std::unordered_multimap<size_t, InstructionId> seen;
    for (InstructionId instruction : operands_first(module_, id)) {
      if (!may_merge(editor_, instruction) || calls_communication(instruction)) continue;
      const size_t hash = hash_of_instruction(instruction, operands_of(instruction));
      if (const InstructionId same = find(seen, hash, instruction); same) {
        if (!editor_.can_replace(instruction, same)) continue;
        editor_.replace(instruction, same);
        changed = true;
      } else {
        seen.emplace(hash, instruction);
      }
    }
    return changed;
  }

  bool calls_communication(InstructionId id) const {
    return std::ranges::any_of(module_.called(module_[id]),
                               [&](ComputationId called) { return communicates_[called.value]; });
  }

  InstructionId find(const std::unordered_multimap<size_t, InstructionId>& seen, size_t hash,
                     InstructionId id) const {
    const auto [begin, end] = seen.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (operands_of(it->second) == operands_of(id) && is_same(it->second, id)) return it->second;
    return {};
  }

  std::vector<uint32_t> operands_of(InstructionId id) const {
    std::vector<uint32_t> out;
    for (InstructionId operand : module_.operands(id)) out.push_back(operand.value);
    if (has_trait(module_[id].op, TraitCommutes)) std::ranges::sort(out);
    return out;
  }

  size_t hash_of_instruction(InstructionId id, const std::vector<uint32_t>& operands) const {
    const Instruction& instruction = module_[id];
    size_t seed = mix(static_cast<size_t>(instruction.op), instruction.shape.value);
    for (uint32_t operand : operands) seed = mix(seed, operand);
    if (is_elementwise(instruction.op)) return seed;
    visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
      const A& values = module_.attributes<A>(instruction);
      std::apply(
          [&](const auto&... field) {
            ((seed = mix(seed, hash_field(values.*field.member))), ...);
          },
          A::fields());
      if constexpr (std::is_same_v<A, ConstantAttributes>)
        seed = mix(seed, hash_field(values.literal));
    });
    return seed;
  }

  // All but the operands.
  bool is_same(InstructionId a, InstructionId b) const {
    const Instruction &x = module_[a], &y = module_[b];
    if (x.op != y.op || x.shape != y.shape || !same_attributes(x, y)) return false;
    const Extra &in_x = module_.extra(x), &in_y = module_.extra(y);
    if (!in_x.sharding != !in_y.sharding || (in_x.sharding && *in_x.sharding != *in_y.sharding))
      return false;
    return in_x.frontend_attributes == in_y.frontend_attributes &&
           in_x.backend_config == in_y.backend_config &&
           in_x.result_accuracy == in_y.result_accuracy && in_x.unknown == in_y.unknown;
  }

  bool same_attributes(const Instruction& x, const Instruction& y) const {
    return visit_attributes_type(x.op, [&]<class A>(std::type_identity<A>) {
      const A &a = module_.attributes<A>(x), &b = module_.attributes<A>(y);
      if constexpr (std::is_same_v<A, ConstantAttributes>) return a == b && !a.literal.elided;
      else if constexpr (std::is_same_v<A, ParameterAttributes>) return a == b;
      else
        return std::apply(
            [&](const auto&... field) {
              return (same_field(a.*field.member, b.*field.member) && ...);
            },
            A::fields());
    });
  }

  bool same_field(ComputationId a, ComputationId b) const {
    return a && b ? canonical_[a.value] == canonical_[b.value] : a == b;
  }
  bool same_field(const std::vector<ComputationId>& a, const std::vector<ComputationId>& b) const {
    return std::ranges::equal(a, b, [&](auto x, auto y) { return same_field(x, y); });
  }
  template <class T>
  bool same_field(const T& a, const T& b) const {
    return a == b;
  }

  // The first computation with the same instructions, if it is short; callees come first.
  void find_canonical(ComputationId id) {
    constexpr size_t longest = 64;
    const std::vector<InstructionId>& instructions = module_[id].instructions;
    if (instructions.size() > longest) return;
    size_t hash = mix(instructions.size(), module_[id].parameters.size());
    for (InstructionId instruction : instructions)
      hash = mix(mix(hash, static_cast<size_t>(module_[instruction].op)),
                 module_[instruction].shape.value);
    const auto [begin, end] = computations_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (same_computation(it->second, id)) {
        canonical_[id.value] = it->second;
        return;
      }
    computations_.emplace(hash, id);
  }

  bool same_computation(ComputationId a, ComputationId b) const {
    const auto &in_a = module_[a].instructions, &in_b = module_[b].instructions;
    if (in_a.size() != in_b.size() || module_[a].execution_thread != module_[b].execution_thread)
      return false;
    std::unordered_map<uint32_t, size_t> index_a, index_b;
    for (size_t i = 0; i < in_a.size(); ++i) {
      if (!is_same(in_a[i], in_b[i]) || is_communication(module_[in_a[i]].op)) return false;
      if (module_.extra(module_[in_a[i]]).control_predecessors.size() > 0) return false;
      if (module_.extra(module_[in_b[i]]).control_predecessors.size() > 0) return false;
      const auto of_a = module_.operands(in_a[i]), of_b = module_.operands(in_b[i]);
      if (of_a.size() != of_b.size()) return false;
      index_a[in_a[i].value] = index_b[in_b[i].value] = i;
      for (size_t k = 0; k < of_a.size(); ++k) {  // operands that stand later do not match
        const auto found_a = index_a.find(of_a[k].value), found_b = index_b.find(of_b[k].value);
        if (found_a == index_a.end() || found_b == index_b.end()) return false;
        if (found_a->second != found_b->second) return false;
      }
    }
    return index_a[module_[a].root.value] == index_b[module_[b].root.value];
  }

  Module& module_;
  Editor editor_;
  std::vector<ComputationId> canonical_;  // by computation
  std::vector<bool> communicates_;        // by computation
  std::unordered_multimap<size_t, ComputationId> computations_;
};

}  // namespace

Result<bool> merge_common(Module& module, const PassOptions&) { return Merger(module).run(); }

}  // namespace hilo
