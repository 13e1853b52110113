// Values that lie idle at the peak and could be computed again before they are read.
#include <algorithm>

#include "report/advice.h"

namespace hilo {
namespace {

// One result and no effect beside it.
bool may_run_twice(const PictureInstruction& instruction) {
  const auto op = op_of(instruction.op);
  if (!op) return false;
  return *op == Op::Fusion ||
         !has_trait(*op, TraitEffect | TraitCollective | TraitNotFolded | TraitNoTraffic);
}

struct Gap {
  int64_t last_before = -1, first_after = INT64_MAX;
};

// The moments around the peak at which the value is made or read.
std::optional<Gap> gap_around(const MemoryPicture& picture, const PictureValue& value,
                              int64_t moment) {
  Gap gap{value.start, INT64_MAX};
  for (const PicturePosition& use : value.uses) {
    const int64_t read = picture.instructions[use.instruction].moment;
    if (read == moment || read < 0) return std::nullopt;
    if (read < moment) gap.last_before = std::max(gap.last_before, read);
    else gap.first_after = std::min(gap.first_after, read);
  }
  return gap.first_after == INT64_MAX || gap.last_before >= moment ? std::nullopt
                                                                   : std::optional(gap);
}

}  // namespace

void propose_recomputing(const MemoryPicture& picture, const Dataflow& flow,
                         const TemporarySpace& space, Candidates& out) {
  const int64_t peak_moment = space.peak_moment();
  for (size_t v = 0; v < picture.values.size(); ++v) {
    const PictureValue& value = picture.values[v];
    if (!space.is_at_peak(v) || value.start >= peak_moment || value.end <= peak_moment) continue;
    if (value.defined.has_index || value.is_phi || !space.is_alone(v)) continue;
    const PictureInstruction& instruction = picture.instruction_of(value);
    const auto gap = gap_around(picture, value, peak_moment);
    if (!may_run_twice(instruction) || !gap) continue;
    Change change;
    change.pieces[v] = {{value.start, gap->last_before, value.bytes}};
    if (gap->last_before == value.start) change.pieces[v] = {};  // nobody reads it before
    change.added.push_back({{{gap->first_after, value.end, value.bytes}}});
    bool possible = true;
    for (const size_t operand : flow.read[value.defined.instruction]) {
      const size_t place = picture.values[operand].allocation;
      if (space.holds(operand)) {
        Piece piece = space.piece(operand);
        piece.end = std::max(piece.end, gap->first_after);
        change.pieces[operand] = {piece};
      } else if (place == PictureValue::no_allocation ||
                 !picture.allocations[place].is_always_there() ||
                 picture.allocations[place].is_live_out) {
        possible = false;
      }
    }
    if (!possible) continue;
    Candidate& candidate = out.emplace_back();
    candidate.advice.kind = "recompute";
    candidate.advice.text = fmt::format(
        "compute {} ({}){} again before its use at step {}, not keep it from step {} on",
        picture.name_of(value), instruction.op, at_source(picture, v), gap->first_after,
        gap->last_before);
    if (instruction.has_cost && instruction.cost.flops_known)
      candidate.advice.text += fmt::format("; costs {:.3g} flops", instruction.cost.flops);
    candidate.advice.values = {v};
    candidate.change = std::move(change);
  }
}

}  // namespace hilo
