#include <algorithm>

#include "plan/check.h"

namespace hilo {
namespace {

// A value in an allocation.
struct Resident {
  ValueId value;
  ComputationId computation;  // of its definition
  int64_t start, end;         // moments
  int64_t last;               // when it has ended for all others
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
      std::erase_if(alive, [&](const Resident& other) { return other.last < next.start; });
      for (const Resident& other : alive) check_pair(other, next);
      alive.push_back(next);
    }
  }

 private:
  void check_pair(const Resident& first, const Resident& second) {
    if (first.offset + first.bytes <= second.offset || second.offset + second.bytes <= first.offset)
      return;
    const int64_t end = end_for(first, second);
    if (end < second.start) return;
    if (may_overlap(first, end, second) || may_overlap(second, end_for(second, first), first))
      return;
    if (are_one(first, second)) return;
    const bool one_buffer =
        aliases_.buffer_of[first.value.value] == aliases_.buffer_of[second.value.value];
    const InstructionId id = aliases_[second.value].definition().instruction;
    errors_.push_back(
        {ErrorKind::Structure,
         fmt::format("{} lies over {} while both are alive{}",
                     name_of(module_, aliases_[second.value]),
                     name_of(module_, aliases_[first.value]),
                     one_buffer ? "; they share a buffer, and a copy must part them" : ""),
         module_.place(id)});
  }

  // What is made in one asynchronous computation comes and goes in the order of its schedule; what
  // is outside may meet any of it until the async-done.
  int64_t end_for(const Resident& one, const Resident& other) const {
    int64_t end = one.end;
    Walk::Beside at = walk_.beside[one.computation.value];
    for (; at.step && !is_inside(other.computation, at.step); at = around(at))
      end = std::max(end, at.end);
    return end;
  }
  bool is_inside(ComputationId computation, InstructionId step) const {
    Walk::Beside at = walk_.beside[computation.value];
    while (at.step && at.step != step) at = around(at);
    return static_cast<bool>(at.step);
  }
  Walk::Beside around(const Walk::Beside& inner) const {
    return walk_.beside[module_[inner.step].computation.value];
  }

  // The last user of `under` makes `above`, and may write it where it reads.
  bool may_overlap(const Resident& under, int64_t end, const Resident& above) const {
    if (end != above.start) return false;
    const Position& result = aliases_[above.value].definition();
    if (walk_.visits[result.instruction.value].start != above.start) return false;
    if (is_part(under, above, result.instruction)) return true;
    if (under.offset != above.offset) return false;
    bool used = false;
    for (const ValueUse& use : aliases_[under.value].uses) {
      if (use.instruction != result.instruction) continue;
      if (!may_write_over(use, result)) return false;
      used = true;
    }
    return used;
  }

  bool may_write_over(const ValueUse& use, const Position& result) const {
    for (const InPlace& pair : aliases_.in_place_of(use.instruction))
      if (pair.operand == use.operand && pair.operand_index == use.index &&
          pair.output_index == result.index)
        return true;
    const InstructionId operand =
        module_.operand(use.instruction, static_cast<size_t>(use.operand));
    return may_share(module_, aliases_, operand, use.index, result.instruction, result.index);
  }

  // Two parts of one result, declared to lie over the same part of an operand.
  bool are_one(const Resident& first, const Resident& second) const {
    const Position& a = aliases_[first.value].definition();
    const Position& b = aliases_[second.value].definition();
    if (a.instruction != b.instruction) return false;
    const auto pairs = aliases_.in_place_of(a.instruction);
    return std::ranges::any_of(pairs, [&](const InPlace& mine) {
      return mine.output_index == a.index && std::ranges::any_of(pairs, [&](const InPlace& other) {
               return other.output_index == b.index && other.operand == mine.operand &&
                      other.operand_index == mine.operand_index;
             });
    });
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
    const ComputationId made = module[aliases.values[i].definition().instruction].computation;
    if (place.bytes > 0)
      residents[allocation].push_back({{i},
                                       made,
                                       wanted[i].start,
                                       wanted[i].end,
                                       walk.last(module, made, wanted[i].end),
                                       place.offset,
                                       place.bytes});
  }
  OverlapChecker checker(module, aliases, walk, errors);
  for (std::vector<Resident>& of_one : residents) {
    std::ranges::stable_sort(of_one, {}, &Resident::start);
    checker.run(of_one);
  }
}

}  // namespace hilo
