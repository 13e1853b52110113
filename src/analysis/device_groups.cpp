// Which devices a collective joins.
#include <algorithm>
#include <numeric>

#include "analysis/analysis.h"

namespace hilo {
namespace {

// What the ids of replica_groups count ("Collective operations" in XLA's semantics).
struct Ids {
  bool flattened = false;       // devices
  bool partitions = false;      // partitions, each group once for each replica
  bool all_of_replica = false;  // replicas, with all their partitions
};

template <class A>
Ids ids_of(const A& attributes) {
  if constexpr (requires { attributes.use_global_device_ids; }) {
    if (attributes.use_global_device_ids) return {.flattened = true};
    return {.all_of_replica = attributes.channel_id.has_value()};
  } else {
    return {.partitions = attributes.channel_id.has_value()};
  }
}

int64_t partitions_of(const Module& module, int64_t devices) {
  const int64_t replicas = std::max<int64_t>(1, module.header.replica_count);
  return std::max<int64_t>(1, devices / replicas);
}

DeviceGroups over_devices(const std::vector<Dims>& listed, Ids ids, int64_t replicas,
                          int64_t partitions) {
  if (ids.flattened) return listed;
  DeviceGroups out;
  const int64_t copies = ids.partitions ? replicas : ids.all_of_replica ? 1 : partitions;
  for (int64_t copy = 0; copy < copies; ++copy)
    for (const Dims& group : listed) {
      Dims& members = out.emplace_back();
      for (int64_t id : group)
        if (ids.partitions) members.push_back(copy * partitions + id);
        else if (!ids.all_of_replica) members.push_back(id * partitions + copy);
        else
          for (int64_t p = 0; p < partitions; ++p) members.push_back(id * partitions + p);
    }
  return out;
}

bool is_partition_of(const DeviceGroups& groups, int64_t devices) {
  std::vector<bool> seen(static_cast<size_t>(devices));
  int64_t count = 0;
  for (const Dims& group : groups)
    for (int64_t device : group) {
      if (device < 0 || device >= devices || seen[static_cast<size_t>(device)]) return false;
      seen[static_cast<size_t>(device)] = true;
      ++count;
    }
  return count == devices;
}

// As many as the groups or pairs of a collective name.
template <class A>
int64_t named_devices(const A& attributes) {
  int64_t out = 1;
  if constexpr (requires { attributes.replica_groups; })
    for (const Dims& group : attributes.replica_groups.expand())
      for (int64_t id : group) out = std::max(out, id + 1);
  if constexpr (requires { attributes.source_target_pairs; })
    for (const auto& [source, target] : attributes.source_target_pairs.pairs)
      out = std::max({out, source + 1, target + 1});
  return out;
}

}  // namespace

int64_t count_devices(const Module& module) {
  const int64_t stated = module.header.replica_count * module.header.num_partitions;
  if (stated > 1) return stated;
  int64_t out = 1;
  for (const Instruction& instruction : module.instructions)
    if (!instruction.removed && has_trait(instruction.op, TraitEffect | TraitCollective))
      visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
        out = std::max(out, named_devices(module.attributes<A>(instruction)));
      });
  return out;
}

std::optional<DeviceGroups> find_groups(const Module& module, InstructionId collective,
                                        int64_t devices) {
  return visit_attributes_type(
      module[collective].op, [&]<class A>(std::type_identity<A>) -> std::optional<DeviceGroups> {
        if constexpr (requires(const A& a) { a.replica_groups; }) {
          const A& attributes = module.attributes<A>(collective);
          const Ids ids = ids_of(attributes);
          const int64_t partitions = partitions_of(module, devices);
          const int64_t replicas = devices / partitions;
          std::vector<Dims> listed = attributes.replica_groups.expand();
          if (listed.empty()) {
            listed.emplace_back(static_cast<size_t>(ids.flattened    ? devices
                                                    : ids.partitions ? partitions
                                                                     : replicas));
            std::iota(listed[0].begin(), listed[0].end(), 0);
          }
          DeviceGroups out = over_devices(listed, ids, replicas, partitions);
          if (is_partition_of(out, devices)) return out;
        }
        return std::nullopt;
      });
}

int64_t group_size(const DeviceGroups& groups) {
  const size_t size = groups.empty() ? 0 : groups[0].size();
  for (const Dims& group : groups)
    if (group.size() != size) return 0;
  return static_cast<int64_t>(size);
}

std::optional<int64_t> channel_of(const Module& module, InstructionId collective) {
  return visit_attributes_type(module[collective].op,
                               [&]<class A>(std::type_identity<A>) -> std::optional<int64_t> {
                                 if constexpr (requires(const A& a) { a.channel_id; })
                                   return module.attributes<A>(collective).channel_id;
                                 else return std::nullopt;
                               });
}

}  // namespace hilo
