#include "plan/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "plan/assign.h"

namespace hilo {
namespace {

// Steps of packing that take about a second.
constexpr double steps_per_second = 100e6;
// For each way of several to lay out buffers, of which the best one is then packed well.
constexpr double quick_seconds = 0.002;
// What is laid out must be countable with some room.
constexpr int64_t max_bytes = int64_t{1} << 60;

// Buffers of a module that is laid out in several ways, and groups that are then compared for a
// place in an allocation of others.
constexpr size_t max_compared = 1000, max_compared_groups = 8;

constexpr std::pair<uint32_t, uint32_t> nowhere = {UINT32_MAX, UINT32_MAX};

class Planner {
 public:
  Planner(const Module& module, const Machine& machine, const PlanOptions& options, Plan& plan)
      : module_(module), machine_(machine), options_(options), plan_(plan) {}

  // The first question, for everything else adds sizes up.
  Result<void> find_sizes() {
    facts_ = classify(module_, machine_, plan_.aliases);
    sizes_ = sizes_of_values(module_, machine_, plan_.aliases);
    return check_sizes();
  }

  void run() {
    KnownSharing known;
    std::vector<Overlay> pairs = find_overlays(module_, plan_, facts_, sizes_, machine_, known);
    if (facts_.size() > max_compared) return lay_out(pairs, {}, options_.packing_seconds);
    const double quickly = std::min(quick_seconds, options_.packing_seconds);
    lay_out(pairs, {}, quickly);
    if (!has_temporaries()) return;
    const Choice best = best_choice(std::move(pairs), quickly);
    lay_out(best.pairs, best.reuse, options_.packing_seconds);
  }

 private:
  struct Choice {
    std::vector<Overlay> pairs;
    ReuseChoice reuse;
  };
  // That which needs least when it is packed in so little time, as these pairs without guests were.
  Choice best_choice(std::vector<Overlay> pairs, double packing_seconds) {
    Choice best = {pairs, {}};
    std::vector<SpacePlan> least = plan_.spaces;
    const auto try_with_pairs = [&] {
      for (const bool last_of_equals : {false, true}) {
        const ReuseChoice reuse = {max_compared_groups, last_of_equals};
        lay_out(pairs, reuse, packing_seconds);
        if (!needs_less(plan_.spaces, least)) continue;
        least = plan_.spaces;
        best = {pairs, reuse};
      }
    };
    try_with_pairs();
    // An operand that an output is laid over takes the room of other temporaries, which might lie
    // there before the output is made.
    const size_t others = std::erase_if(pairs, [&](const Overlay& pair) {
      return facts_[plan_.aliases.buffer_of[pair.result.value].value].has_own_allocation();
    });
    if (others > 0) try_with_pairs();
    return best;
  }
  bool has_temporaries() const {
    return std::ranges::any_of(plan_.spaces,
                               [](const SpacePlan& space) { return space.temp_bytes > 0; });
  }
  // In some space, and no more in any.
  static bool needs_less(std::span<const SpacePlan> spaces, std::span<const SpacePlan> than) {
    bool less = false;
    for (size_t i = 0; i < spaces.size(); ++i) {
      if (spaces[i].temp_bytes > than[i].temp_bytes) return false;
      less |= spaces[i].temp_bytes < than[i].temp_bytes;
    }
    return less;
  }

  void lay_out(std::span<const Overlay> pairs, const ReuseChoice& choice, double packing_seconds) {
    groups_ = find_groups(plan_, facts_, sizes_, pairs, machine_);
    plan_.allocations.clear();
    plan_.spaces.clear();
    spaces_.clear();
    plan_.where.assign(plan_.aliases.values.size(), nowhere);
    add_own_allocations();
    add_reused(choice);
    add_temporaries(packing_seconds);
    for (Allocation& allocation : plan_.allocations)
      std::ranges::sort(allocation.slots, {}, &Slot::value);
    find_where();
    sum_up();
  }

  const BufferFacts& facts(const Group& group) const {
    return facts_[(group.host ? group.host : group.members[0].buffer).value];
  }

