#include "pass/shard/propagate.h"

#include <algorithm>
#include <set>

#include "pass/shard/sharding_table.h"

namespace hilo {
namespace {

class Propagation {
 public:
  Propagation(const Module& module, const GivenShardings& given, ShardedValues& values,
              ShardingOrigins* origins)
      : module_(module), given_(given), values_(values), origins_(origins), rules_(module) {}

  Result<void> run() {
    uses_.resize(module_.instructions.size());
    for (const Instruction& instruction : module_.instructions)
      if (!instruction.removed)
        for (InstructionId operand : module_.operands(instruction)) ++uses_[operand.value];
    for (ComputationId computation : given_.computations)
      for (InstructionId id : operands_first(module_, computation))
        if (auto done = add_steps(id); !done) return fault_at(module_, id, std::move(done).error());
    add_hints();
    // What callers see goes first.
    const std::set<InstructionId> results(given_.results.begin(), given_.results.end());
    std::ranges::stable_partition(
        instances_, [&](const Instance& one) { return results.contains(one.instruction); });
    index_users();
    for (const AxisSharding& sharding : values_.shardings) ids_.push_back(table_.intern(sharding));
    if (origins_) begin_origins();
    for (int64_t priority : priorities())
      for (PropagationLevel level : {PropagationLevel::SoleUses, PropagationLevel::KeptElements,
                                     PropagationLevel::PassingFactors, PropagationLevel::AllFactors,
                                     PropagationLevel::BroadcastResults})
        run_level(priority, level);
    run_level(*priorities().rbegin(), PropagationLevel::Conflicts);
    for (size_t value = 0; value < ids_.size(); ++value)
      values_.shardings[value] = table_[ids_[value]];
    return {};
  }

 private:
  struct Instance {                           // a rule at an instruction
    uint32_t rule = 0, first = 0, count = 0;  // leaves
    uint32_t operands = 0;                    // of them
    bool sole_uses = false;
    Direction direction = Direction::Both;
    InstructionId instruction = {};
  };

  std::set<int64_t> priorities() const {
    std::set<int64_t> out = {0};
    for (const AxisSharding& sharding : values_.shardings)
      for (const AxisSharding::Dim& dim : sharding.dims) out.insert(dim.priority);
    return out;
  }

  bool is_array(InstructionId id) const {
    return module_.shape(id).is_array() && !module_.shape(id).dims.empty();
  }

  // What ties values is no step.
  bool is_tied(InstructionId id) const {
    const Op op = module_[id].op;
    return op == Op::GetTupleElement || op == Op::While || op == Op::Call ||
           op == Op::Conditional || op == Op::OptimizationBarrier || op == Op::AddDependency ||
           op == Op::Domain || op == Op::Parameter ||
           is_call_of(module_, id, "SPMDFullToShardShape") ||
           is_call_of(module_, id, "SPMDShardToFullShape");
  }

  Result<void> add_steps(InstructionId id) {
    const Op op = module_[id].op;
    if (module_[id].operand_count == 0 || is_tied(id)) return {};
    if (op == Op::Tuple) return add_tuple(id);
    if (op == Op::Copy) return add_copy(id);
    bool any = false;
    for (InstructionId operand : module_.operands(id)) any |= is_array(operand);
    if (!any) return {};
    HILO_TRY(const uint32_t rule, rules_.of_instruction(id));
    Instance instance{
        rule, static_cast<uint32_t>(leaves_.size()), 0, 0, has_sole_uses(id), Direction::Both, id};
    for (InstructionId operand : module_.operands(id)) add_leaves(operand);
    instance.operands = static_cast<uint32_t>(leaves_.size()) - instance.first;
    add_leaves(id);
    instance.count = static_cast<uint32_t>(leaves_.size()) - instance.first;
    const ShardingFactors& factors = rules_[rule].factors;
    check(factors.operands.size() == instance.operands &&
              factors.results.size() + instance.operands == instance.count,
          "propagation: factors of another instruction");
    instances_.push_back(instance);
    return {};
  }

  void add_leaves(InstructionId id) {
    for (size_t i = 0; i < values_.leaf_count(id); ++i)
      leaves_.push_back(static_cast<uint32_t>(values_.leaf(id, i)));
  }

