// What each op becomes of tiles: one function `Result<Shards> partition_Gather(OpPartition&)` for
// every structural op, found through ops.def, and partition_elementwise for the others. An op
// without one does not link. Private to `pass/shard`.
#pragma once

#include "pass/shard/partitioner.h"

namespace hilo {

// The tiles that an op's local form works on, once the axes have their roles.
struct LocalOperands {
  const RoleQuestion& question;
  const Roles& roles;
  std::vector<Shard> operands;          // by leaf, in the shardings of the roles
  std::vector<SharedSharding> results;  // by leaf, as the roles give them; summands unreduced

  std::vector<InstructionId> ids() const {
    std::vector<InstructionId> out;
    for (const Shard& operand : operands) out.push_back(operand.id);
    return out;
  }
};

// How an op works on tiles, where that is not: factors of kind Pass and Reduction can be sharded,
// summands are added, and the same instruction with local shapes works on tiles whose padding is
// zeros along reduced factors.
struct LocalForm {
  // Whether a factor can be sharded at all, and only evenly.
  std::function<bool(size_t factor)> may_shard = {};
  std::function<bool(size_t factor)> even_alone = {};
  // Factors of which tiles may have padding even in a dimension of several.
  std::function<bool(size_t factor)> may_be_uneven = {};
  // Bytes that a device sends beside reshardings.
  std::function<double(const Roles&)> sent_bytes = {};
  std::string reduction = "";  // of Sharding::unreduced_op
  // Of the whole instruction, where it does not go through all steps of a loop over its factors.
  std::optional<double> operations = {};
  // Operand leaves that it works without; `finish` gives the finished leaves of the result what
  // they are for, and `sent_bytes` counts what that sends.
  std::function<bool(size_t leaf)> leaves_out = {};
  // The leaves of the result, in the shardings of `results`.
  std::function<Result<std::vector<InstructionId>>(const LocalOperands&)> emit = {};
  // Takes the leaves in these shardings, those that are wanted where none stand here.
  std::function<Result<Shards>(Shards)> finish = {};
  std::vector<SharedSharding> before_finish = {};
};

class OpPartition {
 public:
  OpPartition(Partitioner& partitioner, InstructionId global)
      : partitioner_(partitioner), global_(global) {}

  Partitioner& partitioner() { return partitioner_; }
  Editor& editor() { return partitioner_.editor(); }
  Module& module() { return partitioner_.module(); }
  LocalCode code() { return partitioner_.code(); }
  InstructionId id() const { return global_; }
  template <class A>
  const A& attributes() {
    return module().attributes<A>(global_);
  }
  const Shape& shape() { return module().shape(global_); }
  const std::vector<GlobalShape>& leaves() { return partitioner_.leaves(global_); }
  InstructionId operand(size_t i) { return module().operand(global_, i); }
  const Shape& operand_shape(size_t i) { return module().shape(operand(i)); }
  size_t operand_count() { return module()[global_].operand_count; }
  const Shards& operand_shards(size_t i) { return partitioner_.shards(operand(i)); }
  const ShardingFactors& factors() { return factors_ ? *factors_ : partitioner_.factors(rule()); }
  // Where the local form ties dimensions otherwise than propagation does.
  void set_factors(ShardingFactors factors) { factors_ = std::move(factors); }

  // By the roles of least cost: operands brought to theirs, the local form, results brought to
  // what is stated.
  Result<Shards> by_factors(const LocalForm& form = {});
  // The same by the form of least cost, the first one among equals. What has to do with an array of
  // dynamic dimensions works on whole arrays.
  Result<Shards> by_cheapest(std::span<const LocalForm> forms);
  // What the instruction states of its leaves; what it says nothing of is whole on every device.
  Result<std::vector<SharedSharding>> wanted();
  // Axes along which its shapes are local already.
  const SubAxes& manual() { return partitioner_.manual(global_); }
  // Operands whole on every device, and the instruction as it is; then results cut as is stated.
  Result<Shards> replicated();
  // The two halves of that: operands as whole values, and leaves that are whole on every device.
  Result<std::vector<InstructionId>> whole_operands();
  Result<Shards> whole_results(std::span<const InstructionId> ids);
  // One leaf for each leaf of the result, whole or not, brought to what the instruction states.
  // What it says nothing of stays as it is, but that summands are added.
  Result<Shards> as_stated(Shards leaves);

  // The leaves of the instruction with other operands and local shapes, otherwise as it is.
  std::vector<InstructionId> clone(std::span<const InstructionId> operands,
                                   std::span<const SharedSharding> results);
  // The same, as one value whose attributes can be changed.
  InstructionId clone_value(std::span<const InstructionId> operands,
                            std::span<const SharedSharding> results);
  // The tile with `value`, a scalar, in the dimensions' padding.
  InstructionId masked(const Shard& tile, std::span<const size_t> dims, InstructionId value);
  // s32: how many elements of the whole array stand before the tile in a dimension.
  InstructionId offset(const AxisSharding& sharding, const Shape& global, size_t dim);
  // Dimensions of an operand leaf that hold a factor of that kind.
  std::vector<size_t> dims_of(size_t leaf, ShardingFactor::Kind kind);

  // To which shardings the instruction, if it has no local form of its own and were alone, would
  // bring its operands; none where that cannot be told yet.
  std::vector<SharedSharding> wishes();

 private:
  bool has_dynamic_dims();  // any of the leaves that it takes and gives
  bool find_at_hand(RoleQuestion& question);
  // Found when it is asked for: that of a call would look through what it calls.
  uint32_t rule();
  RoleQuestion question(const LocalForm& form, std::span<const Shard> operands,
                        std::span<const SharedSharding> wanted);
  Result<Shards> emit(const LocalForm& form, LocalOperands local,
                      std::span<const SharedSharding> needed,
                      std::span<const SharedSharding> wanted);
  Result<void> bring(Shards& leaves, std::span<const SharedSharding> to);
  Shards operand_leaves();
  Result<std::vector<InstructionId>> emit_plain(const LocalOperands& local);

  Partitioner& partitioner_;
  InstructionId global_;
  std::optional<uint32_t> rule_;
  std::optional<ShardingFactors> factors_;
};

Result<Shards> partition_elementwise(OpPartition& op);
#define HILO_DECLARE_Elementwise(name)
#define HILO_DECLARE_Structural(name) Result<Shards> partition_##name(OpPartition& op);
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_DECLARE_##op_class(name)
#include "ir/ops.def"
#undef OP
#undef HILO_DECLARE_Elementwise
#undef HILO_DECLARE_Structural

using PartitionFunction = Result<Shards> (*)(OpPartition&);
PartitionFunction partition_function(Op op);

}  // namespace hilo
