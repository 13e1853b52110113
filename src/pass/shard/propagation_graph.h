// What propagation works on: which arrays meet at which instruction, and by which rule. Private to
// `pass/shard`.
#pragma once

#include "pass/shard/propagation_rules.h"
#include "pass/shard/sharded_values.h"

namespace hilo {

struct PropagationGraph {
  struct Instance {                           // a rule at an instruction
    uint32_t rule = 0, first = 0, count = 0;  // leaves
    uint32_t operands = 0;                    // of them
    bool sole_uses = false;
    Direction direction = Direction::Both;
    InstructionId instruction = {};
  };

  PropagationRules rules;
  std::vector<Instance> instances;  // what callers see first, then in the order of the program
  std::vector<uint32_t> leaves;     // of instances, one behind the other
  std::vector<uint32_t> first_user, users;  // instances, by value

  explicit PropagationGraph(const Module& module) : rules(module) {}
  std::span<const uint32_t> leaves_of(const Instance& instance) const {
    return {leaves.data() + instance.first, instance.count};
  }
  std::span<const uint32_t> users_of(uint32_t value) const {
    return {users.data() + first_user[value], users.data() + first_user[value + 1]};
  }
  // An array of an instance with a sharding of its value; none where that is over another mesh.
  StepArray array(const ShardedValues& values, const Instance& instance, size_t i,
                  const AxisSharding* sharding) const;
};

// Errors of PropagationRules, at their instructions.
Result<void> build_graph(const Module& module, const GivenShardings& given,
                         const ShardedValues& values, PropagationGraph& graph);

}  // namespace hilo
