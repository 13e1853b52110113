// Temporaries reuse dead parts of allocations that are there anyway: results before they are
// computed, donated parameters after they are read.
#include <algorithm>
#include <map>

#include "plan/assign.h"

namespace hilo {
namespace {

// Bounds the time on modules where many groups are looked at for each that moves.
constexpr int64_t max_work = 40'000'000;

// Sums over ranges of moments: adding to a range, and the moment with the largest sum.
class Loads {
 public:
  explicit Loads(size_t moments) {
    while (size_ < moments) size_ *= 2;
    most_.assign(2 * size_, 0);
    added_.assign(2 * size_, 0);
  }
  void add(size_t first, size_t last, int64_t bytes) { add(1, 0, size_ - 1, first, last, bytes); }
  int64_t most() const { return most_[1]; }
  size_t moment() const {  // the first of them
    size_t node = 1;
    while (node < size_) {
      const size_t left = 2 * node;
      node = most_[left] >= most_[left + 1] ? left : left + 1;
    }
    return node - size_;
  }

 private:
  void add(size_t node, size_t low, size_t high, size_t first, size_t last, int64_t bytes) {
    if (last < low || high < first) return;
    if (first <= low && high <= last) {
      most_[node] += bytes;
      added_[node] += bytes;
      return;
    }
    const size_t middle = (low + high) / 2;
    add(2 * node, low, middle, first, last, bytes);
    add(2 * node + 1, middle + 1, high, first, last, bytes);
    most_[node] = added_[node] + std::max(most_[2 * node], most_[2 * node + 1]);
  }

  size_t size_ = 1;
  std::vector<int64_t> most_, added_;
};

// A host and what lies in it.
struct Host {
  uint32_t group = 0;
  int64_t bytes = 0;
  std::vector<Piece> taken;
};

// Hosts and groups of one space.
class Housing {
 public:
  Housing(std::span<const Group> groups, int64_t alignment, size_t moments,
          const ReuseChoice& choice)
      : groups_(groups),
        alignment_(alignment),
        choice_(choice),
        loads_(moments),
        settled_(groups.size(), false),
        span_((moments + count_spans - 1) / count_spans),
        alive_in_(count_spans) {}

  void add_host(uint32_t group, int64_t bytes) {
    hosts_.push_back({group, bytes, groups_[group].pieces});
  }
  void add_group(uint32_t group) {
    waiting_.push_back(group);
    load(group, 1);
  }

  void run(std::vector<Reuse>& out) {
    if (hosts_.empty()) return;
    std::ranges::stable_sort(waiting_, std::greater<>(),
                             [&](uint32_t g) { return groups_[g].bytes; });
    for (uint32_t group : waiting_) list(group);
    while (loads_.most() > 0 && work_ < max_work)
      if (!move_one(static_cast<int64_t>(loads_.moment()), out)) return;
  }

