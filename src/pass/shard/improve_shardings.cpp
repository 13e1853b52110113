#include "pass/shard/improve_shardings.h"

#include <algorithm>
#include <set>

#include "pass/shard/roles.h"
#include "pass/shard/shifts.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;
using Instance = PropagationGraph::Instance;

class Improvement {
 public:
  explicit Improvement(PropagationState state)
      : state_(state),
        graph_(state.graph),
        values_(state.values),
        given_(state.given_ids),
        ids_(state.ids),
        costs_(nullptr) {}

  void run() {
    weigh();
    questions_left_ = graph_.instances.size() + state_.more_questions;
    while (sweep()) {
    }
  }

 private:
  bool sweep() {
    bool changed = false;
    tried_.clear();
    for (const Instance& instance : graph_.instances)
      if (is_any_free(instance) && moves_data(instance))
        for (uint32_t leaf : graph_.leaves_of(instance)) {
          if (questions_left_ == 0) return false;
          changed |= improve(values_.value_of[leaf]);
        }
    return changed;
  }

  struct Change {
    uint32_t value, id;
    std::vector<std::pair<uint32_t, StepMove>> origins;  // values that axes came from
  };

  // How often each computation runs.
  void weigh() {
    runs_.assign(state_.module.computations.size(), 1);
    for (ComputationId computation : state_.given.computations)
      for (InstructionId id : state_.module[computation].instructions) {
        if (state_.module[id].removed) continue;
        double runs = runs_[computation.value];
        if (state_.module[id].op == Op::While)
          runs *= static_cast<double>(stated_trip_count(state_.module, id).value_or(1));
        for (ComputationId callee : state_.module.called(state_.module[id]))
          runs_[callee.value] = runs;
      }
  }

  uint32_t value_at(const Instance& instance, size_t i) const {
    return values_.value_of[graph_.leaves[instance.first + i]];
  }
  bool is_free(uint32_t value) const {
    return !values_.is_foreign[value] &&
           std::ranges::any_of(values_.shardings[value].dims, &AxisSharding::Dim::is_open);
  }

  bool is_any_free(const Instance& instance) const {
    return std::ranges::any_of(graph_.leaves_of(instance),
                               [&](uint32_t leaf) { return is_free(values_.value_of[leaf]); });
  }

  // Seconds of an instance: of its share of the work, of bringing its results to where they are,
  // and of each operand on its way to the sharding that the roles give it, which other users may
  // share.
  struct Cost {
    struct Operand {
      size_t array;
      uint32_t sharding;
      double seconds;
    };
    double work = 0, results = 0;
    std::vector<Operand> operands;
  };

  const Cost& cost(const Instance& instance) {
    key_.assign({instance.rule, is_read_through(instance.instruction)});
    bool is_foreign = false;
    for (uint32_t leaf : graph_.leaves_of(instance)) {
      is_foreign = is_foreign || values_.is_foreign[values_.value_of[leaf]];
      key_.push_back(ids_[values_.value_of[leaf]]);
      if (values_.edge_of[leaf]) key_.push_back(reinterpret_cast<uint64_t>(values_.edge_of[leaf]));
    }
    const auto known = costs_of_.find(key_);
    if (known != costs_of_.end()) return known->second;
    Cost& out = costs_of_[key_];
    if (!is_foreign && is_known(instance)) out = find_cost(instance);
    return out;
  }

  bool moves_data(const Instance& instance) {
    const Cost& known = cost(instance);
    return known.results > 0 || std::ranges::any_of(known.operands, [](const auto& operand) {
             return operand.seconds > 0;
           });
  }

  // Of other custom calls the partitioner may know more than that they need whole operands.
  bool is_known(const Instance& instance) const {
    return state_.module[instance.instruction].op != Op::CustomCall ||
           graph_.rules[instance.rule].is_stated || graph_.rules[instance.rule].keeps_elements;
  }

  double runs_of(const Instance& instance) const {
    return runs_[state_.module[instance.instruction].computation.value];
  }

  AxisSharding sharding_at(uint32_t leaf) const {
    return values_.shown(leaf, state_.table[ids_[values_.value_of[leaf]]]);
  }

  // Whole, on one device; none where elements are only moved.
  double operations_of(const Instance& instance) const {
    const Op op = state_.module[instance.instruction].op;
    if (op == Op::Tuple || has_trait(op, TraitMoves | TraitNoTraffic)) return 0;
    double out = 2;  // a product and a sum
    for (const ShardingFactor& factor : graph_.rules[instance.rule].factors.factors)
      out *= static_cast<double>(factor.size);
    return out;
  }

