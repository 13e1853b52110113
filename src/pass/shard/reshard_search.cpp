// Dijkstra's algorithm, with the bound of what is left as its estimate (A*).
#include "pass/shard/reshard_search.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>

#include "pass/shard/reshard_permute.h"

namespace hilo {
namespace {

using Kind = ReshardStep::Kind;

ChainCost operator+(const ChainCost& a, const ChainCost& b) {
  return {a.moved + b.moved, a.collectives + b.collectives, a.elements + b.elements,
          std::max(a.peak, b.peak)};
}

// An all-gather or all-to-all as it is put together, dimension by dimension.
enum Change : size_t { Released, Added };
struct Exchange {
  AtomLists next;
  AtomSet used;         // before
  ListedAtoms changed;  // by Change
};

// Steps from one state to another, and what they cost but for what devices lack.
class Steps {
 public:
  explicit Steps(const ReshardSpace& space) : space_(space) {}

  ChainStep slice(const AtomLists& lists, const AtomLists& next) const {
    return {
        Kind::Slice, {}, {0, 0, 0, space_.tile_elements(lists) + space_.tile_elements(next)}, next};
  }

  ChainStep all_reduce(const AtomLists& lists, std::span<const Atom> atoms) const {
    AtomLists next = lists;
    AtomSet added;
    for (Atom atom : atoms) added.set(atom);
    next.erase(space_.rank(), added);
    const int64_t tile = space_.tile_elements(lists), group = group_size(atoms);
    const int64_t sent = 2 * tile * (group - 1) * (space_.devices() / group);
    return {Kind::AllReduce, {atoms.begin(), atoms.end()}, {sent, 1, sent, 2 * tile}, next};
  }

  // `next`: with axes in dimensions that are pending still.
  ChainStep reduce_scatter(const AtomLists& lists, AtomLists next) const {
    const AtomSet used_before = space_.used_in_dims(lists), used_now = space_.used_in_dims(next);
    std::vector<Atom> atoms;
    for (Atom atom : space_.pending(lists))
      if (used_now[atom] && !used_before[atom]) atoms.push_back(atom);
    next.erase(space_.rank(), used_now);
    const int64_t tile = space_.tile_elements(next), group = group_size(atoms);
    const int64_t sent = tile * (group - 1) * space_.devices();
    return {Kind::ReduceScatter,
            atoms,
            {sent, 1, sent, space_.tile_elements(lists) + tile * (group + 1)},
            next};
  }

  // Whole tiles travel, padding too.
  ChainStep permute(const AtomLists& lists, const AtomLists& next) const {
    const int64_t tile = space_.tile_elements(lists);
    const int64_t moving = space_.devices() - space_.same_tile_devices(lists, next);
    return {Kind::Permute, {}, {0, 1, moving * tile, 2 * tile}, next};
  }

  // `moves`: what some dimension releases another one gets.
  ChainStep exchange(const AtomLists& lists, const Exchange& exchange, bool moves) const {
    const auto released = exchange.changed.of(Released);
    int64_t operand = 1, joined = 0;
    const int64_t group = group_size(released);
    for (size_t dim = 0; dim < space_.rank(); ++dim) {
      operand *= gathered_tile(dim, lists.of(dim), exchange.next.of(dim));
      joined += exchange.next.size(dim) < lists.size(dim);
    }
    const int64_t sent = space_.devices() * (operand / group) * (group - 1);
    const bool copies = moves || joined > 1;
    const int64_t held = space_.tile_elements(lists) +
                         (copies ? 2 : 1) * std::max(operand, space_.tile_elements(exchange.next));
    return {moves ? Kind::AllToAll : Kind::AllGather,
            {released.begin(), released.end()},
            {0, moves ? 1 : joined, sent, held},
            exchange.next};
  }

 private:
  int64_t group_size(std::span<const Atom> atoms) const {
    int64_t out = 1;
    for (Atom atom : atoms) out *= space_.size(atom);
    return out;
  }

  // Of a dimension that loses axes, before what lies beyond the new tile is cut off.
  int64_t gathered_tile(size_t dim, std::span<const Atom> before, std::span<const Atom> now) const {
    if (now.size() >= before.size()) return space_.tile(dim, now);
    return group_size(before.subspan(now.size())) * space_.tile(dim, before);
  }

