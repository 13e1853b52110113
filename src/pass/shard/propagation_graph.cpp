#include "pass/shard/propagation_graph.h"

#include <algorithm>
#include <set>

namespace hilo {

StepArray PropagationGraph::array(const ShardedValues& values, const Instance& instance, size_t i,
                                  const AxisSharding* sharding) const {
  const uint32_t leaf = leaves[instance.first + i];
  const ShardingFactors& factors = rules[instance.rule].factors;
  StepArray out;
  out.is_result = i >= instance.operands;
  out.dims = out.is_result ? &factors.results[i - instance.operands] : &factors.operands[i];
  if (!values.is_foreign[values.value_of[leaf]]) out.sharding = sharding;
  if (values.edge_of[leaf]) out.prefix = &values.edge_of[leaf]->prefix;
  out.elements = 1;
  for (const auto& dim : *out.dims)
    for (size_t factor : dim) out.elements *= factors.factors[factor].size;
  return out;
}

namespace {

class GraphBuilder {
 public:
  GraphBuilder(const Module& module, const GivenShardings& given, const ShardedValues& values,
               PropagationGraph& graph)
      : module_(module), given_(given), values_(values), graph_(graph) {}

  Result<void> run() {
    uses_.resize(module_.instructions.size());
    for (const Instruction& instruction : module_.instructions)
      if (!instruction.removed)
        for (InstructionId operand : module_.operands(instruction)) ++uses_[operand.value];
    for (ComputationId computation : given_.computations)
      for (InstructionId id : operands_first(module_, computation))
        if (auto done = add_steps(id); !done) return fault_at(module_, id, std::move(done).error());
    add_hints();
    const std::set<InstructionId> results(given_.results.begin(), given_.results.end());
    std::ranges::stable_partition(
        graph_.instances, [&](const Instance& one) { return results.contains(one.instruction); });
    index_users();
    return {};
  }

 private:
  using Instance = PropagationGraph::Instance;

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
    HILO_TRY(const uint32_t rule, graph_.rules.of_instruction(id));
    Instance instance{
        rule, static_cast<uint32_t>(graph_.leaves.size()), 0, 0, has_sole_uses(id), Direction::Both,
        id};
    for (InstructionId operand : module_.operands(id)) add_leaves(operand);
    instance.operands = static_cast<uint32_t>(graph_.leaves.size()) - instance.first;
    add_leaves(id);
    instance.count = static_cast<uint32_t>(graph_.leaves.size()) - instance.first;
    const ShardingFactors& factors = graph_.rules[rule].factors;
    check(factors.operands.size() == instance.operands &&
              factors.results.size() + instance.operands == instance.count,
          "propagation: factors of another instruction");
    graph_.instances.push_back(instance);
    return {};
  }

  void add_leaves(InstructionId id) {
    for (size_t i = 0; i < values_.leaf_count(id); ++i)
      graph_.leaves.push_back(static_cast<uint32_t>(values_.leaf(id, i)));
  }

  bool has_sole_uses(InstructionId id) const {
    return std::ranges::all_of(module_.operands(id), [&](InstructionId operand) {
      return !is_array(operand) || uses_[operand.value] == 1;
    });
  }

  void add_identity(InstructionId id, const Shape& shape, size_t from, size_t to, bool sole_uses,
                    Direction direction = Direction::Both) {
    if (!shape.is_array() || shape.dims.empty()) return;
    graph_.instances.push_back({graph_.rules.of_identity(shape),
                                static_cast<uint32_t>(graph_.leaves.size()), 2, 1, sole_uses,
                                direction, id});
    graph_.leaves.insert(graph_.leaves.end(),
                         {static_cast<uint32_t>(from), static_cast<uint32_t>(to)});
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
      if (module_[group.value].removed) continue;
      const auto [found, is_new] = first.try_emplace(group.number, group.value);
      const Shape &a = module_.shape(found->second), &b = module_.shape(group.value);
      if (!is_new && group.is_hint && a.is_array() && b.is_array() && a.dims == b.dims)
        add_identity(group.value, a, values_.leaf(found->second, 0), values_.leaf(group.value, 0),
                     false);
    }
  }

  void index_users() {
    graph_.first_user.assign(values_.shardings.size() + 1, 0);
    for (const Instance& instance : graph_.instances)
      for (uint32_t leaf : graph_.leaves_of(instance))
        ++graph_.first_user[values_.value_of[leaf] + 1];
    for (size_t i = 1; i < graph_.first_user.size(); ++i)
      graph_.first_user[i] += graph_.first_user[i - 1];
    graph_.users.resize(graph_.first_user.back());
    std::vector<uint32_t> next(graph_.first_user.begin(), graph_.first_user.end() - 1);
    for (uint32_t i = 0; i < graph_.instances.size(); ++i)
      for (uint32_t leaf : graph_.leaves_of(graph_.instances[i]))
        graph_.users[next[values_.value_of[leaf]]++] = i;
  }

  const Module& module_;
  const GivenShardings& given_;
  const ShardedValues& values_;
  PropagationGraph& graph_;
  std::vector<uint32_t> uses_;  // by instruction
};

}  // namespace

Result<void> build_graph(const Module& module, const GivenShardings& given,
                         const ShardedValues& values, PropagationGraph& graph) {
  return GraphBuilder(module, given, values, graph).run();
}

}  // namespace hilo
