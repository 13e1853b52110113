// Chains of instructions that only move data: copies to other layouts, reshapes, transposes. One
// movement can do what several do, and none is needed where the first instruction writes the layout
// that the last one makes.
#include <algorithm>

#include "report/advice.h"

namespace hilo {
namespace {

bool moves_data(const PictureInstruction& instruction) {
  for (const Op op : {Op::Copy, Op::Reshape, Op::Transpose, Op::Bitcast})
    if (instruction.op == text_of(op)) return true;
  return false;
}

class Chains {
 public:
  Chains(const MemoryPicture& picture, const Dataflow& flow, const TemporarySpace& space,
         Candidates& out)
      : picture_(picture), flow_(flow), space_(space), out_(out) {}

  void propose() {
    for (size_t v = 0; v < picture_.values.size(); ++v) {
      if (!is_moved(v)) continue;
      const size_t input = input_of(v);
      if (is_moved(input) && next(input) == v) continue;  // not the first of its chain
      std::vector<size_t> chain = {v};
      while (const auto after = next(chain.back())) chain.push_back(*after);
      if (std::none_of(chain.begin(), chain.end(),
                       [&](size_t moved) { return space_.is_at_peak(moved); }))
        continue;
      if (chain.size() > 1) propose_one_movement(input, chain);
      propose_none(input, chain);
    }
  }

 private:
  static constexpr size_t none = SIZE_MAX;

  // Made by moving one other value.
  bool is_moved(size_t v) const {
    if (v == none) return false;
    const PictureValue& value = picture_.values[v];
    return !value.is_phi && moves_data(picture_.instruction_of(value)) &&
           flow_.made[value.defined.instruction].size() == 1 && input_of(v) != none;
  }
  size_t input_of(size_t v) const {
    const auto& read = flow_.read[picture_.values[v].defined.instruction];
    return read.size() == 1 && read[0] != v ? read[0] : none;
  }
  std::optional<size_t> next(size_t v) const {
    const std::vector<size_t> users = flow_.users(picture_, v);
    if (users.size() != 1 || flow_.made[users[0]].size() != 1) return std::nullopt;
    const size_t after = flow_.made[users[0]][0];
    const bool forward = picture_.values[after].start > picture_.values[v].start;
    return is_moved(after) && after != v && forward ? std::optional(after) : std::nullopt;
  }

  const PictureAllocation* allocation_of(size_t v) const {
    const size_t allocation = picture_.values[v].allocation;
    return allocation == PictureValue::no_allocation ? nullptr : &picture_.allocations[allocation];
  }
  std::string names(std::span<const size_t> values) const {
    std::string out;
    for (const size_t v : values)
      out += (out.empty() ? "" : " and ") + picture_.name_of(picture_.values[v]);
    return out;
  }

  // Keeps the input until `moment`; false where it lies among others that might be in the way.
  bool keep_until(size_t input, int64_t moment, Change& change) const {
    if (space_.holds(input)) {
      Piece piece = space_.piece(input);
      piece.end = std::max(piece.end, moment);
      change.pieces[input] = {piece};
      return true;
    }
    const PictureAllocation* allocation = allocation_of(input);
    return allocation && allocation->is_always_there() && !allocation->is_live_out;
  }

  void add(std::string text, std::vector<size_t> values, Change change) {
    Candidate& candidate = out_.emplace_back();
    candidate.advice.kind = "drop-copies";
    candidate.advice.text = std::move(text);
    candidate.advice.values = std::move(values);
    candidate.change = std::move(change);
  }

  // The last of the chain alone.
  void propose_one_movement(size_t input, const std::vector<size_t>& chain) {
    Change change;
    const size_t last = chain.back();
    if (!keep_until(input, picture_.values[last].start, change)) return;
    std::vector<size_t> dropped;
    for (size_t i = 0; i + 1 < chain.size(); ++i)
      if (space_.holds(chain[i])) {
        change.pieces[chain[i]] = {};
        dropped.push_back(chain[i]);
      }
    if (dropped.empty()) return;
    add(fmt::format("drop {}{}: {} could read {} itself, the same elements in another layout",
                    names(dropped), at_source(picture_, dropped[0]),
                    picture_.name_of(picture_.values[last]),
                    picture_.name_of(picture_.values[input])),
        dropped, std::move(change));
  }

  // Whether anything else lies in the place of `v` from `start` on.
  bool is_free_before(size_t v, int64_t start) const {
    const PictureValue& value = picture_.values[v];
    for (const size_t other : allocation_of(v)->values) {
      const PictureValue& there = picture_.values[other];
      if (other != v && there.has_range() && there.start <= value.end && there.end >= start)
        return false;
    }
    return true;
  }

  // None: what makes the input writes the layout that the last one makes.
  void propose_none(size_t input, const std::vector<size_t>& chain) {
    const size_t last = chain.back();
    const PictureAllocation* from = allocation_of(input);
    const PictureAllocation* to = allocation_of(last);
    if (!from || !to || flow_.users(picture_, input).size() != 1) return;
    if (!picture_.values[last].has_range() || to->is_always_there()) return;
    Change change;
    std::vector<size_t> dropped;
    for (const size_t v : chain)
      if (space_.holds(v)) {
        change.pieces[v] = {};
        dropped.push_back(v);
      }
    const PictureValue &first = picture_.values[input], &end = picture_.values[last];
    if (space_.holds(input)) {
      if (space_.holds(last)) {
        if (!space_.is_alone(input)) return;
        change.pieces[input] = {{first.start, end.end, end.bytes}};
      } else {
        if (!is_free_before(last, first.start)) return;
        change.pieces[input] = {};
      }
    } else if (!from->is_always_there() || from->is_live_out || !space_.holds(last)) {
      return;
    }
    if (change.pieces.empty()) return;
    add(fmt::format("no {}{}: {} would have to {} {} itself", names(chain),
                    at_source(picture_, chain[0]), picture_.name_of(first),
                    from->is_always_there() ? "be given as" : "be written as", end.shape),
        dropped, std::move(change));
  }

  const MemoryPicture& picture_;
  const Dataflow& flow_;
  const TemporarySpace& space_;
  Candidates& out_;
};

}  // namespace

void propose_dropped_copies(const MemoryPicture& picture, const Dataflow& flow,
                            const TemporarySpace& space, Candidates& out) {
  Chains(picture, flow, space, out).propose();
}

}  // namespace hilo
