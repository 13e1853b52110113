// Copies where aliases would make one buffer hold two values at once, and nowhere else.
//
// While loops carry their values in one buffer, some ops write over an operand, a parameter that
// the caller gives away is where a result comes to lie. Each such place ties a value that comes in
// to one that goes on. A tie holds when no value of the buffer is read after the next one is made
// (for unscheduled modules in an order that puts readers before what is written over them); where
// it does not, a copy stands between. Results that would be parameters or constants of the caller,
// or the same value twice, are copied too.
//
// Assumes a module that verifies. Afterwards all values of each buffer that find_aliases() gives
// follow each other in time in the order of the module, which stays as it is when it is scheduled.
// Runs last of all passes, for others would not know what its copies are there for.
#include <algorithm>
#include <map>

#include "pass/copy_candidates.h"
#include "pass/insertion.h"
#include "pass/readers_first.h"

namespace hilo {
namespace {

// A second round handles copies in each other's way, as where a loop swaps what it carries.
constexpr int max_rounds = 32;

Schedule order_of(const Module& module, const Aliases& aliases) {
  Schedule schedule = schedule_of(module);
  if (!module.header.is_scheduled)
    for (ComputationId computation : module.post_order())
      schedule.orders[computation.value] = readers_first(module, aliases, computation);
  return schedule;
}

class Copier {
 public:
  explicit Copier(Module& module) : module_(module), insertion_(module) {}

  void copy(std::span<const CopyPosition> places) {
    std::map<std::tuple<ComputationId, InstructionId, int64_t>, std::vector<Dims>> parts;
    for (const CopyPosition& place : places)
      parts[{place.computation, place.user, place.operand}].push_back(place.index);
    for (auto& [where, indices] : parts) {
      const auto& [computation, user, operand] = where;
      std::ranges::sort(indices);
      indices.erase(std::ranges::unique(indices).begin(), indices.end());
      if (user) copy_operand(user, static_cast<size_t>(operand), indices);
      else copy_root(computation, indices);
    }
    insertion_.finish();
  }

 private:
  void copy_operand(InstructionId user, size_t operand, std::span<const Dims> indices) {
    const InstructionId value = module_.operand(user, operand);
    module_.set_operand(user, operand, insertion_.copy_parts(value, indices, user));
    insertion_.remove_unused(value);
  }

  // Where results were copied before and the copies are in each other's way, the new ones come
  // after all of those; without a schedule nothing else would say so.
  void copy_root(ComputationId computation, std::span<const Dims> indices) {
    const InstructionId root = module_[computation].root;
    std::vector<InstructionId> earlier;
    if (module_[root].op == Op::Tuple && !module_.header.is_scheduled)
      for (InstructionId element : module_.operands(root))
        if (module_[element].op == Op::Copy) earlier.push_back(element);
    const size_t before = insertion_.copies().size();
    module_[computation].root = insertion_.copy_parts(root, indices, {});
    for (InstructionId copy : insertion_.copies().subspan(before))
      for (InstructionId other : earlier)
        if (other != module_.operand(copy, 0))
          module_.mutable_extra(copy).control_predecessors.push_back(other);
    insertion_.remove_unused(root);
  }

  Module& module_;
  Insertion insertion_;
};

// A copy that is in the way in its turn, as one in a branch is of what another branch reads (their
// order says nothing about time): then all that comes into the buffer is copied where it comes in,
// unless it is made there and for this alone, as a copy is, or a broadcast in a copy's stead.
void add_copy_positions(const Module& module, const Aliases& aliases,
                        const CopyCandidates& candidates, const CopyCandidate& conflict,
                        std::vector<CopyPosition>& places) {
  const auto definition = [&](ValueId value) { return aliases[value].definition().instruction; };
  const auto is_copy = [&](ValueId value) { return module[definition(value)].op == Op::Copy; };
  const auto is_computed_there = [&](const CopyCandidate& candidate) {
    const Instruction& made = module[definition(candidate.from)];
    const bool alone =
        made.op == Op::Broadcast && module.users(definition(candidate.from)).size() == 1;
    return (made.op == Op::Copy || alone) && made.computation == candidate.place.computation;
  };
  const auto buffer = [&](ValueId value) { return aliases.buffer_of[value.value]; };
  const size_t before = places.size();
  if (is_copy(conflict.from))
    for (const CopyCandidate& other : candidates.pairs)
      if (buffer(other.to) == buffer(conflict.to) && !is_computed_there(other))
        places.push_back(other.place);
  if (places.size() == before) places.push_back(conflict.place);
}

// Whether the rounds came to an end with nothing in the way; `changed` when a copy was added.
Result<bool> settle(Module& module, bool& changed) {
  for (int round = 0; round < max_rounds; ++round) {
    HILO_TRY(const Aliases aliases, find_aliases(module));
    const Schedule order = order_of(module, aliases);
    const Lifetimes lifetimes(module, aliases, order);
    const CopyCandidates candidates = find_copy_candidates(module, aliases, lifetimes);
    std::vector<CopyPosition> places = candidates.results;
    for (const CopyCandidate& candidate : find_interfering(aliases, lifetimes, candidates))
      add_copy_positions(module, aliases, candidates, candidate, places);
    if (places.empty()) {
      for (ComputationId computation : module.post_order())
        module[computation].instructions = order.orders[computation.value];
      return true;
    }
    Copier(module).copy(places);
    changed = true;
  }
  return false;
}

// Each copy may change which order puts readers first, and so what is in the way of what. In an
// order that stands the copies only become more.
Result<void> fix_order(Module& module) {
  HILO_TRY(const Aliases aliases, find_aliases(module));
  for (ComputationId computation : module.post_order())
    module[computation].instructions = readers_first(module, aliases, computation);
  module.header.is_scheduled = true;
  return {};
}

}  // namespace

Result<bool> insert_copies(Module& module, const PassOptions& options) {
  HILO_TRY(bool changed, flatten_calls(module, options));
  HILO_TRY(bool settled, settle(module, changed));
  if (!settled && !module.header.is_scheduled) {
    HILO_DO(fix_order(module));
    HILO_TRY(settled, settle(module, changed));
  }
  if (settled) return changed;
  return fail(ErrorKind::Unsupported,
              "the values of some buffer are still in each other's way after {} rounds of copies",
              max_rounds);
}

}  // namespace hilo
