#include "tools/device_inputs.h"

#include <algorithm>

#include "tools/inputs.h"

namespace hilo::tools {
namespace {

// Whether a tile of the parameter has another shape than it.
bool is_cut(const Module& module, const ParameterLeaf& leaf) {
  if (!leaf.sharding || !leaf.shape.is_array()) return false;
  const auto sharding = axis_sharding(*leaf.sharding, leaf.shape.dims.size(),
                                      flat_mesh(module.header.num_partitions));
  return sharding && local_dims(leaf.shape.dims, *sharding) != leaf.shape.dims;
}

// Whether inputs of each device have the shapes of the parameters, and tiles would not: then these
// are of one device, unless a value in between is sharded, or a mesh is named.
bool are_of_one_device(const Module& module, const std::vector<Shape>& inputs) {
  const std::vector<ParameterLeaf> leaves = parameter_leaves(module);
  for (size_t i = 0; i < leaves.size() && i < inputs.size(); ++i)
    if (inputs[i].dims != leaves[i].shape.dims) return false;
  if (std::ranges::none_of(leaves, [&](const auto& leaf) { return is_cut(module, leaf); }))
    return false;
  if (module.header.frontend_attributes.contains("xla.sdy.meshes")) return false;
  for (uint32_t id = 0; id < module.instructions.size(); ++id) {
    const Instruction& instruction = module.instructions[id];
    const bool is_boundary =
        instruction.op == Op::Parameter || module[module.entry].root == InstructionId{id};
    if (!instruction.removed && !is_boundary && module.extra(instruction).sharding) return false;
  }
  return true;
}

}  // namespace

Result<void> settle_partitioning(const RunOptions& options, const Module& module,
                                 EvalOptions& eval) {
  if (eval.partitioning != Partitioning::Detect) return {};
  HILO_TRY(std::optional<bool> per_device, has_device_inputs(options.inputs.file));
  const int64_t named = module.header.num_partitions * module.header.replica_count;
  if (per_device && *per_device) eval.partitioning = Partitioning::Partitioned;
  else if (per_device && named > 1 && !module.header.is_scheduled && !options.inputs.file.empty())
    eval.partitioning = Partitioning::Unpartitioned;
  return {};
}

Result<void> partition_for_inputs(const RunOptions& options, Module& module) {
  if (options.partitioned || options.unpartitioned || module.header.num_partitions <= 1) return {};
  if (find_partitioning(module, {}) == Partitioning::Partitioned) return {};
  HILO_TRY(const std::optional<bool> per_device, has_device_inputs(options.inputs.file));
  if (!per_device || !*per_device) return {};
  HILO_TRY(const std::vector<Shape> shapes, shapes_of_inputs(options.inputs));
  if (!are_of_one_device(module, shapes)) HILO_DO(partition(module));
  return {};
}

}  // namespace hilo::tools
