#include "pass/collective/device_groups.h"

#include <algorithm>
#include <numeric>

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
    if (!instruction.removed && is_communication(instruction.op))
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

ReplicaGroups written(const DeviceGroups& groups) {
  ReplicaGroups out;
  out.groups = groups;
  const int64_t size = group_size(groups);
  Dims all;
  for (const Dims& group : groups) all.insert(all.end(), group.begin(), group.end());
  const auto digits = size > 0 ? find_digits(all) : std::nullopt;
  if (!digits || digits->empty()) return out;
  std::vector<size_t> by_stride(digits->size());
  std::iota(by_stride.begin(), by_stride.end(), 0);
  std::ranges::sort(by_stride, {}, [&](size_t i) { return (*digits)[i].pre_size; });
  IotaDevices iota{{std::ssize(groups), size}, {}, Dims(digits->size())};
  for (size_t k = 0; k < by_stride.size(); ++k) {
    iota.dims.push_back((*digits)[by_stride[k]].size);
    iota.permutation[by_stride[k]] = static_cast<int64_t>(k);
  }
  if (iota.expand() != all) return out;
  return {.form = ReplicaGroups::Form::Iota,
          .groups = {},
          .iota = std::move(iota),
          .mesh = {},
          .axes = {}};
}

std::optional<int64_t> channel_of(const Module& module, InstructionId collective) {
  return visit_attributes_type(module[collective].op,
                               [&]<class A>(std::type_identity<A>) -> std::optional<int64_t> {
                                 if constexpr (requires(const A& a) { a.channel_id; })
                                   return module.attributes<A>(collective).channel_id;
                                 else return std::nullopt;
                               });
}

int64_t next_channel(const Module& module) {
  int64_t out = 1;
  for (uint32_t i = 0; i < module.instructions.size(); ++i)
    if (!module.instructions[i].removed)
      if (const auto channel = channel_of(module, {i})) out = std::max(out, *channel + 1);
  return out;
}

namespace {

bool is_same_reducer(const Module& module, ComputationId a, ComputationId b) {
  if (a == b) return true;
  const auto x = find_combiner(module, a), y = find_combiner(module, b);
  return x && y && module[x->instruction].op == module[y->instruction].op &&
         x->element == y->element && x->wide == y->wide;
}

}  // namespace

bool do_the_same(const Module& module, InstructionId a, InstructionId b, int64_t devices) {
  if (module[a].op != module[b].op) return false;
  return visit_attributes_type(module[a].op, [&]<class A>(std::type_identity<A>) {
    A one = module.attributes<A>(a), other = module.attributes<A>(b);
    if constexpr (requires { one.channel_id; })
      if (one.channel_id && other.channel_id) one.channel_id = other.channel_id;
    if constexpr (requires { one.replica_groups; }) {
      const auto groups = find_groups(module, a, devices);
      if (groups && groups == find_groups(module, b, devices))
        one.replica_groups = other.replica_groups;
    }
    if constexpr (requires { one.to_apply; })
      if (is_same_reducer(module, one.to_apply, other.to_apply)) one.to_apply = other.to_apply;
    return one == other;
  });
}

void remove_collective(Editor& editor, InstructionId collective) {
  const Module& module = editor.module();
  if (module[collective].removed || module.has_users(collective) || editor.is_pinned(collective) ||
      module[module[collective].computation].root == collective)
    return;
  editor.replace_moved(collective, module.operand(collective, 0));
}

bool is_only_user(const Module& module, InstructionId value, InstructionId user) {
  const std::vector<InstructionId> users = module.users(value);
  return users.size() == 1 && users[0] == user && module[module[value].computation].root != value;
}

bool has_one_use(const Editor& editor, InstructionId value) {
  const Module& module = editor.module();
  return editor.use_count(value) == 1 && !editor.is_pinned(value) &&
         module[module[value].computation].root != value;
}

bool may_reorder(Op op, ElementType type, Keeps keeps) {
  if (!is_floating(type) && !is_complex(type)) return true;
  const bool selects = op == Op::Maximum || op == Op::Minimum;
  return keeps == Keeps::Reals || (selects && keeps == Keeps::Values);
}

}  // namespace hilo