  const ReshardSpace& space_;
};

// What is summed up, gathered where the target has other axes, and sliced: a chain that always is.
class DirectChain {
 public:
  explicit DirectChain(const ReshardSpace& space)
      : space_(space), steps_(space), lists_(space.source()) {}

  std::vector<ChainStep> run() {
    if (const auto pending = space_.pending(lists_); !pending.empty())
      add(steps_.all_reduce(lists_, pending));
    for (size_t dim = 0; dim < space_.rank(); ++dim) gather(dim);
    for (size_t dim = 0; dim < space_.rank(); ++dim) {
      AtomLists next = lists_;
      for (Atom atom : space_.target().of(dim).subspan(lists_.size(dim))) next.append(dim, atom);
      if (next != lists_) add(steps_.slice(lists_, next));
    }
    return std::move(chain_);
  }

 private:
  void add(ChainStep step) {
    lists_ = step.lists;
    chain_.push_back(std::move(step));
  }

  // As far as the target's tiles can be cut from what is gathered.
  void gather(size_t dim) {
    const auto target = space_.target().of(dim), list = lists_.of(dim);
    auto kept = static_cast<size_t>(std::ranges::mismatch(list, target).in1 - list.begin());
    while (!space_.nests(dim, list.first(kept), list) ||
           !space_.nests(dim, target.first(kept), target))
      --kept;
    if (kept == list.size()) return;
    Exchange exchange{lists_, {}, {}};
    exchange.next.truncate(dim, kept);
    for (Atom atom : list.subspan(kept)) exchange.changed.append(Released, atom);
    add(steps_.exchange(lists_, exchange, false));
  }

  const ReshardSpace& space_;
  Steps steps_;
  AtomLists lists_;
  std::vector<ChainStep> chain_;
};

struct Node {
  ChainStep step;  // from the parent
  size_t parent = 0;
  ChainCost cost;    // from the source
  int64_t left = 0;  // elements that are missing from there
  bool is_done = false;
};

class Search {
 public:
  // Chains that move more than `limit` are not looked for. `greedy`: the state from which the least
  // is missing goes on first.
  Search(const ReshardSpace& space, int64_t limit, bool greedy, int64_t max_looks)
      : space_(space), steps_(space), limit_(limit), greedy_(greedy), max_looks_(max_looks) {}

  // Nothing where the limit excludes all, or more states than so many were seen, or too many tiles
  // looked at.
  std::optional<std::vector<ChainStep>> run(size_t max_states) {
    reach({Kind::Slice, {}, {}, space_.source()}, 0, {});
    while (!queue_.empty() && nodes_.size() <= max_states && looks_ <= max_looks_) {
      const size_t at = queue_.top().second;
      queue_.pop();
      if (nodes_[at].is_done) continue;
      nodes_[at].is_done = true;
      if (nodes_[at].step.lists == space_.target()) return path_to(at);
      expand(at);
    }
    return std::nullopt;
  }

 private:
  void reach(ChainStep step, size_t parent, const ChainCost& cost) {
    const auto [found, is_new] = known_.try_emplace(step.lists);
    if (is_new) found->second.left = space_.missing(step.lists, space_.target(), looks_);
    if (cost.moved + found->second.left > limit_) return;
    size_t& at = found->second.node;
    if (at != none && nodes_[at].cost <= cost) return;
    if (at == none) {
      at = nodes_.size();
      nodes_.emplace_back();
    }
    nodes_[at] = {std::move(step), parent, cost, found->second.left, false};
    ChainCost estimate = cost;
    estimate.moved = found->second.left + (greedy_ ? 0 : cost.moved);
    queue_.emplace(estimate, at);
  }

  // To put lists of atoms together takes as long as to look at their tiles.
  bool may_go_on() {
    looks_ += static_cast<int64_t>(space_.atoms());
    return looks_ <= max_looks_;
  }

  // A step that moves what devices lack.
  void add_moving(size_t at, ChainStep step) {
    if (step.lists == nodes_[at].step.lists || looks_ > max_looks_) return;
    step.cost.moved = space_.missing(nodes_[at].step.lists, step.lists, looks_);
    add_step(at, std::move(step));
  }

  void add_step(size_t at, ChainStep step) {
    const ChainCost sum = nodes_[at].cost + step.cost;
    if (sum.moved <= limit_) reach(std::move(step), at, sum);
  }

