#include "pass/shard/propagate.h"

#include <algorithm>
#include <set>

#include "pass/shard/improve_shardings.h"

namespace hilo {
namespace {

class Propagation {
 public:
  Propagation(const Module& module, const GivenShardings& given, ShardedValues& values,
              ShardingOrigins* origins)
      : module_(module), given_(given), values_(values), origins_(origins), graph_(module) {}

  Result<void> run() {
    HILO_DO(build_graph(module_, given_, values_, graph_));
    intern_all();
    const std::vector<uint32_t> given_ids = ids_;
    if (origins_) begin_origins();
    const std::set<int64_t> priorities = this->priorities();
    for (int64_t priority : priorities) {
      settled_.assign(graph_.instances.size(), std::nullopt);
      for (PropagationLevel level : {PropagationLevel::SoleUses, PropagationLevel::KeptElements,
                                     PropagationLevel::PassingFactors, PropagationLevel::AllFactors,
                                     PropagationLevel::BroadcastResults})
        run_level(priority, level);
    }
    run_level(*priorities.rbegin(), PropagationLevel::Conflicts);
    improve_shardings({module_, given_, values_, given_ids, graph_, table_, ids_, origins_});
    for (size_t value = 0; value < ids_.size(); ++value)
      if (ids_[value] != given_ids[value]) values_.shardings[value] = table_[ids_[value]];
    return {};
  }

 private:
  using Instance = PropagationGraph::Instance;

  // Most values begin with nothing but a rank.
  void intern_all() {
    std::vector<std::optional<uint32_t>> blank;  // by rank
    ids_.reserve(values_.shardings.size());
    for (uint32_t value = 0; value < values_.shardings.size(); ++value) {
      const AxisSharding& sharding = values_.shardings[value];
      const size_t rank = sharding.dims.size();
      if (values_.said_by[value] || !sharding.unreduced.empty() || !sharding.manual.empty()) {
        ids_.push_back(table_.intern(sharding));
        continue;
      }
      blank.resize(std::max(blank.size(), rank + 1));
      if (!blank[rank]) blank[rank] = table_.intern(sharding);
      ids_.push_back(*blank[rank]);
    }
  }

  std::set<int64_t> priorities() const {
    std::set<int64_t> out = {0};
    int64_t last = 0;
    for (const AxisSharding& sharding : values_.shardings)
      for (const AxisSharding::Dim& dim : sharding.dims)
        if (dim.priority != last) out.insert(last = dim.priority);
    return out;
  }

  // What changed is looked at first.
  void run_level(int64_t priority, PropagationLevel level) {
    std::vector<uint32_t> waiting(graph_.instances.size());
    std::vector<bool> is_waiting(graph_.instances.size(), true);
    number_of_directions_.assign(8 * graph_.rules.size(), std::nullopt);
    for (uint32_t i = 0; i < waiting.size(); ++i)
      waiting[i] = static_cast<uint32_t>(waiting.size()) - 1 - i;
    while (!waiting.empty()) {
      const uint32_t at = waiting.back();
      waiting.pop_back();
      is_waiting[at] = false;
      for (uint32_t value : run_step(at, priority, level))
        for (uint32_t user : graph_.users_of(value)) {
          settled_[user].reset();
          if (is_waiting[user]) continue;
          is_waiting[user] = true;
          waiting.push_back(user);
        }
    }
  }

  uint32_t value_at(const Instance& instance, size_t i) const {
    return values_.value_of[graph_.leaves[instance.first + i]];
  }

  // The values that changed.
  std::vector<uint32_t> run_step(uint32_t at, int64_t priority, PropagationLevel level) {
    const Instance& instance = graph_.instances[at];
    bool any = false;
    for (uint32_t leaf : graph_.leaves_of(instance))
      any |= table_.is_sharded(ids_[values_.value_of[leaf]]) || values_.edge_of[leaf];
    if (!any) return {};
    const std::optional<uint32_t> directions = directions_of(instance, level);
    if (!directions) return {};
    const bool settles = level == PropagationLevel::Conflicts;
    const uint64_t way = 2 * *directions + settles;
    if (std::exchange(settled_[at], way) == way) return {};
    find_key(instance, priority, way);
    const KnownStep& known =
        memo_.step(key_, [&] { return step(instance, priority, *directions, settles); });
    const std::vector<uint32_t>& after = known.shardings;
    std::vector<uint32_t> changed;
    for (size_t i = 0; i < after.size(); ++i) {
      const uint32_t value = value_at(instance, i);
      if (after[i] == ids_[value] || !table_.grows(ids_[value], after[i])) continue;
      ids_[value] = after[i];
      changed.push_back(value);
    }
    if (origins_ && !changed.empty()) take_origins(instance, known.moves);
    return changed;
  }

