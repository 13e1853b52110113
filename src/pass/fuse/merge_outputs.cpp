// Groups of several results. Two groups become one when they loop over the same elements, one reads
// the other or both read an array of that size, and no path of uses and control dependences leads
// from one to the other by way of a third: merged groups stay convex. Paths are looked for within a
// budget, so that the time is linear in the module.
#include <algorithm>
#include <map>
#include <set>

#include "pass/fuse/groups.h"

namespace hilo {
namespace {

constexpr size_t max_steps = 129;  // of a search for a path
constexpr size_t max_roots = 16;   // of a group
constexpr size_t max_readers = 8;  // of one array that are tried with each other
constexpr int max_rounds = 8;      // for groups that merged may read others that now can
// Bytes of a part of an array that is worth a loop of its own: by one loop for several parts, as of
// the weights of all layers, each would live from the first reader of any to its own last one.
constexpr int64_t worth_own_loop = 1 << 14;

// What a group loops over: its results' dimensions; of reductions, those of what is reduced.
struct Loop {
  Dims dims, reduced;
  bool operator==(const Loop&) const = default;
};

std::optional<Loop> loop_of(const Module& module, const FusionGroup& group) {
  std::optional<Loop> out;
  for (InstructionId root : group.roots) {
    Loop loop{module.shape(root).dims, {}};
    if (module[root].op == Op::Reduce)
      loop = {module.shape(module.operand(root, 0)).dims,
              module.attributes<ReduceAttributes>(root).dimensions};
    if (out && *out != loop) return std::nullopt;
    out = std::move(loop);
  }
  return out;
}

// Whether the group takes one part of an array and does nothing with it.
bool takes_part(const Module& module, const FusionGroup& group) {
  return group.roots.size() == 1 && literal_bytes(module.shape(group.roots[0])) >= worth_own_loop &&
         std::ranges::all_of(group.members, [&](InstructionId id) {
           return module[id].op == Op::Slice || module[id].op == Op::Reshape;
         });
}

}  // namespace

// By each value that a loop's body gives, what it had where its result has that value.
void FusionGroups::find_carried(ComputationId computation) {
  const Computation& body = module_[computation];
  if (body.parameters.size() != 1 || module_[body.root].op != Op::Tuple ||
      module_.shape(body.root) != module_.shape(body.parameters[0]))
    return;
  const auto results = module_.operands(body.root);
  std::vector<InstructionId> parts(results.size());
  for (InstructionId part : users(body.parameters[0])) {
    if (module_[part].op != Op::GetTupleElement) continue;
    const int64_t index = module_.attributes<GetTupleElementAttributes>(part).index;
    InstructionId& first = parts[static_cast<size_t>(index)];
    if (!first) first = part;
  }
  for (size_t i = 0; i < parts.size(); ++i) carried_before_.emplace(results[i].value, parts[i]);
}

void FusionGroups::find_controlled() {
  for (InstructionId id : order_)
    for (InstructionId before : module_.extra(module_[id]).control_predecessors)
      controlled_[before.value].push_back(id);
}

void FusionGroups::merge_outputs() {
  find_controlled();
  for (int round = 0; round < max_rounds; ++round) {
    const size_t before = merges_;
    merge_once();
    if (merges_ == before) return;
  }
}

void FusionGroups::merge_once() {
  for (size_t i = 0; i < groups_.size(); ++i) merge_with_producers(static_cast<int>(i));
  std::map<InstructionId, std::vector<int>> readers;
  for (InstructionId id : order_) {
    const int group = group_of(id);
    if (group < 0) continue;
    for (InstructionId operand : module_.operands(id))
      if (group_of(operand) != group && !module_.shape(operand).is_scalar()) {
        std::vector<int>& known = readers[operand];
        if (known.size() < max_readers && std::ranges::find(known, group) == known.end())
          known.push_back(group);
      }
  }
  for (const auto& [array, groups] : readers) merge_readers(groups);
}

void FusionGroups::merge_with_producers(int consumer) {
  std::set<int> producers;
  for (InstructionId member : groups_[consumer].members)
    for (InstructionId operand : module_.operands(member))
      if (const int group = group_of(operand); group >= 0 && group != consumer)
        producers.insert(group);
  for (int producer : producers) {
    if (groups_[producer].members.empty()) continue;
    if (const FusionDecision decision = may_merge_producer(consumer, producer))
      merge(consumer, producer);
    else record_merge(consumer, producer, decision);
  }
}

FusionDecision FusionGroups::may_merge_producer(int consumer, int producer) {
  if (groups_[producer].kind != FusionKind::Loop) return NoFusion::ProducerNoElementwise;
  if (const FusionDecision decision = may_merge(consumer, producer); !decision) return decision;
  return keeps_operands(consumer, producer) ? NoFusion::KeepsOperands : FusionDecision();
}

// Whether arrays that nothing but the producer reads, and that its result cannot be written over,
// would live until the consumer has its results too: the two sides of an outer product that is
// stored as it is and weighted.
bool FusionGroups::keeps_operands(int consumer, int producer) const {
  const FusionGroup& group = groups_[producer];
  int64_t result = 0, own = 0;
  for (InstructionId root : group.roots) {
    if (!is_needed_outside(root, consumer, producer)) return false;
    result = std::max(result, literal_bytes(module_.shape(root)));
  }
  std::set<InstructionId> seen;
  for (InstructionId member : group.members)
    for (InstructionId operand : module_.operands(member)) {
      if (group_of(operand) == producer || module_[operand].op == Op::Parameter ||
          module_[operand].op == Op::Constant || is_rematerialized(operand) ||
          is_needed_outside(operand, producer, producer) || !seen.insert(operand).second)
        continue;
      const int64_t bytes = literal_bytes(module_.shape(operand));
      if (bytes < result) own += bytes;
    }
  return result <= second_cache_ && own >= result / 16;
}

void FusionGroups::merge_readers(const std::vector<int>& readers) {
  for (size_t i = 0; i < readers.size(); ++i)
    for (size_t k = i + 1; k < readers.size(); ++k)
      if (readers[i] != readers[k] &&
          !(takes_part(module_, groups_[readers[i]]) && takes_part(module_, groups_[readers[k]])) &&
          may_merge(readers[i], readers[k]))
        merge(readers[i], readers[k]);
}

FusionDecision FusionGroups::may_merge(int a, int b) {
  const FusionGroup &x = groups_[a], &y = groups_[b];
  if (a == b || x.members.empty() || y.members.empty() || x.rows || y.rows || x.by_operands ||
      y.by_operands)
    return NoFusion::OwnLoops;
  if (x.kind != y.kind || x.kind == FusionKind::Output) return NoFusion::OtherKind;
  if (const size_t roots = count_roots(a, b); roots > max_roots)
    return {NoFusion::ManyResults, static_cast<int64_t>(roots), max_roots};
  if (const size_t members = x.members.size() + y.members.size(); members > max_members)
    return {NoFusion::ManyMembers, static_cast<int64_t>(members), max_members};
  if (const int weight = x.transcendental + y.transcendental; weight > max_transcendental)
    return {NoFusion::ManyTranscendentals, weight, max_transcendental};
  const auto has_own_loops = [&](InstructionId id) {
    return module_[id].op == Op::DynamicUpdateSlice || module_[id].op == Op::ReduceWindow ||
           is_choice_of_many(module_, id);
  };
  if (std::ranges::any_of(x.members, has_own_loops) ||
      std::ranges::any_of(y.members, has_own_loops))
    return NoFusion::OwnLoops;
  const auto loop = loop_of(module_, x);
  if (!loop || loop != loop_of(module_, y)) return NoFusion::OtherElements;
  if (element_count(loop->dims) < 2) return NoFusion::OneElement;
  // What one reads of the other it must read element by element.
  for (const auto& [reader, read] : {std::pair(&x, b), std::pair(&y, a)})
    for (InstructionId member : reader->members)
      for (InstructionId operand : module_.operands(member))
        if (group_of(operand) == read &&
            (!is_by_element(module_, member) || repeated_[member.value] ||
             module_.shape(member).dims != loop->dims))
          return NoFusion::ReadElsewhere;
  if (reaches(a, b) || reaches(b, a)) return NoFusion::PathBetween;
  if (needs_carried(a, b) || needs_carried(b, a)) return NoFusion::CarriedValue;
  return {};
}

// Whether one group may write a value that a loop carries over what it was before, and the other
// one asks for elements of that at other places, so that one loop would need a copy of it: waves,
// whose speed comes from the neighbours of a place and moves it.
bool FusionGroups::needs_carried(int writer, int reader) const {
  return std::ranges::any_of(groups_[writer].roots, [&](InstructionId root) {
    const auto found = carried_before_.find(root.value);
    const InstructionId before = found == carried_before_.end() ? InstructionId() : found->second;
    return before && !reads_elsewhere(writer, before) && reads_elsewhere(reader, before);
  });
}

// Whether members of the group need other elements of a value, or of what is made of it, than those
// of their own places.
bool FusionGroups::reads_elsewhere(int group, InstructionId value) const {
  std::vector<InstructionId> seen = {value};
  for (size_t i = 0; i < seen.size(); ++i)
    for (InstructionId user : users(seen[i])) {
      if (group_of(user) != group || std::ranges::count(seen, user) > 0) continue;
      if (!is_by_element(module_, user) || repeated_[user.value]) return true;
      seen.push_back(user);
    }
  return false;
}

bool FusionGroups::is_needed_outside(InstructionId root, int a, int b) const {
  return module_[module_[root].computation].root == root ||
         !std::ranges::all_of(users(root), [&](InstructionId user) {
           return group_of(user) == a || group_of(user) == b;
         });
}

// Of both groups as one.
size_t FusionGroups::count_roots(int a, int b) const {
  size_t out = 0;
  for (int group : {a, b})
    for (InstructionId root : groups_[group].roots) out += is_needed_outside(root, a, b);
  return out;
}

// Whether a path leads from one group to the other by way of instructions of neither. Places in the
// order do not bound the search: by a group of several results a path may come to an earlier one.
// All that is seen is to be visited: the budget is spent when that is too much.
bool FusionGroups::reaches(int from, int to) {
  std::vector<InstructionId> stack;
  size_t seen = 0;
  ++searches_;
  const auto reach = [&](InstructionId id) {
    if (std::exchange(searched_[id.value], searches_) == searches_) return;
    stack.push_back(id);
    ++seen;
  };
  for (InstructionId root : groups_[from].roots) reach(root);
  const auto is_far = [&] { return seen > max_steps; };
  while (!stack.empty() && !is_far()) {
    const InstructionId top = stack.back();
    stack.pop_back();
    for (InstructionId user : users(top)) {
      const int group = group_of(user);
      if (group == to && group_of(top) != from) return true;
      if (group == from || group == to) continue;
      if (is_far()) return true;
      if (group < 0) reach(user);
      else
        for (InstructionId root : groups_[group].roots) reach(root);
    }
    // Neither side is in a group: who takes part in control dependences is pinned.
    if (const auto later = controlled_.find(top.value); later != controlled_.end())
      for (InstructionId id : later->second) reach(id);
  }
  return is_far();
}

void FusionGroups::merge(int into, int from) {
  FusionGroup &target = groups_[into], &source = groups_[from];
  for (InstructionId member : source.members) of_[member.value] = into;
  const auto middle = std::ssize(target.members);
  target.members.insert(target.members.end(), source.members.begin(), source.members.end());
  target.transcendental += source.transcendental;
  std::ranges::inplace_merge(target.members, target.members.begin() + middle, std::greater<>(),
                             [&](InstructionId id) { return position_[id.value]; });
  target.roots.insert(target.roots.end(), source.roots.begin(), source.roots.end());
  source = {};
  ++merges_;
  std::erase_if(target.roots,
                [&](InstructionId root) { return !is_needed_outside(root, into, into); });
}

}  // namespace hilo
