// Questions to finished Aliases.
#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {

size_t Aliases::count_nodes(InstructionId instruction) const {
  return first_node[instruction.value + 1] - first_node[instruction.value];
}

const Dims& Aliases::index_of_node(InstructionId instruction, size_t node) const {
  static const Dims whole;
  const std::vector<Dims>& indices = nodes_of_shape[shapes[instruction.value].value];
  return indices.empty() ? whole : indices[node];
}

std::span<const ValueId> Aliases::at_node(InstructionId instruction, size_t node) const {
  if (node >= count_nodes(instruction)) return {};
  const uint32_t set = sets[first_node[instruction.value] + node];
  return {set_values.data() + set_start[set], set_start[set + 1] - set_start[set]};
}

std::span<const ValueId> Aliases::at(InstructionId instruction, const Dims& index) const {
  if (index.empty()) return at_node(instruction, 0);
  const std::vector<Dims>& indices = nodes_of_shape[shapes[instruction.value].value];
  const auto found = std::lower_bound(indices.begin(), indices.end(), index);
  check(found != indices.end() && *found == index, "Aliases::at: no such part of the result");
  return at_node(instruction, static_cast<size_t>(found - indices.begin()));
}

std::span<const InPlace> Aliases::in_place_of(InstructionId instruction) const {
  const auto range = std::ranges::equal_range(in_place, instruction, {}, &InPlace::instruction);
  return {range.begin(), range.end()};
}

const Shape& shape_of(const Module& module, const Value& value) {
  const Shape* shape = &module.shape(value.definition().instruction);
  for (int64_t element : value.definition().index)
    shape = &shape->elements[static_cast<size_t>(element)];
  return *shape;
}

std::string name_of(const Module& module, const Value& value) {
  std::string out(module[value.definition().instruction].name);
  out += '{';
  for (size_t i = 0; i < value.definition().index.size(); ++i)
    out += fmt::format("{}{}", i ? "," : "", value.definition().index[i]);
  return out + '}';
}

}  // namespace hilo
