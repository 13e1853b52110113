#include "analysis/in_place.h"

namespace hilo {

InPlacePairs::InPlacePairs(const Module& module, const NodeTable& nodes)
    : module_(module),
      nodes_(nodes),
      first_(module.instructions.size()),
      count_(module.instructions.size()) {}

std::span<const NodePair> InPlacePairs::operator[](InstructionId id) const {
  return {pairs_.data() + first_[id.value], count_[id.value]};
}

void InPlacePairs::add_computation(ComputationId computation) {
  for (InstructionId id : module_[computation].instructions) add(id);
}

void InPlacePairs::add(InstructionId id) {
  const Op op = module_[id].op;
  const size_t first = pairs_.size();
  if (op == Op::DynamicUpdateSlice || op == Op::SetDimensionSize) {
    pairs_.push_back({0, 0, 0});
  } else if (op == Op::RaggedAllToAll) {
    pairs_.push_back({1, 0, 0});
  } else if (op == Op::Scatter) {  // operands, indices, as many updates
    add_first_operands(id, module_.operands(id).size() / 2);
  } else if (op == Op::AllReduceStart) {
    add_first_operands(id, module_.operands(id).size());
  } else if (op == Op::CollectivePermute || op == Op::CollectivePermuteStart) {
    add_collective_permute(id);
  } else if (op == Op::CustomCall) {
    add_declared(id, module_.attributes<CustomCallAttributes>(id).output_to_operand_aliasing);
  } else if (op == Op::AsyncStart || op == Op::AsyncUpdate) {
    add_declared(id, module_.attributes<AsyncAttributes>(id).output_to_operand_aliasing);
  } else if (op == Op::Fusion) {
    add_fusion(id);
    add_declared(id, module_.attributes<FusionAttributes>(id).output_to_operand_aliasing);
  }
  first_[id.value] = static_cast<uint32_t>(first);
  count_[id.value] = static_cast<uint32_t>(pairs_.size() - first);
}

void InPlacePairs::add_declared(InstructionId id, const OutputOperandAliases& aliases) {
  for (const OutputOperandAlias& alias : aliases) {
    const InstructionId operand = module_.operand(id, static_cast<size_t>(alias.operand));
    pairs_.push_back({alias.operand, nodes_[operand].find(alias.operand_index),
                      nodes_[id].find(alias.output_index)});
  }
}

void InPlacePairs::add_first_operands(InstructionId id, size_t count) {
  if (count == 1) return pairs_.push_back({0, 0, 0});
  for (size_t i = 0; i < count; ++i)
    pairs_.push_back({static_cast<int64_t>(i), 0, nodes_[id].child(0, i)});
}

// With slices, (input, output, their offsets): the output is updated.
void InPlacePairs::add_collective_permute(InstructionId id) {
  if (module_.operands(id).size() != 4) return;
  const bool start = module_[id].op == Op::CollectivePermuteStart;
  const auto& attributes = module_.attributes<CollectivePermuteAttributes>(id);
  if (start && attributes.slice_sizes.lists.empty()) return;
  const uint32_t output = start ? nodes_[id].child(0, 1) : 0;
  const ShapeNodes& operand = nodes_[module_.operand(id, 1)];
  for (uint32_t node = 0; node < operand.size() && output + node < nodes_[id].size(); ++node)
    pairs_.push_back({1, node, output + node});
}

// Where a part comes from: through tuples, then their elements, then bitcasts.
InPlacePairs::Part InPlacePairs::source_of(Part part) const {
  const auto operand = [&](size_t i) { return module_.operand(part.instruction, i); };
  while (module_[part.instruction].op == Op::Tuple && part.node != 0) {
    const auto element = static_cast<size_t>(nodes_[part.instruction].indices[part.node].front());
    part = {operand(element), part.node - nodes_[part.instruction].child(0, element)};
  }
  while (module_[part.instruction].op == Op::GetTupleElement) {
    const int64_t index = module_.attributes<GetTupleElementAttributes>(part.instruction).index;
    part = {operand(0), part.node + nodes_[operand(0)].child(0, static_cast<size_t>(index))};
  }
  while (module_[part.instruction].op == Op::Bitcast && part.node == 0)
    part.instruction = operand(0);
  return part;
}

// The part of an operand over which this part is written, or none.
InPlacePairs::Part InPlacePairs::written_over(Part part) const {
  for (const NodePair& pair : (*this)[part.instruction])
    if (pair.output_node == part.node)
      return source_of({module_.operand(part.instruction, static_cast<size_t>(pair.operand)),
                        pair.operand_node});
  return {};
}

// An array that a fusion gives lies where a parameter lay when it is made by an op that writes over
// that parameter, in the fusion itself or in one more fusion inside.
void InPlacePairs::add_fusion(InstructionId id) {
  const InstructionId root = module_[module_.attributes<FusionAttributes>(id).calls].root;
  for (uint32_t node = 0; node < nodes_[id].size(); ++node) {
    if (nodes_[id].shapes[node]->is_tuple()) continue;
    Part part = written_over(source_of({root, node}));
    if (part.instruction && module_[part.instruction].op == Op::Fusion)
      if (const Part inner = written_over(part); inner.instruction) part = inner;
    if (!part.instruction || module_[part.instruction].op != Op::Parameter) continue;
    pairs_.push_back(
        {module_.attributes<ParameterAttributes>(part.instruction).number, part.node, node});
  }
}

}  // namespace hilo
