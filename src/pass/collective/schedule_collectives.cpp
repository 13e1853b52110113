// Orders instructions so that collectives go on beside computation.
//   start a, done a, b, c => start a, b, done a, c, where b does not need a
// A list scheduler that goes from the end, after XLA's latency hiding scheduler: placing the end of
// a collective begins its time, and its start follows when computation has filled that time, one
// collective after the other. Of computations the one that lies on the longest way comes last. What
// would take more memory than the machine has waits; where the order is no faster, or takes more
// memory than there is and than before, the old one stays. Times are those of StepTimes. Assumes
// that collectives are in two parts. The module is scheduled afterwards: passes that change it
// come before.
#include <algorithm>
#include <limits>

#include "pass/collective/device_groups.h"
#include "pass/collective/live_bytes.h"

namespace hilo {
namespace {

// One computation, from its end to its beginning.
class Backwards {
 public:
  Backwards(const Module& module, const StepTimes& times, std::vector<InstructionId> order,
            LiveBytes& live, int64_t limit, bool by_depth)
      : module_(module), times_(times), order_(std::move(order)), live_(live), limit_(limit) {
    const size_t size = module.instructions.size();
    seconds_.resize(size), depth_.resize(size), waiting_.resize(size), ripe_.resize(size);
    for (InstructionId id : order_) {
      seconds_[id.value] = times.computation(id);
      double before = 0;
      for_each_before(id, [&](InstructionId other) {
        before = std::max(before, depth_[other.value]);
        ++waiting_[other.value];
      });
      depth_[id.value] = before + seconds_[id.value] + times.communication(id);
    }
    if (!by_depth)
      for (size_t i = 0; i < order_.size(); ++i) depth_[order_[i].value] = static_cast<double>(i);
    chain_effects();
    for (InstructionId id : order_)
      if (waiting_[id.value] == 0) ready_.push_back(id);
  }

  std::vector<InstructionId> run() {
    while (!ready_.empty()) place(choose());
    std::ranges::reverse(placed_);
    std::ranges::stable_partition(
        placed_, [&](InstructionId id) { return module_[id].op == Op::Parameter; });
    return std::move(placed_);
  }

 private:
  template <class Body>
  void for_each_before(InstructionId id, Body&& body) const {
    for (InstructionId operand : module_.operands(id)) body(operand);
    for (InstructionId before : module_.extra(module_[id]).control_predecessors) body(before);
    if (const auto chained = chain_.find(id.value); chained != chain_.end()) body(chained->second);
  }

  // What does more than communicate between devices keeps its order.
  void chain_effects() {
    const Effects effects(module_);
    InstructionId last;
    for (InstructionId id : order_) {
      const Op op = module_[id].op;
      if (!effects.has(id) || times_.is_start(id) || times_.is_done(id) ||
          has_trait(op, TraitCollective) || op == Op::While || op == Op::Conditional)
        continue;
      if (last) chain_[id.value] = last, ++waiting_[last.value];
      last = id;
    }
  }

  // The next of those that nobody waits for, as its index among them.
  size_t choose() const {
    size_t best = 0;
    for (size_t i = 1; i < ready_.size(); ++i)
      if (is_better(ready_[i], ready_[best])) best = i;
    return best;
  }

  // 0: takes no time and holds up nothing; 1: a start whose time is filled; 2: an end, while the
  // links are idle; 3: computation; 4: an end that must queue; 5: a start that would wait.
  int rank(InstructionId id) const {
    if (times_.is_start(id) && times_.communication(id) > 0) return ripe_[id.value] <= now_ ? 1 : 5;
    if (times_.is_done(id)) return links_free(times_.start_of(id)) <= now_ ? 2 : 4;
    return seconds_[id.value] == 0 ? 0 : 3;
  }

  bool is_better(InstructionId a, InstructionId b) const {
    const int64_t of_a = live_.change(a), of_b = live_.change(b);
    const bool fits_a = of_a <= 0 || live_.alive() + of_a <= limit_;
    const bool fits_b = of_b <= 0 || live_.alive() + of_b <= limit_;
    if (fits_a != fits_b) return fits_a;
    if (!fits_a && of_a != of_b) return of_a < of_b;
    const int rank_a = rank(a), rank_b = rank(b);
    if (rank_a != rank_b) return rank_a < rank_b;
    if (rank_a == 5 && ripe_[a.value] != ripe_[b.value]) return ripe_[a.value] < ripe_[b.value];
    if (depth_[a.value] != depth_[b.value]) return depth_[a.value] > depth_[b.value];
    if (of_a != of_b) return of_a < of_b;
    return a.value > b.value;
  }

