// What devices do together, with the host, or each for itself.
#include "pass/shard/op_partition.h"

namespace hilo {
namespace {

std::unexpected<Error> unsupported(OpPartition& op, std::string_view why) {
  return fail(ErrorKind::Unsupported, "{} in a program that is to be partitioned: {}",
              text_of(op.module()[op.id()].op), why);
}

// In a manual region, with the groups that the program states; along other axes each device has
// its tile.
Result<Shards> stated_collective(OpPartition& op) {
  if (op.partitioner().manual().empty() && op.operand_shards(0)[0].sharding.manual.empty())
    return unsupported(op, "expected it in a manual region");
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
  HILO_TRY(const auto wanted, op.wanted());
  if (wanted[0].manual.empty())
    return unsupported(op, "outside of manual regions no partition is meant");
  return op.replicated();
}
Result<Shards> partition_ReplicaId(OpPartition& op) { return op.replicated(); }

}  // namespace hilo
