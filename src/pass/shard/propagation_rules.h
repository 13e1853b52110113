// What propagation does at each kind of instruction; alike ones share a rule. Private to
// `pass/shard`.
#pragma once

#include <deque>
#include <map>

#include "analysis/analysis.h"
#include "pass/shard/propagation_step.h"

namespace hilo {

struct PropagationRule {
  ShardingFactors factors;
  bool is_stated = false;  // by the framework, of a custom call
  bool is_elementwise = false;
  bool keeps_elements = false;  // each element of the result is made of one of each array
  bool is_broadcast = false;
  bool is_dynamic_slice = false;  // or an update of one
};

// What goes first is what is least likely to be wrong; each level has all before it. Shardy's op
// priorities.
enum class PropagationLevel : uint8_t {
  SoleUses,          // kept elements, where nobody else uses the operands; dynamic slices, forward
  KeptElements,      // whoever uses them
  PassingFactors,    // of all ops; broadcasts backward only
  AllFactors,        // that cost a collective too
  BroadcastResults,  // broadcasts forward
  Conflicts          // rather one of two shardings than none
};
// Which arrays may get axes of each factor. `sole_uses`: nobody else uses the operands.
std::vector<Direction> directions_at(const PropagationRule& rule, PropagationLevel level,
                                     bool sole_uses);

class PropagationRules {
 public:
  explicit PropagationRules(const Module& module) : module_(module) {}

  // Structure where a custom call's own rule does not fit it, Syntax where it is none.
  Result<uint32_t> of_instruction(InstructionId id);
  // Of what hands an array on as it is.
  uint32_t of_identity(const Shape& shape);
  const PropagationRule& operator[](uint32_t rule) const { return rules_[rule]; }
  size_t size() const { return rules_.size(); }

 private:
  struct Known {
    InstructionId like;
    uint32_t rule;
  };
  bool are_alike(InstructionId a, InstructionId b) const;
  size_t hash_of(InstructionId id) const;

  const Module& module_;
  std::deque<PropagationRule> rules_;
  std::unordered_multimap<size_t, Known> known_;
  std::map<std::string, uint32_t, std::less<>> of_texts_;
  std::map<Dims, uint32_t> identities_;  // by dimensions
};

}  // namespace hilo