  bool has_sole_uses(InstructionId id) const {
    return std::ranges::all_of(module_.operands(id), [&](InstructionId operand) {
      return !is_array(operand) || uses_[operand.value] == 1;
    });
  }

  void add_identity(InstructionId id, const Shape& shape, size_t from, size_t to, bool sole_uses,
                    Direction direction = Direction::Both) {
    if (!shape.is_array() || shape.dims.empty()) return;
    instances_.push_back({rules_.of_identity(shape), static_cast<uint32_t>(leaves_.size()), 2, 1,
                          sole_uses, direction, id});
    leaves_.insert(leaves_.end(), {static_cast<uint32_t>(from), static_cast<uint32_t>(to)});
  }

  Result<void> add_copy(InstructionId id) {
    const auto barrier = given_.barriers.find(id);
    const Direction direction =
        barrier == given_.barriers.end() ? Direction::Both : barrier->second;
    size_t from = values_.leaf(module_.operand(id, 0), 0), to = values_.leaf(id, 0);
    for_each_leaf(module_.shape(id), [&](const Shape& shape, auto) {
      add_identity(id, shape, from++, to++, has_sole_uses(id), direction);
    });
    return {};
  }

  Result<void> add_tuple(InstructionId id) {
    size_t to = values_.leaf(id, 0);
    for (InstructionId operand : module_.operands(id)) {
      size_t from = values_.leaf(operand, 0);
      const bool sole_use = uses_[operand.value] == 1;
      for_each_leaf(module_.shape(operand), [&](const Shape& shape, auto) {
        add_identity(id, shape, from++, to++, sole_use);
      });
    }
    return {};
  }

  // What is to resemble others of its group.
  void add_hints() {
    std::unordered_map<int64_t, InstructionId> first;
    for (const GivenShardings::Group& group : given_.groups) {
      const auto [found, is_new] = first.try_emplace(group.number, group.value);
      const Shape &a = module_.shape(found->second), &b = module_.shape(group.value);
      if (!is_new && group.is_hint && a.is_array() && b.is_array() && a.dims == b.dims)
        add_identity(group.value, a, values_.leaf(found->second, 0), values_.leaf(group.value, 0),
                     false);
    }
  }

  void index_users() {
    first_user_.assign(values_.shardings.size() + 1, 0);
    for (const Instance& instance : instances_)
      for (uint32_t leaf : leaves_of(instance)) ++first_user_[values_.value_of[leaf] + 1];
    for (size_t i = 1; i < first_user_.size(); ++i) first_user_[i] += first_user_[i - 1];
    users_.resize(first_user_.back());
    std::vector<uint32_t> next(first_user_.begin(), first_user_.end() - 1);
    for (uint32_t i = 0; i < instances_.size(); ++i)
      for (uint32_t leaf : leaves_of(instances_[i])) users_[next[values_.value_of[leaf]]++] = i;
  }
  std::span<const uint32_t> leaves_of(const Instance& instance) const {
    return {leaves_.data() + instance.first, instance.count};
  }

  // What changed is looked at first.
  void run_level(int64_t priority, PropagationLevel level) {
    std::vector<uint32_t> waiting(instances_.size());
    std::vector<bool> is_waiting(instances_.size(), true);
    for (uint32_t i = 0; i < waiting.size(); ++i)
      waiting[i] = static_cast<uint32_t>(waiting.size()) - 1 - i;
    while (!waiting.empty()) {
      const uint32_t at = waiting.back();
      waiting.pop_back();
      is_waiting[at] = false;
      for (uint32_t value : run_step(instances_[at], priority, level))
        for (uint32_t i = first_user_[value]; i < first_user_[value + 1]; ++i)
          if (!is_waiting[users_[i]]) {
            is_waiting[users_[i]] = true;
            waiting.push_back(users_[i]);
          }
    }
  }

