// Maps through computations: of fusions and calls, one for each way from the result to a parameter.
#include <algorithm>
#include <map>
#include <set>

#include "analysis/index_map/op_maps.h"

namespace hilo {
namespace {

// A fused computation that reads one value in more ways is not told of.
constexpr size_t max_maps = 64;

using Maps = std::vector<IndexMap>;

void add(Maps& maps, IndexMap map) {
  if (!map.needs_nothing && std::ranges::find(maps, map) == maps.end())
    maps.push_back(std::move(map));
}

IndexMap identity(const Shape& shape) {
  IndexMap map;
  map.result_dims = map.operand_dims = shape.dims;
  for (int64_t d = 0; d < shape.rank(); ++d) map.index.push_back(result_index(d));
  simplify(map);
  return map;
}

const Shape& leaf_shape(const Shape& shape, size_t leaf) {
  const Shape* found = nullptr;
  for_each_leaf(shape, [&](const Shape& each, std::span<const int64_t>) {
    if (leaf-- == 0) found = &each;
  });
  check(found != nullptr, "leaf_shape: no such leaf");
  return *found;
}

// Instructions of the computation that need the parameter, itself among them.
std::set<InstructionId> dependents(const Module& module, InstructionId parameter) {
  std::set<InstructionId> out = {parameter};
  std::vector<InstructionId> waiting = {parameter};
  while (!waiting.empty()) {
    const InstructionId value = waiting.back();
    waiting.pop_back();
    for (InstructionId user : module.users(value))
      if (out.insert(user).second) waiting.push_back(user);
  }
  return out;
}

}  // namespace

IndexMapsResult index_maps_through(const Module& module, ComputationId computation,
                                   int64_t parameter, size_t output, size_t leaf) {
  const InstructionId root = module[computation].root;
  const InstructionId target = module[computation].parameters[static_cast<size_t>(parameter)];
  const Shape& result = leaf_shape(module.shape(root), output);
  if (!result.is_array()) return std::unexpected("it is no array");
  const std::set<InstructionId> needs = dependents(module, target);
  // Users come before their operands, so that all maps of a value are there when it is looked at.
  std::map<InstructionId, std::map<size_t, Maps>> maps;
  add(maps[root][output], identity(result));
  const auto& order = module[computation].instructions;
  for (size_t i = order.size(); i-- > 0;) {
    const InstructionId id = order[i];
    if (id == target || !needs.contains(id) || !maps.contains(id)) continue;
    for (const auto& [from, outers] : maps[id])
      for (size_t k = 0; k < module[id].operand_count; ++k) {
        const InstructionId operand = module.operand(id, k);
        if (!needs.contains(operand)) continue;
        const auto leaves = static_cast<size_t>(leaf_count(module.shape(operand)));
        for (size_t l = 0; l < leaves; ++l) {
          const auto inners = index_maps(module, id, k, from, l);
          if (!inners) return inners;
          for (const IndexMap& outer : outers)
            for (const IndexMap& inner : *inners) add(maps[operand][l], compose(outer, inner));
          if (maps[operand][l].size() > max_maps)
            return std::unexpected("it is read in too many ways");
        }
      }
  }
  return maps[target][leaf];
}

IndexMapsResult index_maps(const Module& module, InstructionId id, size_t operand, size_t output,
                           size_t leaf) {
  const Instruction& instruction = module[id];
  const bool passes_operands = instruction.op == Op::Fusion || instruction.op == Op::Call;
  if (passes_operands) {
    return index_maps_through(module, module.called(instruction).front(),
                              static_cast<int64_t>(operand), output, leaf);
  }
  auto map = index_map(module, id, operand, output, leaf);
  if (!map) return std::unexpected(map.error());
  Maps out;
  add(out, *std::move(map));
  return out;
}

namespace {

IndexMapResult only_map(const MapQuery& query) {
  auto maps = index_maps(query.module, query.id, query.operand, query.output, query.leaf);
  if (!maps) return std::unexpected(maps.error());
  if (maps->size() > 1) return std::unexpected("it is read in several ways");
  return maps->empty() ? no_elements(query) : std::move(maps->front());
}

}  // namespace

IndexMapResult map_Call(const MapQuery& query) { return only_map(query); }
IndexMapResult map_Fusion(const MapQuery& query) { return only_map(query); }

}  // namespace hilo
