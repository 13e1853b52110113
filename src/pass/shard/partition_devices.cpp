// What devices do together, with the host, or each for itself.
#include <algorithm>

#include "pass/shard/op_partition.h"

namespace hilo {
namespace {

std::unexpected<Error> unsupported(OpPartition& op, std::string_view why) {
  return fail(ErrorKind::Unsupported, "{} in a program that is to be partitioned: {}",
              text_of(op.module()[op.id()].op), why);
}

// Which devices exchange something with each other. No groups: all.
std::vector<Dims> stated_groups(OpPartition& op) {
  return visit_attributes_type(op.module()[op.id()].op, [&]<class A>(std::type_identity<A>) {
    std::vector<Dims> out;
    if constexpr (requires(A a) { a.replica_groups; })
      out = op.attributes<A>().replica_groups.expand();
    if constexpr (requires(A a) { a.source_target_pairs; })
      for (const auto& [source, target] : op.attributes<A>().source_target_pairs.pairs)
        out.push_back({source, target});
    if (out.empty()) out.push_back(op.partitioner().mesh()->devices());
    return out;
  });
}

// Whether those that exchange something differ along manual axes alone, so that they have tiles of
// the same place.
bool stays_in_tiles(OpPartition& op, const SubAxes& manual) {
  const SharedMesh& mesh = op.partitioner().mesh();
  Dims tile(static_cast<size_t>(mesh_size(*mesh)));
  int64_t number = 0;
  for (const Dims& group : device_groups(*mesh, manual)) {
    for (int64_t device : group) tile[static_cast<size_t>(device)] = number;
    ++number;
  }
  return std::ranges::all_of(stated_groups(op), [&](const Dims& group) {
    return std::ranges::all_of(group, [&](int64_t device) {
      return tile.at(static_cast<size_t>(device)) == tile.at(static_cast<size_t>(group[0]));
    });
  });
}

// In a manual region, with the groups that the program states; along other axes each device has
// its tile, or all of the array where the groups do not keep to manual axes.
Result<Shards> stated_collective(OpPartition& op) {
  const SubAxes manual = op.manual();
  if (manual.empty()) return unsupported(op, "expected it in a manual region");
  if (!stays_in_tiles(op, manual)) return op.replicated();
  LocalForm form;
  form.may_shard = [&op](size_t factor) {
    return op.factors().factors[factor].kind == ShardingFactor::Kind::Pass;
  };
  return op.by_factors(form);
}

}  // namespace

Result<Shards> partition_AllGather(OpPartition& op) { return stated_collective(op); }
Result<Shards> partition_AllReduce(OpPartition& op) { return stated_collective(op); }
Result<Shards> partition_AllToAll(OpPartition& op) { return stated_collective(op); }
Result<Shards> partition_CollectiveBroadcast(OpPartition& op) { return stated_collective(op); }
Result<Shards> partition_CollectivePermute(OpPartition& op) { return stated_collective(op); }
Result<Shards> partition_RaggedAllToAll(OpPartition& op) { return stated_collective(op); }
Result<Shards> partition_ReduceScatter(OpPartition& op) { return stated_collective(op); }

#define HILO_SPLIT_COLLECTIVE(name)                                         \
  Result<Shards> partition_##name(OpPartition& op) {                        \
    return unsupported(op, "expected collectives in one instruction each"); \
  }
HILO_SPLIT_COLLECTIVE(AllGatherStart)
HILO_SPLIT_COLLECTIVE(AllGatherDone)
HILO_SPLIT_COLLECTIVE(AllReduceStart)
HILO_SPLIT_COLLECTIVE(AllReduceDone)
HILO_SPLIT_COLLECTIVE(CollectivePermuteStart)
HILO_SPLIT_COLLECTIVE(CollectivePermuteDone)
HILO_SPLIT_COLLECTIVE(AsyncStart)
HILO_SPLIT_COLLECTIVE(AsyncUpdate)
HILO_SPLIT_COLLECTIVE(AsyncDone)
HILO_SPLIT_COLLECTIVE(CopyStart)
HILO_SPLIT_COLLECTIVE(CopyDone)
#undef HILO_SPLIT_COLLECTIVE

#define HILO_TRANSFER(name)                                   \
  Result<Shards> partition_##name(OpPartition& op) {          \
    return unsupported(op, "transfers belong to one device"); \
  }
HILO_TRANSFER(Infeed)
HILO_TRANSFER(Outfeed)
HILO_TRANSFER(Recv)
HILO_TRANSFER(RecvDone)
HILO_TRANSFER(Send)
HILO_TRANSFER(SendDone)
#undef HILO_TRANSFER

Result<Shards> partition_PartitionId(OpPartition& op) {
  if (op.manual().empty())
    return unsupported(op, "outside of manual regions no partition is meant");
  return op.replicated();
}
Result<Shards> partition_ReplicaId(OpPartition& op) { return op.replicated(); }

// What the partitioner groups are devices of one replica; global ids are those of all.
Result<void> Partitioner::check_groups(InstructionId global, uint32_t first) {
  const int64_t replicas = module().header.replica_count;
  if (replicas <= 1 || has_trait(module()[global].op, TraitCollective)) return {};
  for (uint32_t i = first; i < module().instructions.size(); ++i) {
    const Instruction& one = module().instructions[i];
    if (one.removed || one.computation != local_) continue;
    const bool is_global = visit_attributes_type(one.op, [&]<class A>(std::type_identity<A>) {
      if constexpr (requires(const A& a) { bool(a.use_global_device_ids); })
        return bool(module().attributes<A>(one).use_global_device_ids);
      else return false;
    });
    if (is_global)
      return fail(ErrorKind::Unsupported, "{} among partitions of a program with {} replicas",
                  text_of(one.op), replicas);
  }
  return {};
}

}  // namespace hilo