  // Where nothing is missing and nothing more may move, slices are left.
  void expand(size_t at) {
    const AtomLists lists = nodes_[at].step.lists;
    add_slices(at, lists);
    if (nodes_[at].left == 0 && nodes_[at].cost.moved >= limit_) return;
    if (!space_.pending(lists).empty()) return add_reductions(at, lists);
    add_permute(at, lists, 0, space_.rank());
    for (size_t dim = 0; dim < space_.rank(); ++dim) add_permute(at, lists, dim, dim + 1);
    const Exchange exchange{lists, space_.used(lists), {}};
    add_exchanges(at, lists, 0, exchange);
  }

  // Axes that the target has: as it has them, or one behind those of another dimension.
  void add_slices(size_t at, const AtomLists& lists) {
    const AtomSet used = space_.used(lists), wanted = space_.used(space_.target());
    for (size_t dim = 0; dim < space_.rank(); ++dim) {
      AtomLists next = lists;
      const auto target = space_.target().of(dim), list = lists.of(dim);
      if (begins_with(target, list))
        for (size_t i = list.size(); i < target.size() && !used[target[i]]; ++i) {
          next.append(dim, target[i]);
          add_slice(at, lists, dim, next);
        }
      for (Atom atom = 0; atom < space_.atoms(); ++atom) {
        if (used[atom] || !wanted[atom]) continue;
        next = lists;
        next.append(dim, atom);
        // Padding that neither side has would travel.
        if (space_.divides(dim, next.of(dim))) add_slice(at, lists, dim, next);
      }
    }
  }

  void add_slice(size_t at, const AtomLists& lists, size_t dim, const AtomLists& next) {
    if (!space_.nests(dim, lists.of(dim), next.of(dim))) return;
    add_moving(at, steps_.slice(lists, next));
  }

  static bool begins_with(std::span<const Atom> list, std::span<const Atom> first) {
    return first.size() <= list.size() && std::ranges::equal(first, list.first(first.size()));
  }

  // Summands are added before anything else but slices happens: all that are left, those along axes
  // that the target has no use for, or some while their tiles are cut.
  void add_reductions(size_t at, const AtomLists& lists) {
    const AtomSet wanted = space_.used(space_.target());
    std::vector<Atom> unwanted;
    for (Atom atom : space_.pending(lists))
      if (!wanted[atom]) unwanted.push_back(atom);
    add_step(at, steps_.all_reduce(lists, space_.pending(lists)));
    if (!unwanted.empty()) add_step(at, steps_.all_reduce(lists, unwanted));
    add_reduce_scatters(at, lists, 0, lists);
    for (Atom atom : space_.pending(lists))
      for (size_t dim = 0; dim < space_.rank(); ++dim) {
        AtomLists next = lists;
        next.append(dim, atom);
        if (space_.divides(dim, next.of(dim))) finish_reduce_scatter(at, lists, next);
      }
  }

  // In each dimension as many of the target's next axes as are pending, or fewer.
  void add_reduce_scatters(size_t at, const AtomLists& lists, size_t dim, const AtomLists& so_far) {
    if (!may_go_on()) return;
    if (dim == space_.rank()) return finish_reduce_scatter(at, lists, so_far);
    add_reduce_scatters(at, lists, dim + 1, so_far);
    const auto target = space_.target().of(dim), list = lists.of(dim);
    if (!begins_with(target, list)) return;
    AtomLists next = so_far;
    for (size_t i = list.size(); i < target.size() && is_pending(lists, target[i]); ++i) {
      next.append(dim, target[i]);
      if (space_.nests(dim, list, next.of(dim))) add_reduce_scatters(at, lists, dim + 1, next);
    }
  }

  void finish_reduce_scatter(size_t at, const AtomLists& lists, const AtomLists& next) {
    if (next != lists) add_step(at, steps_.reduce_scatter(lists, next));
  }

  bool is_pending(const AtomLists& lists, Atom atom) const {
    return std::ranges::count(space_.pending(lists), atom) > 0;
  }

  void add_permute(size_t at, const AtomLists& lists, size_t first, size_t last) {
    const AtomLists next = permuted(space_, lists, first, last);
    if (next != lists) add_moving(at, steps_.permute(lists, next));
  }

