#include <algorithm>
#include <numeric>

#include "plan/assign.h"

namespace hilo {
namespace {

// Groups of more pieces are left as they are, so that the time stays linear.
constexpr size_t max_intervals = 256;
// How far back the piece is looked for that another goes on from.
constexpr size_t max_joined = 32;

class Grouper {
 public:
  Grouper(const Plan& plan, std::span<const BufferFacts> facts, std::span<const int64_t> sizes,
          const Machine& machine)
      : plan_(plan), facts_(facts), sizes_(sizes), machine_(machine), at_(facts.size(), 0) {
    for (uint32_t i = 0; i < facts.size(); ++i) {
      group_of_.push_back(i);
      groups_.push_back(single({i}));
    }
  }

  void lay(const Overlay& pair) {
    const BufferId under = plan_.aliases.buffer_of[pair.operand.value];
    const BufferId above = plan_.aliases.buffer_of[pair.result.value];
    const uint32_t a = group_of_[under.value], b = group_of_[above.value];
    if (a == b || (groups_[a].host && groups_[b].host)) return;
    if (groups_[a].pieces.size() + groups_[b].pieces.size() > max_intervals) return;
    int64_t shift = at_[above.value] + pair.at - at_[under.value];  // of a, when b stays
    int64_t shift_b = 0;
    if (groups_[a].host || (shift < 0 && !groups_[b].host)) shift_b = -std::exchange(shift, 0);
    if (shift < 0 || shift_b < 0) return;
    if (!fits_host(groups_[a], groups_[b], shift_b) || !fits_host(groups_[b], groups_[a], shift))
      return;
    const Touch touch{pair.moment, at_[under.value] + shift, at_[above.value] + shift_b};
    if (!disturbed(groups_[a], shift, groups_[b], shift_b, touch)) merge(a, shift, b, shift_b);
  }

  std::vector<Group> take() {
    std::vector<Group> out;
    for (Group& group : groups_)
      if (!group.members.empty() && facts_[group.members[0].buffer.value].role != Role::None)
        out.push_back(std::move(group));
    return out;
  }

 private:
  struct Touch {
    int64_t moment, under, above;  // where the operand and the result lie
  };

  Group single(BufferId buffer) const {
    Group group;
    group.members = {{buffer, 0}};
    for (ValueId value : plan_.aliases.buffers[buffer.value].values)
      if (plan_.liveness.has_range(value)) {
        const LiveRange range = plan_.liveness.ranges[value.value];
        group.pieces.push_back({range.start, range.end, sizes_[value.value], 0});
      }
    coalesce_adjacent(group);
    if (facts_[buffer.value].has_own_allocation()) group.host = buffer;
    return group;
  }

  // One piece for those of one size and place that follow each other without a gap.
  static void coalesce_adjacent(Group& group) {
    std::ranges::stable_sort(group.pieces, {}, &Piece::start);
    std::vector<Piece> joined;
    for (const Piece& piece : group.pieces) {
      group.bytes = std::max(group.bytes, piece.at + piece.bytes);
      const size_t nearby = joined.size() - std::min<size_t>(joined.size(), max_joined);
      const auto last = joined.rend() - static_cast<ptrdiff_t>(nearby);
      const auto same = std::find_if(joined.rbegin(), last, [&](const Piece& p) {
        return p.at == piece.at && p.bytes == piece.bytes && p.end + 1 >= piece.start;
      });
      if (same == last) joined.push_back(piece);
      else same->end = std::max(same->end, piece.end);
    }
    group.pieces = std::move(joined);
  }

  bool fits_host(const Group& host, const Group& guest, int64_t shift) const {
    return !host.host || guest.bytes + shift <= facts_[host.host.value].bytes;
  }

  // Whether a piece of one group is alive where and when one of the other is; only that one is
  // read while the other is written in its place is allowed.
  bool disturbed(const Group& a, int64_t shift_a, const Group& b, int64_t shift_b,
                 const Touch& touch) const {
    for (const Piece& mine : a.pieces)
      for (const Piece& other : b.pieces) {
        if (mine.end < other.start || other.end < mine.start) continue;
        const int64_t low = mine.at + shift_a, other_low = other.at + shift_b;
        if (low + padded(mine, a) <= other_low || other_low + padded(other, b) <= low) continue;
        if (mine.end == touch.moment && other.start == touch.moment && low == touch.under &&
            other_low == touch.above)
          continue;
        return true;
      }
    return false;
  }

  int64_t padded(const Piece& piece, const Group& group) const {
    const int64_t space = facts_[group.members[0].buffer.value].space;
    const int64_t alignment = memory_space(machine_, space).alignment;
    return (piece.bytes + alignment - 1) / alignment * alignment;
  }

  void merge(uint32_t a, int64_t shift_a, uint32_t b, int64_t shift_b) {
    if (groups_[a].members.size() < groups_[b].members.size()) {
      std::swap(a, b);
      std::swap(shift_a, shift_b);
    }
    move(groups_[a], shift_a);
    move(groups_[b], shift_b);
    Group& into = groups_[a];
    Group from = std::exchange(groups_[b], {});
    for (const Member& member : from.members) group_of_[member.buffer.value] = a;
    into.members.insert(into.members.end(), from.members.begin(), from.members.end());
    into.pieces.insert(into.pieces.end(), from.pieces.begin(), from.pieces.end());
    if (from.host) into.host = from.host;
    coalesce_adjacent(into);
  }

  void move(Group& group, int64_t shift) {
    if (shift == 0) return;
    for (Piece& piece : group.pieces) piece.at += shift;
    for (Member& member : group.members) at_[member.buffer.value] = member.at += shift;
  }

  const Plan& plan_;
  const std::span<const BufferFacts> facts_;
  const std::span<const int64_t> sizes_;
  const Machine& machine_;
  std::vector<Group> groups_;
  std::vector<uint32_t> group_of_;  // by buffer
  std::vector<int64_t> at_;         // by buffer: from its group's offset
};

}  // namespace

std::vector<Group> find_groups(const Plan& plan, std::span<const BufferFacts> facts,
                               std::span<const int64_t> sizes, std::span<const Overlay> overlays,
                               const Machine& machine) {
  Grouper grouper(plan, facts, sizes, machine);
  for (const Overlay& pair : overlays) grouper.lay(pair);
  return grouper.take();
}

}  // namespace hilo