 private:
  int64_t round_up(int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  void load(uint32_t group, int64_t sign) {
    for (const Piece& piece : groups_[group].pieces)
      loads_.add(static_cast<size_t>(piece.start), static_cast<size_t>(piece.end),
                 sign * round_up(piece.bytes));
  }

  void list(uint32_t group) {
    for (const Piece& piece : groups_[group].pieces)
      for (size_t i = static_cast<size_t>(piece.start) / span_;
           i <= static_cast<size_t>(piece.end) / span_; ++i)
        if (alive_in_[i].empty() || alive_in_[i].back() != group) alive_in_[i].push_back(group);
  }

  bool move_one(int64_t moment, std::vector<Reuse>& out) {
    std::vector<uint32_t>& nearby = alive_in_[static_cast<size_t>(moment) / span_];
    std::erase_if(nearby, [&](uint32_t group) { return settled_[group]; });
    Stay best;
    int64_t least = INT64_MAX;
    size_t tried = 0;
    for (uint32_t group : nearby) {
      ++work_;
      if (settled_[group] || !is_alive(groups_[group], moment)) continue;
      const auto [host, offset] = find_room(groups_[group]);
      settled_[group] = !host;  // hosts only become fuller
      if (!host) continue;
      const int64_t most = max_load_without(group);
      const bool is_equal = most == least && groups_[group].bytes == groups_[best.group].bytes;
      if (most < least || (choice_.last_of_equals && is_equal)) best = {group, host, offset};
      least = std::min(least, most);
      if (++tried == choice_.compared) break;
    }
    if (!best.host) return false;
    settle(best, out);
    return true;
  }

  struct Stay {
    uint32_t group = 0;
    Host* host = nullptr;
    int64_t offset = 0;
  };
  void settle(const Stay& stay, std::vector<Reuse>& out) {
    settled_[stay.group] = true;
    for (Piece piece : groups_[stay.group].pieces) {
      piece.at += stay.offset;
      stay.host->taken.push_back(piece);
    }
    load(stay.group, -1);
    out.push_back({stay.group, stay.host->group, stay.offset});
  }

  int64_t max_load_without(uint32_t group) {
    work_ += static_cast<int64_t>(groups_[group].pieces.size());
    load(group, -1);
    const int64_t out = loads_.most();
    load(group, 1);
    return out;
  }

  static bool is_alive(const Group& group, int64_t moment) {
    return std::ranges::any_of(group.pieces, [&](const Piece& piece) {
      return piece.start <= moment && moment <= piece.end;
    });
  }

  // The smallest host with room, and where in it.
  std::pair<Host*, int64_t> find_room(const Group& group) {
    Host* best = nullptr;
    int64_t best_offset = 0;
    for (Host& host : hosts_) {
      if (host.bytes < group.bytes || (best && best->bytes <= host.bytes)) continue;
      const int64_t offset = lowest_offset(group, host);
      if (offset + group.bytes > host.bytes) continue;
      best = &host;
      best_offset = offset;
    }
    return {best, best_offset};
  }

  int64_t lowest_offset(const Group& group, const Host& host) {
    std::vector<std::pair<int64_t, int64_t>> forbidden;  // after, before
    for (const Piece& piece : group.pieces)
      for (const Piece& taken : host.taken) {
        ++work_;
        if (piece.end < taken.start || taken.end < piece.start) continue;
        forbidden.emplace_back(taken.at - piece.at - round_up(piece.bytes),
                               taken.at + round_up(taken.bytes) - piece.at);
      }
    std::ranges::sort(forbidden);
    int64_t offset = 0;
    for (const auto& [after, before] : forbidden) {
      if (after >= offset) break;
      offset = std::max(offset, before);
    }
    return offset;
  }

  const std::span<const Group> groups_;
  const int64_t alignment_;
  const ReuseChoice choice_;
  Loads loads_;
  std::vector<bool> settled_;      // by group: it has moved, or there is no room for it
  std::vector<uint32_t> waiting_;  // largest first
  static constexpr size_t count_spans = 64;
  const size_t span_;                            // moments in one of them
  std::vector<std::vector<uint32_t>> alive_in_;  // by span of moments, largest first
  std::vector<Host> hosts_;
  int64_t work_ = 0;
};

}  // namespace

std::vector<Reuse> reuse_dead_allocations(std::span<const Group> groups,
                                          std::span<const BufferFacts> facts,
                                          const Machine& machine, const ReuseChoice& choice) {
  size_t moments = 1;
  for (const Group& group : groups)
    for (const Piece& piece : group.pieces)
      moments = std::max(moments, static_cast<size_t>(piece.end) + 1);
  std::map<int64_t, Housing> spaces;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    const BufferFacts& is = facts[groups[i].members[0].buffer.value];
    if (groups[i].pieces.empty()) continue;
    const int64_t alignment = memory_space(machine, is.space).alignment;
    Housing& housing =
        spaces.try_emplace(is.space, groups, alignment, moments, choice).first->second;
    if (!groups[i].host) housing.add_group(i);
    else if (facts[groups[i].host.value].writable)
      housing.add_host(i, facts[groups[i].host.value].bytes);
  }
  std::vector<Reuse> out;
  for (auto& [space, housing] : spaces) housing.run(out);
  return out;
}

}  // namespace hilo
