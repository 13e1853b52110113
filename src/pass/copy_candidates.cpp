#include "pass/copy_candidates.h"

#include <algorithm>

namespace hilo {
namespace {

class CandidateFinder {
 public:
  CandidateFinder(const Module& module, const Aliases& aliases, const Lifetimes& lifetimes)
      : module_(module),
        aliases_(aliases),
        lifetimes_(lifetimes),
        depth_(module.computations.size(), 0) {}

  CopyCandidates run() {
    std::vector<ComputationId> callers_first = module_.post_order();
    std::ranges::reverse(callers_first);
    for (ComputationId computation : callers_first) find_depths(computation);
    for (ComputationId computation : callers_first)
      for (InstructionId id : module_[computation].instructions) {
        if (aliases_.count_nodes(id) == 0) continue;
        if (module_[id].op == Op::While) add_while(id);
        if (module_[id].op == Op::Conditional) add_conditional(id);
      }
    add_in_place();
    add_entry();
    return std::move(out_);
  }

 private:
  void find_depths(ComputationId computation) {
    for (InstructionId id : module_[computation].instructions)
      for (ComputationId callee : module_.called(module_[id]))
        depth_[callee.value] = std::max(depth_[callee.value],
                                        depth_[computation.value] + (module_[id].op == Op::While));
  }

  InstructionId root(ComputationId computation) const { return module_[computation].root; }

  void add_candidates(const CopyPosition& place, std::span<const ValueId> from,
                      std::span<const ValueId> to) {
    for (ValueId a : from)
      for (ValueId b : to) {
        if (a == b || !lifetimes_.is_run(a) || !lifetimes_.is_run(b)) continue;
        const Shape& shape = shape_of(module_, aliases_[a]);
        if (!shape.is_array() && !shape.is_tuple()) continue;
        out_.pairs.push_back({place, a, b, depth_[place.computation.value], unpadded_bytes(shape)});
      }
  }

  void bind(std::span<const ValueId> a, std::span<const ValueId> b) {
    if (!a.empty() && !b.empty() && a[0] != b[0] && lifetimes_.is_run(a[0]))
      out_.bound.emplace_back(a[0], b[0]);
  }

  void add_while(InstructionId id) {
    const auto& [condition, body] = module_.attributes<WhileAttributes>(id);
    for (size_t node = 0; node < aliases_.count_nodes(id); ++node) {
      const auto result = aliases_.at_node(id, node);
      const Dims& index = aliases_.index_of_node(id, node);
      bind(result, aliases_.at_node(module_[body].parameters[0], node));
      bind(result, aliases_.at_node(module_[condition].parameters[0], node));
      add_candidates({id, 0, module_[id].computation, index},
                     aliases_.at_node(module_.operand(id, 0), node), result);
      add_candidates({{}, 0, body, index}, aliases_.at_node(root(body), node), result);
    }
  }

  void add_conditional(InstructionId id) {
    for (ComputationId branch : module_.called(module_[id]))
      for (size_t node = 0; node < aliases_.count_nodes(id); ++node)
        add_candidates({{}, 0, branch, aliases_.index_of_node(id, node)},
                       aliases_.at_node(root(branch), node), aliases_.at_node(id, node));
  }

  void add_in_place() {
    for (const InPlace& pair : aliases_.in_place) {
      const InstructionId id = pair.instruction;
      if (aliases_.count_nodes(id) == 0) continue;
      const InstructionId operand = module_.operand(id, static_cast<size_t>(pair.operand));
      const auto result = aliases_.at(id, pair.output_index);
      add_candidates({id, pair.operand, module_[id].computation, pair.operand_index},
                     aliases_.at(operand, pair.operand_index), result);
      // Two parts written over one operand are one piece of memory, whatever is copied.
      for (const InPlace& other : aliases_.in_place_of(id))
        if (other.operand == pair.operand && other.operand_index == pair.operand_index)
          bind(result, aliases_.at(id, other.output_index));
    }
  }

  void add_entry() {
    const InstructionId result = root(module_.entry);
    std::vector<bool> given(aliases_.values.size());
    for (const BufferAlias& alias : module_.header.input_output_alias)
      add_candidates({{}, 0, module_.entry, alias.output_index},
                     aliases_.at(result, alias.output_index),
                     aliases_.at(parameter(alias.parameter), alias.parameter_index));
    // Parameters that stay in their place come first, then results in their order.
    for (bool kept : {true, false})
      for (size_t node = 0; node < aliases_.count_nodes(result); ++node) {
        const Dims& index = aliases_.index_of_node(result, node);
        for (ValueId value : aliases_.at_node(result, node)) {
          if (!shape_of(module_, aliases_[value]).is_array()) continue;
          if (stays(value, index) != kept) continue;
          if (given[value.value] || (!kept && must_not_be_result(value)))
            out_.results.push_back({{}, 0, module_.entry, index});
          given[value.value] = true;
        }
      }
  }

  InstructionId parameter(int64_t number) const {
    return module_[module_.entry].parameters[static_cast<size_t>(number)];
  }

  // Whether the value is the parameter that the result at this index shall lie over.
  bool stays(ValueId value, const Dims& index) const {
    for (const BufferAlias& alias : module_.header.input_output_alias) {
      if (alias.output_index != index) continue;
      const auto values = aliases_.at(parameter(alias.parameter), alias.parameter_index);
      return std::ranges::find(values, value) != values.end();
    }
    return false;
  }

  bool must_not_be_result(ValueId value) const {
    const Instruction& instruction = module_[aliases_[value].definition().instruction];
    return lifetimes_.is_read_only(value) ||
           (instruction.op == Op::Parameter && instruction.computation == module_.entry);
  }

  const Module& module_;
  const Aliases& aliases_;
  const Lifetimes& lifetimes_;
  std::vector<int64_t> depth_;  // by computation
  CopyCandidates out_;
};

}  // namespace

CopyCandidates find_copy_candidates(const Module& module, const Aliases& aliases,
                                    const Lifetimes& lifetimes) {
  return CandidateFinder(module, aliases, lifetimes).run();
}

}  // namespace hilo