  // The cost where all arrays have the axes of their factors, so that nothing moves.
  std::optional<Cost> find_cost_in_place(const Instance& instance) {
    const ShardingFactors& factors = graph_.rules[instance.rule].factors;
    std::vector<const SubAxes*> axes(factors.factors.size());
    if (in_place_.size() < instance.count) in_place_.resize(instance.count);
    bool is_any_sharded = false;
    for (size_t i = 0; i < instance.count; ++i) {
      const uint32_t leaf = graph_.leaves[instance.first + i], value = values_.value_of[leaf];
      if (values_.is_foreign[value] || values_.edge_of[leaf] ||
          !state_.table[ids_[value]].unreduced.empty())
        return std::nullopt;
      is_any_sharded |= state_.table.is_sharded(ids_[value]);
    }
    for (size_t i = 0; is_any_sharded && i < instance.count; ++i) {
      const AxisSharding& sharding = state_.table[ids_[value_at(instance, i)]];
      const StepArray array = graph_.array(values_, instance, i, &sharding);
      axes_of_factors(factors, *array.dims, sharding, nullptr, std::numeric_limits<int64_t>::max(),
                      in_place_[i]);
      for (size_t d = 0; d < array.dims->size(); ++d)
        if (axes_of_dimension(factors, (*array.dims)[d], in_place_[i]) != sharding.dims[d].axes)
          return std::nullopt;
      for (size_t f = 0; f < axes.size(); ++f) {
        const FactorAxes& here = in_place_[i].factors[f];
        if (!here.is_here) continue;
        if (axes[f] && *axes[f] != here.axes) return std::nullopt;
        axes[f] = &here.axes;
        if (!here.axes.empty() && factors.factors[f].kind != Kind::Pass) return std::nullopt;
      }
    }
    double devices = 1;
    for (const SubAxes* list : axes)
      if (list) devices *= static_cast<double>(axes_size(*list));
    Cost out;
    out.work = costs_.seconds_to_compute(operations_of(instance) / devices);
    return out;
  }

  Cost find_cost(const Instance& instance) {
    if (auto known = find_cost_in_place(instance)) return *known;
    const PropagationRule& rule = graph_.rules[instance.rule];
    std::vector<const Shape*> shapes;
    std::vector<AxisSharding> shardings;
    shardings.reserve(instance.count);
    for (uint32_t leaf : graph_.leaves_of(instance)) {
      shapes.push_back(values_.shapes[leaf]);
      shardings.push_back(sharding_at(leaf));
    }
    RoleQuestion question{rule.factors, {}, {}, state_.given.mesh, shardings[0].manual, ""};
    question.operations = operations_of(instance);
    for (const ShardingFactor& factor : rule.factors.factors) {
      question.may_shard.push_back(factor.kind != Kind::NeedReplication);
      question.even_alone.push_back(false);
      question.may_be_uneven.push_back(false);
    }
    std::vector<size_t> operands;
    for (size_t i = 0; i < instance.count; ++i) {
      const bool is_result = i >= instance.operands;
      if (!shapes[i]->is_array()) continue;
      if (!is_result) operands.push_back(i);
      (is_result ? question.results : question.operands)
          .push_back(
              {shapes[i],
               is_result ? &rule.factors.results[i - instance.operands] : &rule.factors.operands[i],
               &shardings[i]});
    }
    // Rows that such ops bring from other tiles.
    if (question.results.size() == 1 && !is_read_through(instance.instruction))
      question.sent_bytes = [&](const Roles& roles) {
        return bytes_to_shift(state_.module, instance.instruction,
                              result_sharding(question, question.results[0], roles));
      };
    return cost_of(question, operands);
  }

  Cost cost_of(const RoleQuestion& question, std::span<const size_t> operands) {
    questions_left_ -= std::min<size_t>(questions_left_, 1);
    const Roles roles = choose_roles(question, costs_);
    Cost out;
    for (size_t i = 0; i < operands.size(); ++i) {
      const RoleArray& array = question.operands[i];
      const AxisSharding wanted = operand_sharding(question, array, roles);
      out.operands.push_back({operands[i], state_.table.intern(wanted),
                              costs_.seconds(*array.shape, *array.sharding, wanted)});
    }
    for (const RoleArray& array : question.results)
      out.results +=
          costs_.seconds(*array.shape, result_sharding(question, array, roles), *array.sharding);
    if (question.sent_bytes) out.results += costs_.seconds_to_send(question.sent_bytes(roles));
    double devices = 1;
    for (const SubAxes& axes : roles.axes) devices *= static_cast<double>(axes_size(axes));
    out.work = costs_.seconds_to_compute(question.operations / devices);
    return out;
  }