  // The values that changed.
  std::vector<uint32_t> run_step(const Instance& instance, int64_t priority,
                                 PropagationLevel level) {
    bool any = false;
    for (uint32_t leaf : leaves_of(instance))
      any |= table_.is_sharded(ids_[values_.value_of[leaf]]) || values_.edge_of[leaf];
    if (!any) return {};
    const KnownStep& known = memo_.step(key_of(instance, priority, level),
                                        [&] { return step(instance, priority, level); });
    const std::vector<uint32_t>& after = known.shardings;
    std::vector<uint32_t> changed;
    for (size_t i = 0; i < after.size(); ++i) {
      const uint32_t value = values_.value_of[leaves_[instance.first + i]];
      if (after[i] == ids_[value] || !table_.grows(ids_[value], after[i])) continue;
      ids_[value] = after[i];
      changed.push_back(value);
    }
    if (origins_ && !changed.empty()) take_origins(instance, known.moves);
    return changed;
  }

  std::vector<uint64_t> key_of(const Instance& instance, int64_t priority,
                               PropagationLevel level) const {
    std::vector<uint64_t> out = {instance.rule, static_cast<uint64_t>(priority),
                                 static_cast<uint64_t>(level) * 8 + instance.sole_uses * 4 +
                                     static_cast<uint64_t>(instance.direction)};
    for (uint32_t leaf : leaves_of(instance)) {
      out.push_back(ids_[values_.value_of[leaf]]);
      if (values_.edge_of[leaf]) out.push_back(reinterpret_cast<uint64_t>(values_.edge_of[leaf]));
    }
    return out;
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
    const auto value = [&](size_t array) {
      return values_.value_of[leaves_[instance.first + array]];
    };
    for (const StepMove& move : moves) {
      std::vector<InstructionId>& out = (*origins_)[value(move.array)][move.dim];
      for (InstructionId origin : (*origins_)[value(move.source)][move.source_dim])
        if (std::ranges::find(out, origin) == out.end()) out.push_back(origin);
    }
  }

  KnownStep step(const Instance& instance, int64_t priority, PropagationLevel level) {
    const PropagationRule& rule = rules_[instance.rule];
    std::vector<Direction> directions = directions_at(rule, level, instance.sole_uses);
    for (Direction& direction : directions)
      direction = static_cast<Direction>(static_cast<uint8_t>(direction) &
                                         static_cast<uint8_t>(instance.direction));
    std::vector<StepArray> arrays;
    for (size_t i = 0; i < instance.count; ++i) arrays.push_back(array_of(rule, instance, i));
    const auto after = propagate_step({rule.factors, arrays, directions, rule.is_elementwise,
                                       level == PropagationLevel::Conflicts, priority});
    KnownStep out{{}, after.moves};
    for (size_t i = 0; i < instance.count; ++i) {
      const uint32_t before = ids_[values_.value_of[leaves_[instance.first + i]]];
      out.shardings.push_back(after.shardings[i] ? table_.intern(*after.shardings[i]) : before);
    }
    return out;
  }

  StepArray array_of(const PropagationRule& rule, const Instance& instance, size_t i) const {
    const uint32_t leaf = leaves_[instance.first + i], value = values_.value_of[leaf];
    StepArray out;
    out.is_result = i >= instance.operands;
    out.dims =
        out.is_result ? &rule.factors.results[i - instance.operands] : &rule.factors.operands[i];
    if (!values_.is_foreign[value]) out.sharding = &table_[ids_[value]];
    if (values_.edge_of[leaf]) out.prefix = &values_.edge_of[leaf]->prefix;
    out.elements = 1;
    for (const auto& dim : *out.dims)
      for (size_t factor : dim) out.elements *= rule.factors.factors[factor].size;
    return out;
  }

  const Module& module_;
  const GivenShardings& given_;
  ShardedValues& values_;
  ShardingOrigins* const origins_;
  PropagationRules rules_;
  ShardingTable table_;
  StepMemo memo_;
  std::vector<Instance> instances_;
  std::vector<uint32_t> uses_;                // by instruction
  std::vector<uint32_t> leaves_;              // of instances, one behind the other
  std::vector<uint32_t> first_user_, users_;  // instances, by value
  std::vector<uint32_t> ids_;                 // of shardings in the table, by value
};

}  // namespace

Result<void> propagate_shardings(const Module& module, const GivenShardings& given,
                                 ShardedValues& values, ShardingOrigins* origins) {
  return Propagation(module, given, values, origins).run();
}

}  // namespace hilo
