#include <algorithm>

#include "plan/assign.h"

namespace hilo {
namespace {

class OverlayFinder {
 public:
  OverlayFinder(const Module& module, const Plan& plan, std::span<const BufferFacts> facts,
                std::span<const int64_t> sizes, const Machine& machine, KnownSharing& known)
      : module_(module),
        plan_(plan),
        facts_(facts),
        sizes_(sizes),
        machine_(machine),
        known_(known) {
    results_.resize(module.instructions.size());
    for (uint32_t i = 0; i < plan.aliases.values.size(); ++i)
      if (plan.liveness.has_range({i}))
        results_[plan.aliases.values[i].definition().instruction.value].push_back({i});
  }

  std::vector<Overlay> run() {
    for (size_t i = 0; i < plan_.liveness.sequence.size(); ++i) {
      moment_ = static_cast<int64_t>(i);
      const InstructionId user = plan_.liveness.sequence[i];
      const size_t first = out_.size();
      for (ValueId result : results_[user.value])
        if (plan_.liveness.ranges[result.value].start == moment_) add_operands(user, result);
      std::stable_sort(out_.begin() + static_cast<ptrdiff_t>(first), out_.end(),
                       [&](const Overlay& a, const Overlay& b) { return saved(a) > saved(b); });
    }
    return std::move(out_);
  }

 private:
  int64_t saved(const Overlay& pair) const {
    return std::min(sizes_[pair.operand.value], sizes_[pair.result.value]);
  }

  const BufferFacts& facts(ValueId value) const {
    return facts_[plan_.aliases.buffer_of[value.value].value];
  }

  void add_operands(InstructionId user, ValueId result) {
    const BufferFacts& above = facts(result);
    if (above.role != Role::Temp && above.role != Role::LiveOut) return;
    if (above.is_tuple) return;
    if (is_concat_bitcast(user)) return add_parts(user, result);
    const auto operands = module_.operands(user);
    for (size_t k = 0; k < operands.size(); ++k)
      for (size_t node = 0; node < plan_.aliases.count_nodes(operands[k]); ++node)
        for (ValueId operand : plan_.aliases.at_node(operands[k], node))
          if (may_lie_under(operand, above) && !is_written_otherwise(operand, user, result) &&
              may_lie_over(operand, result))
            out_.push_back({operand, result, 0, moment_});
  }

  // The operands lie side by side in the result, which is nothing but another name for them.
  bool is_concat_bitcast(InstructionId user) const {
    return module_[user].op == Op::CustomCall &&
           module_.attributes<CustomCallAttributes>(user).custom_call_target == "ConcatBitcast";
  }
  void add_parts(InstructionId user, ValueId result) {
    const BufferFacts& above = facts(result);
    const int64_t alignment = memory_space(machine_, above.space).alignment;
    int64_t at = 0;
    for (InstructionId part : module_.operands(user)) {
      const auto values = plan_.aliases.at(part);
      if (values.size() != 1) return;
      if (may_lie_under(values[0], above)) out_.push_back({values[0], result, at, moment_});
      at += sizes_[values[0].value];
      if (at % alignment != 0) return;
    }
  }

  bool may_lie_under(ValueId operand, const BufferFacts& above) const {
    const BufferFacts& under = facts(operand);
    return under.space == above.space && !under.is_tuple &&
           (under.role == Role::Temp || under.writable) &&
           plan_.liveness.ranges[operand.value].end == moment_ && sizes_[operand.value] > 0;
  }

  // Another result of the user lies in the operand's buffer, even when nobody reads it.
  bool is_written_otherwise(ValueId operand, InstructionId user, ValueId result) const {
    return std::ranges::any_of(plan_.aliases.buffer(operand).values, [&](ValueId mate) {
      return mate != result && plan_.aliases[mate].definition().instruction == user;
    });
  }

  bool may_lie_over(ValueId operand, ValueId result) const {
    const uint64_t both = uint64_t{operand.value} << 32 | result.value;
    const auto [known, is_new] = known_.try_emplace(both);
    if (is_new) known->second = may_share_all(operand, plan_.aliases[result].definition());
    return known->second;
  }
  // The user may read the value in several places, and must not mind in any.
  bool may_share_all(ValueId operand, const Position& result) const {
    const InstructionId user = result.instruction;
    for (const ValueUse& use : plan_.aliases[operand].uses)
      if (use.instruction == user &&
          !may_share(module_, plan_.aliases, module_.operand(user, use.operand), use.index, user,
                     result.index))
        return false;
    return true;
  }

  const Module& module_;
  const Plan& plan_;
  const std::span<const BufferFacts> facts_;
  const std::span<const int64_t> sizes_;
  const Machine& machine_;
  KnownSharing& known_;
  std::vector<std::vector<ValueId>> results_;  // by instruction: values that it makes
  std::vector<Overlay> out_;
  int64_t moment_ = 0;
};

}  // namespace

std::vector<Overlay> find_overlays(const Module& module, const Plan& plan,
                                   std::span<const BufferFacts> facts,
                                   std::span<const int64_t> sizes, const Machine& machine,
                                   KnownSharing& known) {
  return OverlayFinder(module, plan, facts, sizes, machine, known).run();
}

}  // namespace hilo