  // A slice that concatenations alone read, which take the array in its place.
  bool is_read_through(InstructionId id) const {
    const Module& module = state_.module;
    if (module[id].op != Op::Slice || module.users(id).empty()) return false;
    return std::ranges::all_of(module.users(id), [&](InstructionId user) {
      if (module[user].op != Op::Concatenate) return false;
      const ConcatenationSources sources = concatenation_sources(module, user);
      for (size_t i = 0; i < sources.size(); ++i)
        if (module.operand(user, i) == id && !sources[i]) return false;
      return true;
    });
  }

  // The sharding of one array of an instance when it takes what those in `from` ask for, beginning
  // with what is given of it.
  const KnownStep& asked(const Instance& instance, size_t array, std::optional<size_t> from) {
    key_ = {instance.rule, array, from ? *from + 1 : 0};
    for (size_t i = 0; i < instance.count; ++i) {
      const uint32_t leaf = graph_.leaves[instance.first + i], value = values_.value_of[leaf];
      key_.push_back(i == array ? given_[value] : from && *from != i ? UINT32_MAX : ids_[value]);
      if (values_.edge_of[leaf]) key_.push_back(reinterpret_cast<uint64_t>(values_.edge_of[leaf]));
    }
    return steps_.step(key_, [&] { return step(instance, array, from); });
  }

  KnownStep step(const Instance& instance, size_t array, std::optional<size_t> from) {
    const PropagationRule& rule = graph_.rules[instance.rule];
    std::vector<StepArray> arrays;
    for (size_t i = 0; i < instance.count; ++i) {
      const uint32_t value = value_at(instance, i);
      const bool is_seen = i == array || !from || *from == i;
      arrays.push_back(graph_.array(
          values_, instance, i,
          is_seen ? &state_.table[i == array ? given_[value] : ids_[value]] : nullptr));
    }
    std::vector<Direction> directions;
    for (const ShardingFactor& factor : rule.factors.factors)
      directions.push_back(factor.blocks_propagation ? Direction::None : Direction::Both);
    const StepOutcome after = stepper_.run(
        {rule.factors, arrays, directions, false, true, std::numeric_limits<int64_t>::max()});
    KnownStep out{{given_[value_at(instance, array)]}, {}};
    if (after.shardings[array]) out.shardings[0] = state_.table.intern(*after.shardings[array]);
    for (const StepMove& move : after.moves)
      if (move.array == array) out.moves.push_back(move);
    return out;
  }

  bool improve(uint32_t value) {
    if (!is_free(value)) return false;
    for (uint32_t user : graph_.users_of(value)) {
      const Instance& instance = graph_.instances[user];
      if (instance.direction != Direction::Both) continue;
      for (size_t i = 0; i < instance.count; ++i) {
        if (value_at(instance, i) != value) continue;
        if (attempt(instance, i, std::nullopt)) return true;
        for (size_t from = 0; from < instance.count; ++from)
          if (from != i && value_at(instance, from) != value && attempt(instance, i, from))
            return true;
      }
    }
    return false;
  }

  bool attempt(const Instance& instance, size_t i, std::optional<size_t> from) {
    const uint32_t value = value_at(instance, i);
    const KnownStep& known = asked(instance, i, from);
    const std::pair<uint32_t, uint32_t> wanted = {value, known.shardings[0]};
    if (wanted.second == ids_[value] || taken_.contains(wanted) || !tried_.insert(wanted).second)
      return false;
    std::vector<Change> changes = {{value, known.shardings[0], {}}};
    note_origins(instance, known.moves, changes[0]);
    spread(changes);
    if (!keep_if_better(changes)) return false;
    taken_.insert(wanted);
    return true;
  }

  void note_origins(const Instance& instance, std::span<const StepMove> moves, Change& change) {
    if (state_.origins)
      for (const StepMove& move : moves)
        change.origins.emplace_back(value_at(instance, move.source), move);
  }