  Result<void> check_sizes() const {
    int64_t sum = 0;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i] < max_bytes && (sum += sizes_[i] + max_alignment()) < max_bytes) continue;
      return std::unexpected(
          Error{ErrorKind::Limit, "the buffers of the module are too large to be laid out",
                module_.place(plan_.aliases.values[i].definition().instruction)});
    }
    return {};
  }
  int64_t max_alignment() const {
    int64_t most = 1;
    for (const MemorySpace& space : machine_.spaces) most = std::max(most, space.alignment);
    return most;
  }

  void add_slots(const Group& group, Allocation& allocation, int64_t offset) const {
    for (const Member& member : group.members)
      for (ValueId value : plan_.aliases.buffers[member.buffer.value].values)
        allocation.slots.push_back({value, offset + member.at, sizes_[value.value]});
  }

  void add_own_allocations() {
    allocation_of_.assign(groups_.size(), UINT32_MAX);
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < groups_.size(); ++i)
      if (groups_[i].host) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](uint32_t i) {
      const BufferFacts& is = facts(groups_[i]);
      return std::tuple(is.role, is.parameter, is.parameter_index);
    });
    for (uint32_t i : order) {
      const BufferFacts& is = facts(groups_[i]);
      Allocation allocation;
      allocation.bytes = is.bytes;
      allocation.space = is.space;
      if (is.role == Role::Parameter) {
        allocation.parameter = is.parameter;
        allocation.parameter_index = is.parameter_index;
      }
      allocation.is_constant = is.role == Role::Constant;
      allocation.is_thread_local = is.role == Role::ThreadLocal;
      allocation.is_live_out = is.live_out;
      allocation.is_tuple = is.is_tuple;
      add_slots(groups_[i], allocation, 0);
      allocation_of_[i] = static_cast<uint32_t>(plan_.allocations.size());
      plan_.allocations.push_back(std::move(allocation));
    }
  }

  void add_reused(const ReuseChoice& choice) {
    for (const Reuse& reused : reuse_dead_allocations(groups_, facts_, machine_, choice)) {
      allocation_of_[reused.group] = allocation_of_[reused.host];
      add_slots(groups_[reused.group], plan_.allocations[allocation_of_[reused.host]],
                reused.offset);
    }
  }

  void add_temporaries(double packing_seconds) {
    std::map<int64_t, std::vector<uint32_t>> spaces;
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      const int64_t space = facts(groups_[i]).space;
      spaces_.insert(space);
      if (allocation_of_[i] == UINT32_MAX) spaces[space].push_back(i);
    }
    for (const auto& [space, groups] : spaces) {
      std::vector<Block> blocks;
      for (uint32_t i : groups) blocks.push_back({groups_[i].pieces});
      const Packing packing = pack(blocks, memory_space(machine_, space).alignment,
                                   static_cast<int64_t>(packing_seconds * steps_per_second));
      Allocation allocation;
      allocation.space = space;
      allocation.bytes = packing.bytes;
      for (size_t i = 0; i < groups.size(); ++i)
        add_slots(groups_[groups[i]], allocation, packing.offsets[i]);
      plan_.allocations.push_back(std::move(allocation));
      plan_.spaces.push_back({space, 0, 0, packing.lower_bound, packing.peak_moment});
    }
  }

  void find_where() {
    for (uint32_t i = 0; i < plan_.allocations.size(); ++i)
      for (uint32_t j = 0; j < plan_.allocations[i].slots.size(); ++j)
        plan_.where[plan_.allocations[i].slots[j].value.value] = {i, j};
  }

  void sum_up() {
    for (int64_t space : spaces_)
      if (std::ranges::find(plan_.spaces, space, &SpacePlan::space) == plan_.spaces.end())
        plan_.spaces.push_back({space});
    std::ranges::sort(plan_.spaces, {}, &SpacePlan::space);
    for (const Allocation& allocation : plan_.allocations) {
      SpacePlan& space = *std::ranges::find(plan_.spaces, allocation.space, &SpacePlan::space);
      if (!allocation.is_thread_local) space.total_bytes += allocation.bytes;
      if (allocation.is_temp()) space.temp_bytes += allocation.bytes;
    }
  }

  const Module& module_;
  const Machine& machine_;
  const PlanOptions& options_;
  Plan& plan_;
  std::vector<BufferFacts> facts_;  // by buffer
  std::vector<int64_t> sizes_;      // by value
  std::vector<Group> groups_;
  std::vector<uint32_t> allocation_of_;  // by group
  std::set<int64_t> spaces_;
};

// A computation that is run from two places would leave two results in one buffer.
Result<void> check_flat(const Module& module) {
  std::vector<bool> taken(module.computations.size(), false);
  for (ComputationId computation : module.post_order())
    for (InstructionId id : module[computation].instructions) {
      const Op op = module[id].op;
      if (op != Op::While && op != Op::Conditional && op != Op::Call && op != Op::AsyncStart)
        continue;
      for (ComputationId callee : module.called(module[id])) {
        if (taken[callee.value])
          return std::unexpected(Error{
              ErrorKind::Unsupported,
              fmt::format("{} is called from several places; flatten_calls gives each its own",
                          module[callee].name),
              module.place(id)});
        taken[callee.value] = true;
      }
    }
  return {};
}

}  // namespace

Result<Plan> plan(const Module& module, const Machine& machine, const PlanOptions& options) {
  HILO_DO(check_flat(module));
  Plan out;
  HILO_TRY(out.aliases, find_aliases(module));
  Planner planner(module, machine, options, out);
  HILO_DO(planner.find_sizes());
  out.schedule = options.keep_order && module.header.is_scheduled
                     ? schedule_of(module)
                     : find_schedule(module, machine, out.aliases);
  out.liveness = find_liveness(module, out.aliases, out.schedule);
  planner.run();
  return out;
}

}  // namespace hilo
