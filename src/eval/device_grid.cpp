#include "eval/device_grid.h"

#include <algorithm>

namespace hilo {
namespace {

// Custom calls that only stand before partitioning.
bool marks_sharding(const Module& module, const Instruction& instruction) {
  if (instruction.op != Op::CustomCall) return false;
  const std::string& target =
      module.attributes<CustomCallAttributes>(instruction).custom_call_target;
  return target == "Sharding" || target.starts_with("SPMD") || target.starts_with("xla.sdy.");
}

bool begins_manual_region(const Module& module, const Instruction& instruction) {
  if (instruction.removed || instruction.op != Op::CustomCall) return false;
  const std::string& target =
      module.attributes<CustomCallAttributes>(instruction).custom_call_target;
  return target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape" ||
         target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape";
}

int64_t program_of(int64_t device, DeviceGrid given, DeviceGrid running) {
  return device * given.partitions / running.partitions;
}

bool crosses_devices(Op op) {
  return op == Op::PartitionId || (op >= Op::AllGather && op <= Op::ReduceScatter);
}

}  // namespace

bool is_partitioned(const Module& module) {
  if (module.header.is_scheduled) return true;
  if (module.header.frontend_attributes.contains("xla.sdy.meshes")) return false;
  for (const Computation& computation : module.computations)
    if (computation.name.find("_spmd") != std::string_view::npos) return true;
  bool collectives = false, shardings = false;
  for (const Instruction& instruction : module.instructions) {
    if (instruction.removed) continue;
    if (marks_sharding(module, instruction)) return false;
    collectives = collectives || crosses_devices(instruction.op);
    const Extra& extra = module.extra(instruction);
    if (extra.frontend_attributes.contains("is_spmd_generated")) return true;
    shardings = shardings || extra.sharding;
  }
  return collectives || !shardings;
}

DeviceGrid device_grid(const Module& module, const EvalOptions& options, int64_t inputs_given) {
  DeviceGrid grid{std::max<int64_t>(1, module.header.replica_count),
                  std::max<int64_t>(1, module.header.num_partitions)};
  bool partitioned = options.partitioning == Partitioning::Partitioned;
  if (options.partitioning == Partitioning::Detect) {
    const bool told = grid.partitions > 1 && !options.devices &&
                      (inputs_given == grid.count() || inputs_given == grid.replicas);
    partitioned = told ? inputs_given == grid.count() : is_partitioned(module);
  }
  if (!partitioned) grid.partitions = 1;
  if (options.devices && *options.devices > 0) {
    if (*options.devices % grid.partitions != 0) return {1, *options.devices};
    grid.replicas = *options.devices / grid.partitions;
    // Without partitions in the module, more devices are more partitions or more replicas: what
    // its collectives number is known from neither, and flattened ids are the same.
  }
  return grid;
}

DeviceGrid running_grid(const Module& module, DeviceGrid grid) {
  const bool regions = std::ranges::any_of(module.instructions, [&](const Instruction& one) {
    return begins_manual_region(module, one);
  });
  if (grid.partitions == 1 && regions)
    grid.partitions = std::max<int64_t>(1, module.header.num_partitions);
  return grid;
}

Result<std::vector<int64_t>> local_programs(const Module& module, const EvalOptions& options,
                                            DeviceGrid given, std::optional<int> rank) {
  const DeviceGrid grid = running_grid(module, given);
  if (const auto& communicator = options.processes.communicator;
      communicator && options.processes.ranks.empty() && grid.count() % communicator->size() != 0)
    return fail(
        ErrorKind::Usage, "{} processes cannot share the {} of {}: {}", communicator->size(),
        grid.count() == 1 ? "device" : fmt::format("{} devices", grid.count()), module.header.name,
        grid.count() == 1 ? "it is one program for one device; `hilo opt "
                            "--pipeline=spmd` partitions one that has shardings"
                          : "each runs as many as any other");
  const DeviceRanks ranks(options.processes, grid.count());
  std::vector<int64_t> out;
  for (int64_t id = 0; id < grid.count(); ++id)
    if (const int64_t program = program_of(id, given, grid);
        ranks.of(id) == rank.value_or(ranks.rank()) && (out.empty() || out.back() != program))
      out.push_back(program);
  return out;
}

Result<std::vector<int64_t>> local_devices(const Module& module, const EvalOptions& options,
                                           std::optional<int> rank) {
  return local_programs(module, options, device_grid(module, options), rank);
}

int64_t device_count(const Module& module, const EvalOptions& options) {
  return device_grid(module, options).count();
}

std::vector<Device> make_devices(Evaluation& evaluation, Rendezvous& rendezvous,
                                 const EvalOptions& options, DeviceGrid given) {
  const DeviceGrid grid = rendezvous.grid();
  std::vector<Device> devices;
  int64_t last = -1, programs = 0;
  for (int64_t id = 0; id < grid.count(); ++id) {
    if (!rendezvous.is_here(id)) continue;
    Device& device =
        devices.emplace_back(Device{&evaluation, id, id / grid.partitions, id % grid.partitions});
    const int64_t program = program_of(id, given, grid);
    device.is_first = program != last;
    last = program;
    programs += device.is_first;
    device.program = programs - 1;
    device.traffic.rendezvous = &rendezvous;
  }
  if (options.outfeed && std::ssize(*options.outfeed) < programs) options.outfeed->resize(programs);
  return devices;
}

}  // namespace hilo