  // When the links of a collective's axes are free.
  double links_free(InstructionId collective) const {
    double out = 0;
    for (size_t axis = 0; axis < links_free_.size(); ++axis)
      if (times_.use(collective).axes >> axis & 1) out = std::max(out, links_free_[axis]);
    return out;
  }
  void send(InstructionId collective) {
    const double end = std::max(links_free(collective), now_) + times_.communication(collective);
    for (size_t axis = 0; axis < links_free_.size(); ++axis)
      if (times_.use(collective).axes >> axis & 1) links_free_[axis] = end;
    ripe_[collective.value] = end;
  }

  void place(size_t index) {
    const InstructionId id = ready_[index];
    ready_[index] = ready_.back();
    ready_.pop_back();
    placed_.push_back(id);
    live_.step_back(id);
    if (times_.is_done(id)) {
      send(times_.start_of(id));
    } else if (times_.communication(id) > 0) {
      if (!times_.is_start(id)) send(id);
      now_ = std::max(now_, ripe_[id.value]);
    } else {
      now_ += seconds_[id.value];
    }
    for_each_before(id, [&](InstructionId other) {
      if (--waiting_[other.value] == 0) ready_.push_back(other);
    });
  }

  const Module& module_;
  const StepTimes& times_;
  std::vector<InstructionId> order_;
  LiveBytes& live_;
  int64_t limit_;
  std::vector<double> seconds_, depth_;  // by instruction; depth: the longest way up to its end
  std::vector<int64_t> waiting_;         // by instruction: uses that are not placed
  std::vector<double> ripe_;             // by start: when its time is filled
  std::unordered_map<uint32_t, InstructionId> chain_;  // the effect before
  std::vector<InstructionId> ready_, placed_;
  double now_ = 0;                                                     // from the end on
  std::array<double, std::tuple_size_v<TorusShape>> links_free_ = {};  // by axis
};

class Scheduler {
 public:
  Scheduler(Module& module, const Machine& machine)
      : module_(module), times_(module, machine), capacity_(memory_space(machine, 0).bytes) {}

  bool run() {
    if (!times_.is_known()) return false;
    bool changed = false;
    for (ComputationId id : open_computations(module_)) changed |= schedule(id);
    if (changed || !module_.header.is_scheduled) module_.header.is_scheduled = true, changed = true;
    return changed;
  }

 private:
  bool schedule(ComputationId id) {
    const std::vector<InstructionId> before = operands_first(module_, id);
    LiveBytes live(module_, before);
    const int64_t old_peak = live.peak(before);
    const int64_t allowed = capacity_ > 0 ? std::max(capacity_ - argument_bytes(id), old_peak)
                                          : std::numeric_limits<int64_t>::max();
    std::vector<InstructionId> best = before;
    double best_step = times_.along(before).step;
    for (const bool by_depth : {true, false})
      if (auto after = ordered(before, live, allowed, by_depth); !after.empty())
        if (const double step = times_.along(after).step; step < best_step)
          best_step = step, best = std::move(after);
    const bool changed = module_[id].instructions != best;
    module_[id].instructions = std::move(best);
    return changed;
  }

  // By the longest way, or as near to the old order as collectives let it; again with less memory
  // where too much is taken, while that helps. Nothing where it does not.
  std::vector<InstructionId> ordered(const std::vector<InstructionId>& before, LiveBytes& live,
                                     int64_t allowed, bool by_depth) const {
    int64_t last = std::numeric_limits<int64_t>::max();
    for (int64_t limit = allowed; limit > 0;) {
      live.restart();
      std::vector<InstructionId> after =
          Backwards(module_, times_, before, live, limit, by_depth).run();
      const int64_t peak = live.peak(after);
      if (peak <= allowed) return after;
      if (peak >= last) break;
      last = peak;
      limit -= peak - allowed;
    }
    return {};
  }

  int64_t argument_bytes(ComputationId id) const {
    int64_t out = 0;
    for (InstructionId parameter : module_[id].parameters)
      for_each_leaf(module_.shape(parameter), [&](const Shape& leaf, std::span<const int64_t>) {
        if (leaf.is_array()) out += literal_bytes(leaf);
      });
    return out;
  }

  Module& module_;
  StepTimes times_;
  int64_t capacity_;  // bytes of the main memory; 0: not known
};

}  // namespace

Result<bool> schedule_collectives(Module& module, const PassOptions& options) {
  if (!options.machine) return false;
  return Scheduler(module, *options.machine).run();
}

}  // namespace hilo