  void add_exchanges(size_t at, const AtomLists& lists, size_t dim, const Exchange& so_far) {
    if (!may_go_on()) return;
    if (dim == space_.rank()) return finish_exchange(at, lists, so_far);
    add_exchanges(at, lists, dim + 1, so_far);
    const auto target = space_.target().of(dim), list = lists.of(dim);
    for (size_t kept = first_released(list, target); kept < list.size(); ++kept) {
      Exchange next = so_far;
      next.next.truncate(dim, kept);
      if (!space_.nests(dim, list.first(kept), list)) continue;
      for (Atom atom : list.subspan(kept)) next.changed.append(Released, atom);
      add_exchanges(at, lists, dim + 1, next);
    }
    if (target.size() == list.size() || !begins_with(target, list)) return;
    Exchange next = so_far;
    for (size_t i = list.size(); i < target.size(); ++i) {
      next.next.append(dim, target[i]);
      next.changed.append(Added, target[i]);
      if (space_.nests(dim, list, next.next.of(dim))) add_exchanges(at, lists, dim + 1, next);
    }
  }

  // Axes that stand where the target has them move for nothing.
  size_t first_released(std::span<const Atom> list, std::span<const Atom> target) const {
    if (limit_ == std::numeric_limits<int64_t>::max()) return 0;
    return static_cast<size_t>(std::ranges::mismatch(list, target).in1 - list.begin());
  }

  // What is added was released by another dimension, or cuts nothing so far. A gather of several
  // dimensions has to be put in order: as many gathers of one each are no worse.
  void finish_exchange(size_t at, const AtomLists& lists, const Exchange& exchange) {
    const auto released = exchange.changed.of(Released), added = exchange.changed.of(Added);
    if (released.empty()) return;
    bool moves = false;
    for (Atom atom : added) {
      const bool is_released = std::ranges::count(released, atom) > 0;
      if (exchange.used[atom] && !is_released) return;
      moves |= is_released;
    }
    if (!moves && !added.empty()) return;  // a slice and a gather
    add_moving(at, steps_.exchange(lists, exchange, moves));
  }

  std::vector<ChainStep> path_to(size_t at) {
    std::vector<ChainStep> out;
    for (; nodes_[at].step.lists != space_.source(); at = nodes_[at].parent)
      out.push_back(nodes_[at].step);
    std::ranges::reverse(out);
    return out;
  }

  static constexpr size_t none = SIZE_MAX;
  struct Known {
    int64_t left = 0;  // elements that are missing from there
    size_t node = none;
  };
  struct ListsHash {
    size_t operator()(const AtomLists& lists) const { return lists.hash(); }
  };
  const ReshardSpace& space_;
  const Steps steps_;
  int64_t limit_;
  bool greedy_;
  int64_t max_looks_, looks_ = 0;
  std::vector<Node> nodes_;
  std::unordered_map<AtomLists, Known, ListsHash> known_;
  std::priority_queue<std::pair<ChainCost, size_t>, std::vector<std::pair<ChainCost, size_t>>,
                      std::greater<>>
      queue_;
};

// What all steps send, then how many there are.
auto sent_by(const std::vector<ChainStep>& chain) {
  ChainCost all;
  for (const ChainStep& step : chain) all = all + step.cost;
  return std::tuple(all.elements, all.collectives, all.peak);
}

}  // namespace

std::optional<std::vector<ChainStep>> find_chain(const ReshardSpace& space, bool only_at_bound,
                                                 const ReshardOptions& options) {
  auto direct = DirectChain(space).run();
  // One slice or gather alone: nothing moves less, and nothing that does not move is missing.
  if (direct.empty() || (direct.size() == 1 && direct[0].kind != Kind::AllReduce)) return direct;
  const int64_t unlimited = std::numeric_limits<int64_t>::max();
  int64_t looks = 0;
  const int64_t limit =
      only_at_bound ? space.missing(space.source(), space.target(), looks) : unlimited;
  if (auto path = Search(space, limit, false, options.max_looks).run(options.max_states))
    return path;
  if (only_at_bound) return std::nullopt;
  auto greedy =
      Search(space, unlimited, true, options.max_looks).run(std::numeric_limits<size_t>::max());
  return greedy && sent_by(*greedy) <= sent_by(direct) ? std::move(*greedy) : std::move(direct);
}

}  // namespace hilo
