#include <algorithm>

#include "plan/check.h"

namespace hilo {
namespace {

// A value in an allocation.
struct Resident {
  ValueId value;
  int64_t start, end;  // moments
  int64_t offset, bytes;
};

class OverlapChecker {
 public:
  OverlapChecker(const Module& module, const Aliases& aliases, const Walk& walk,
                 std::vector<Error>& errors)
      : module_(module), aliases_(aliases), walk_(walk), errors_(errors) {}

  // Residents by the start of their lives.
  void run(std::span<const Resident> residents) {
    std::vector<Resident> alive;
    for (const Resident& next : residents) {
      std::erase_if(alive, [&](const Resident& other) { return other.end < next.start; });
      for (const Resident& other : alive) check_pair(other, next);
      alive.push_back(next);
    }
  }

 private:
  void check_pair(const Resident& first, const Resident& second) {
    if (first.offset + first.bytes <= second.offset || second.offset + second.bytes <= first.offset)
      return;
    if (aliases_.buffer_of[first.value.value] == aliases_.buffer_of[second.value.value]) return;
    if (may_overlap(first, second) || may_overlap(second, first)) return;
    const InstructionId id = aliases_[second.value].definition().instruction;
    errors_.push_back({ErrorKind::Structure,
                       fmt::format("{} lies over {} while both are alive",
                                   name_of(module_, aliases_[second.value]),
                                   name_of(module_, aliases_[first.value])),
                       module_.place(id)});
  }

  // The last user of `under` makes `above`, and may write it where it reads.
  bool may_overlap(const Resident& under, const Resident& above) const {
    if (under.end != above.start) return false;
    const Position& result = aliases_[above.value].definition();
    if (walk_.visits[result.instruction.value].start != above.start) return false;
    if (is_part(under, above, result.instruction)) return true;
    if (under.offset != above.offset) return false;
    bool used = false;
    for (const ValueUse& use : aliases_[under.value].uses) {
      if (use.instruction != result.instruction) continue;
      const InstructionId operand = module_.operand(result.instruction, use.operand);
      if (!may_share(module_, aliases_, operand, use.index, result.instruction, result.index))
        return false;
      used = true;
    }
    return used;
  }

  // Pieces of a sliced prefetch lie one after the other in the whole.
  bool is_part(const Resident& under, const Resident& above, InstructionId whole) const {
    if (module_[whole].op != Op::CustomCall ||
        module_.attributes<CustomCallAttributes>(whole).custom_call_target != "ConcatBitcast")
      return false;
    const auto parts = module_.operands(whole);
    const int64_t number = (under.offset - above.offset) / std::max<int64_t>(under.bytes, 1);
    return under.offset == above.offset + number * under.bytes && number >= 0 &&
           number < static_cast<int64_t>(parts.size()) &&
           std::ranges::find(aliases_.at(parts[number]), under.value) !=
               aliases_.at(parts[number]).end();
  }

  const Module& module_;
  const Aliases& aliases_;
  const Walk& walk_;
  std::vector<Error>& errors_;
};

}  // namespace

void check_overlaps(const Module& module, const Aliases& aliases, const Plan& plan,
                    const Walk& walk, std::span<const LiveRange> wanted,
                    std::vector<Error>& errors) {
  std::vector<std::vector<Resident>> residents(plan.allocations.size());
  for (uint32_t i = 0; i < aliases.values.size(); ++i) {
    const auto [allocation, slot] = plan.where[i];
    if (wanted[i].start > wanted[i].end || allocation >= plan.allocations.size()) continue;
    const Slot& place = plan.allocations[allocation].slots[slot];
    if (place.bytes > 0)
      residents[allocation].push_back(
          {{i}, wanted[i].start, wanted[i].end, place.offset, place.bytes});
  }
  OverlapChecker checker(module, aliases, walk, errors);
  for (std::vector<Resident>& of_one : residents) {
    std::ranges::stable_sort(of_one, {}, &Resident::start);
    checker.run(of_one);
  }
}

}  // namespace hilo