  // Levels that let a rule do the same are one; nothing where they let it do nothing.
  std::optional<uint32_t> directions_of(const Instance& instance, PropagationLevel level) {
    std::optional<std::optional<uint32_t>>& known =
        number_of_directions_[8 * size_t{instance.rule} + 4 * instance.sole_uses +
                              static_cast<size_t>(instance.direction)];
    if (known) return *known;
    known.emplace();
    std::vector<Direction> out =
        directions_at(graph_.rules[instance.rule], level, instance.sole_uses);
    for (Direction& direction : out)
      direction = static_cast<Direction>(static_cast<uint8_t>(direction) &
                                         static_cast<uint8_t>(instance.direction));
    if (std::ranges::count(out, Direction::None) == std::ssize(out)) return std::nullopt;
    const auto found = std::ranges::find(directions_, out);
    *known = static_cast<uint32_t>(found - directions_.begin());
    if (found == directions_.end()) directions_.push_back(std::move(out));
    return *known;
  }

  void find_key(const Instance& instance, int64_t priority, uint64_t directions) {
    key_ = {instance.rule, static_cast<uint64_t>(priority), directions};
    for (uint32_t leaf : graph_.leaves_of(instance)) {
      key_.push_back(ids_[values_.value_of[leaf]]);
      if (values_.edge_of[leaf]) key_.push_back(reinterpret_cast<uint64_t>(values_.edge_of[leaf]));
    }
  }

  void begin_origins() {
    origins_->resize(values_.shardings.size());
    for (size_t value = 0; value < origins_->size(); ++value) {
      const auto& dims = values_.shardings[value].dims;
      (*origins_)[value].resize(dims.size());
      for (size_t d = 0; d < dims.size(); ++d)
        if (values_.said_by[value] && !(dims[d].is_open && dims[d].axes.empty()))
          (*origins_)[value][d] = {values_.said_by[value]};
    }
  }

  void take_origins(const Instance& instance, std::span<const StepMove> moves) {
    const auto value = [&](size_t array) { return value_at(instance, array); };
    for (const StepMove& move : moves) {
      std::vector<InstructionId>& out = (*origins_)[value(move.array)][move.dim];
      for (InstructionId origin : (*origins_)[value(move.source)][move.source_dim])
        if (std::ranges::find(out, origin) == out.end()) out.push_back(origin);
    }
  }

  KnownStep step(const Instance& instance, int64_t priority, uint32_t directions, bool settles) {
    const PropagationRule& rule = graph_.rules[instance.rule];
    std::vector<StepArray> arrays;
    arrays.reserve(instance.count);
    for (size_t i = 0; i < instance.count; ++i)
      arrays.push_back(graph_.array(values_, instance, i, &table_[ids_[value_at(instance, i)]]));
    StepOutcome after = stepper_.run(
        {rule.factors, arrays, directions_[directions], rule.is_elementwise, settles, priority});
    KnownStep out{{}, std::move(after.moves)};
    out.shardings.reserve(instance.count);
    for (size_t i = 0; i < instance.count; ++i) {
      const uint32_t before = ids_[value_at(instance, i)];
      out.shardings.push_back(after.shardings[i] ? table_.intern(*after.shardings[i]) : before);
    }
    return out;
  }

  const Module& module_;
  const GivenShardings& given_;
  ShardedValues& values_;
  ShardingOrigins* const origins_;
  PropagationGraph graph_;
  ShardingTable table_;
  Stepper stepper_;
  StepMemo memo_;
  std::vector<uint64_t> key_;  // of the step
  std::vector<std::vector<Direction>> directions_;
  // Of the level: by rule, sole uses and direction; nothing inside where no array may get axes.
  std::vector<std::optional<std::optional<uint32_t>>> number_of_directions_;
  // By instance: with which directions its step was taken last, if its arrays have not changed
  // since.
  std::vector<std::optional<uint64_t>> settled_;
  std::vector<uint32_t> ids_;  // of shardings in the table, by value
};

}  // namespace

Result<void> propagate_shardings(const Module& module, const GivenShardings& given,
                                 ShardedValues& values, ShardingOrigins* origins) {
  return Propagation(module, given, values, origins).run();
}

}  // namespace hilo