  // What is sharded like a value for no other reason follows it.
  void spread(std::vector<Change>& changes) {
    std::set<uint32_t> changed = {changes[0].value};
    for (size_t at = 0; at < changes.size(); ++at) {
      const uint32_t value = changes[at].value, id = changes[at].id;
      for (uint32_t user : graph_.users_of(value)) {
        const Instance& instance = graph_.instances[user];
        if (!graph_.rules[instance.rule].keeps_elements || instance.direction != Direction::Both)
          continue;
        for (size_t i = 0; i < instance.count; ++i)
          if (value_at(instance, i) == value)
            for (size_t to = 0; to < instance.count; ++to)
              if (!changed.contains(value_at(instance, to)))
                follow(instance, i, to, id, changes, changed);
      }
    }
  }

  void follow(const Instance& instance, size_t from, size_t to, uint32_t id,
              std::vector<Change>& changes, std::set<uint32_t>& changed) {
    const uint32_t value = value_at(instance, to), source = value_at(instance, from);
    if (!is_free(value) || asked(instance, to, from).shardings[0] != ids_[value]) return;
    const uint32_t before = std::exchange(ids_[source], id);
    const KnownStep& after = asked(instance, to, from);
    ids_[source] = before;
    if (after.shardings[0] == ids_[value]) return;
    changed.insert(value);
    tried_.insert({value, after.shardings[0]});
    changes.push_back({value, after.shardings[0], {}});
    note_origins(instance, after.moves, changes.back());
  }

  struct Sum {
    double seconds = std::numeric_limits<double>::infinity();
    double work = std::numeric_limits<double>::infinity();  // of them, seconds of computing
  };
  // Of instances, or something beyond the limit.
  Sum sum_of(std::span<const uint32_t> instances, const Sum& limit) {
    Sum out = {0, 0};
    std::set<std::pair<uint32_t, uint32_t>> brought;  // values, each to a sharding once
    for (uint32_t i : instances) {
      const Instance& instance = graph_.instances[i];
      const Cost& one = cost(instance);
      double seconds = one.work + one.results;
      for (const auto& operand : one.operands)
        if (operand.seconds > 0 &&
            brought.insert({value_at(instance, operand.array), operand.sharding}).second)
          seconds += operand.seconds;
      out.seconds += seconds * runs_of(instance);
      out.work += one.work * runs_of(instance);
      if (out.seconds >= limit.seconds || out.work > limit.work) break;
    }
    return out;
  }

  bool keep_if_better(const std::vector<Change>& changes) {
    std::vector<uint32_t> touched;
    for (const Change& change : changes) {
      const auto users = graph_.users_of(change.value);
      touched.insert(touched.end(), users.begin(), users.end());
    }
    std::ranges::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    const Sum before = sum_of(touched, {});
    std::vector<uint32_t> old;
    for (const Change& change : changes)
      old.push_back(std::exchange(ids_[change.value], change.id));
    constexpr double closeness = std::numeric_limits<float>::epsilon();
    const Sum limit = {before.seconds * (1 - closeness), before.work * (1 + closeness)};
    const Sum after = sum_of(touched, limit);
    if (after.seconds < limit.seconds && after.work <= limit.work) {
      for (const Change& change : changes) take_origins(change);
      return true;
    }
    for (size_t i = 0; i < changes.size(); ++i) ids_[changes[i].value] = old[i];
    return false;
  }

  void take_origins(const Change& change) {
    if (!state_.origins) return;
    auto& dims = (*state_.origins)[change.value];
    for (auto& dim : dims)
      std::erase_if(dim, [&](InstructionId id) { return id != values_.said_by[change.value]; });
    for (const auto& [source, move] : change.origins)
      for (InstructionId origin : (*state_.origins)[source][move.source_dim])
        if (std::ranges::find(dims[move.dim], origin) == dims[move.dim].end())
          dims[move.dim].push_back(origin);
  }

  PropagationState state_;
  const PropagationGraph& graph_;
  const ShardedValues& values_;
  const std::vector<uint32_t>& given_;  // by value: what it begins with
  std::vector<uint32_t>& ids_;
  ReshardCosts costs_;
  Stepper stepper_;
  StepMemo steps_;
  std::vector<ArrayFactors> in_place_;  // of the instance that is looked at
  std::vector<double> runs_;            // by computation
  size_t questions_left_ = 0;
  std::vector<uint64_t> key_;  // of the cost or step that is looked up
  std::unordered_map<std::vector<uint64_t>, Cost, StepKeyHash> costs_of_;
  // Values and shardings: those of this sweep, and those that stayed. What others bring is not seen
  // from everywhere, so two might seem better than each other: none is taken a second time.
  std::set<std::pair<uint32_t, uint32_t>> tried_, taken_;
};

}  // namespace

void improve_shardings(PropagationState state) { Improvement(state).run(); }

}  // namespace hilo
