// Tells of each producer and consumer what `fusion` decided. Decisions are recorded where they
// fall, only for who asks by PassOptions::fusion_decided.
#include <set>

#include "pass/fuse/groups.h"

namespace hilo {

void FusionGroups::record_join(InstructionId producer, const FusionDecision& decision) {
  if (refusals_) refusals_->joins[producer] = decision;
}

FusionDecision FusionGroups::readers_decision(InstructionId producer) const {
  if (module_[module_[producer].computation].root == producer) return NoFusion::IsResult;
  std::set<int> groups;
  for (InstructionId user : users(producer)) {
    if (group_of(user) < 0) return NoFusion::ReaderOutside;
    groups.insert(group_of(user));
  }
  return {NoFusion::ReadersApart, std::ssize(groups)};
}

void FusionGroups::record_merge(int consumer, int producer, const FusionDecision& decision) {
  if (!refusals_) return;
  for (InstructionId member : groups_[consumer].members)
    for (InstructionId operand : module_.operands(member))
      if (group_of(operand) == producer) refusals_->merges[{operand, member}] = decision;
}

void FusionGroups::record_recompute(InstructionId producer, const FusionDecision& decision) {
  if (refusals_) refusals_->recomputes[producer] = decision;
}

// Parameters, constants and iota are read or computed by whoever needs them, and what takes tuples
// apart or together is no work.
bool FusionGroups::is_told(InstructionId producer, InstructionId consumer) const {
  const auto is_tuple = [&](InstructionId id) { return module_.shape(id).is_tuple(); };
  return module_[producer].operand_count > 0 &&
         std::ranges::none_of(module_.operands(producer), is_tuple) &&
         std::ranges::none_of(module_.operands(consumer), is_tuple) &&
         (!is_tuple(consumer) || is_fusible(consumer));
}

bool FusionGroups::recomputes(InstructionId consumer, InstructionId producer) const {
  const int group = group_of(consumer);
  if (group < 0) return is_rematerialized(consumer) && is_rematerialized(producer);
  return may_copy_into(groups_[group], producer);
}

std::vector<FusionPair::Refusal> FusionGroups::refusals_of(InstructionId producer,
                                                           InstructionId consumer) const {
  const FusionDecision consumer_decision = is_fusible(consumer);
  if (!consumer_decision) return {{FusionQuestion::Consumer, consumer_decision}};
  std::vector<FusionPair::Refusal> out;
  const auto add = [&](FusionQuestion question, const auto& known, const auto& key) {
    if (const auto found = known.find(key); found != known.end())
      out.push_back({question, found->second});
  };
  add(FusionQuestion::Join, refusals_->joins, producer);
  add(FusionQuestion::Merge, refusals_->merges, std::pair(producer, consumer));
  add(FusionQuestion::Recompute, refusals_->recomputes, producer);
  if (out.empty()) out.push_back({FusionQuestion::Join, NoFusion::StoredForReaders});
  return out;
}

FusionPair FusionGroups::explain(
    InstructionId producer, InstructionId consumer,
    const std::function<bool(const FusionGroup&)>& becomes_fusion) const {
  FusionPair out{producer, consumer};
  const int group = group_of(consumer);
  const bool is_one_loop = group >= 0 && group_of(producer) == group;
  if (group >= 0 && !becomes_fusion(groups_[group])) {
    if (is_one_loop || recomputes(consumer, producer))
      out.refusals = {{FusionQuestion::Join, NoFusion::AloneInLoop}};
    else out.refusals = refusals_of(producer, consumer);
    return out;
  }
  if (is_one_loop) out.outcome = FusionPair::Outcome::OneLoop;
  else if (recomputes(consumer, producer)) out.outcome = FusionPair::Outcome::Recomputed;
  else out.refusals = refusals_of(producer, consumer);
  return out;
}

void FusionGroups::tell_decisions(
    const std::function<bool(const FusionGroup&)>& becomes_fusion) const {
  if (!refusals_) return;
  for (InstructionId consumer : order_) {
    std::set<InstructionId> told;
    for (InstructionId producer : module_.operands(consumer))
      if (is_told(producer, consumer) && told.insert(producer).second)
        decided_(module_, explain(producer, consumer, becomes_fusion));
  }
}

}  // namespace hilo
