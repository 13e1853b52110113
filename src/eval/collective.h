// What collectives share: who takes part, and pieces of arrays along a dimension. Private to
// `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// What the ids in replica_groups and source_target_pairs mean ("Collective operations" in XLA's
// semantics): replicas, each group once for each partition; partitions, each group once for each
// replica; replicas, with all their partitions; or replica * num_partitions + partition.
enum class GroupMode : uint8_t {
  CrossReplica,
  CrossPartition,
  CrossReplicaAndPartition,
  Flattened
};
// Of all-reduce, all-gather and reduce-scatter.
GroupMode group_mode(std::optional<int64_t> channel_id, bool use_global_device_ids);
// Of the collectives without use_global_device_ids.
GroupMode group_mode(std::optional<int64_t> channel_id);

// The calling device's group. No groups: all devices that the mode reaches. A device that stands
// in no group has position == members.size().
Result<DeviceGroup> find_group(const Call& call, const ReplicaGroups& groups, GroupMode mode);
// The same, where a device in no group is an error.
Result<DeviceGroup> need_group(const Call& call, const ReplicaGroups& groups, GroupMode mode);

// The calling device's id as the mode counts, and the device that has another such id beside it.
int64_t id_in_mode(const Device& device, GroupMode mode);
int64_t device_in_mode(const Call& call, int64_t id, GroupMode mode);

// Elements [offset, offset + to.dims[dim]) of `from` along a dimension; both have the same type.
void copy_slice_out(const Call& call, const Literal& from, int64_t dim, int64_t offset,
                    Literal& to);
// Writes all of `from` at [offset, offset + from.dims[dim]) of `to`.
void copy_slice_in(const Call& call, const Literal& from, int64_t dim, int64_t offset, Literal& to);

// Stated shapes of the results of a collective over operands: itself, or the tuple's elements.
std::span<const Shape> result_shapes(const Shape& stated);
// Under its stated shape: one literal or the tuple of all.
Result<Literal> pack_results(const Call& call, const Shape& stated, std::vector<Literal> results);
// (operands, results, contexts...) of a start op.
Literal pack_start(const Call& call, Literal results);
// What others read later: where values are placed (EvalOptions::place), and so written over, copies
// outside of it.
std::vector<Literal> kept(const Call& call, std::vector<Literal> values);
// Keeps the operands in Traffic::started when an AsyncCollectiveStart takes the result.
void remember_operands(const Call& call);
// The operands to bring to a meeting; remembers them first.
std::vector<Literal> move_operands(const Call& call);

}  // namespace hilo
