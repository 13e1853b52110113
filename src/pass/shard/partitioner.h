// The partitioner: one program for all devices, in which every value is the tile that a device
// holds. Each computation is written anew from one whose arrays say their shardings; what each op
// makes of tiles stands in op_partition.h. Private to `pass/shard`.
#pragma once

#include <map>
#include <set>
#include <unordered_map>

#include "pass/pass.h"
#include "pass/shard/local_code.h"
#include "pass/shard/manual_axes.h"
#include "pass/shard/propagation_rules.h"
#include "pass/shard/reshard_costs.h"
#include "pass/shard/roles.h"
#include "pass/shard/sharding_table.h"
#include "pass/shard/shared_value.h"

namespace hilo {

// One array of a value: the local instruction, and what of the global array it is.
struct Shard {
  InstructionId id;
  SharedSharding sharding;
  GlobalShape shape;  // global
};
using Shards = std::vector<Shard>;  // a leaf each, in order; of a token one without dimensions

class Partitioner {
 public:
  Partitioner(Module& module, const PassOptions& options, SharedMesh mesh);
  Result<void> run();

  // What follows is for the functions of op_partition.h.
  Editor& editor() { return editor_; }
  Module& module() { return editor_.module(); }
  const Module& module() const { return editor_.module(); }
  ReshardCosts& costs() { return costs_; }
  // Instructions that are alike have one rule, and the same roles where their arrays lie alike.
  Result<uint32_t> rule(InstructionId global) { return rules_.of_instruction(global); }
  const ShardingFactors& factors(uint32_t rule) const { return rules_[rule].factors; }
  struct Choice {
    Roles roles;
    std::vector<SharedSharding> operands, results;  // under the roles
  };
  const Choice& roles(uint32_t rule, const RoleQuestion& question);
  const SharedMesh& mesh() const { return mesh_; }
  int64_t devices() const { return mesh_size(*mesh_); }
  int64_t next_channel() { return channel_++; }
  ComputationId local() const { return local_; }
  LocalCode code() { return LocalCode(editor_, anchors_.at(local_.value)); }
  // Along which the shapes of an instruction are local already.
  const SubAxes& manual(InstructionId global) const { return manual_axes_.of(global); }
  // A global instruction that stands in the place of one.
  void add_manual(InstructionId added, InstructionId like) { manual_axes_.add(added, like); }
  AxisSharding replicated(size_t rank) const;  // in the region that is visited

  // The shardings to which a value is brought already, or will be by users that would choose so if
  // they were alone; but for one user.
  std::vector<AxisSharding> at_hand(InstructionId value, InstructionId but);
  bool has_shards(InstructionId global) const {
    return global.value < tiles_.size() && tiles_[global.value].has_value();
  }
  // Of a global instruction that has been visited.
  const Shards& shards(InstructionId global) const { return tiles_.at(global.value).value(); }
  // Whether anybody reads the leaf of a global instruction.
  bool is_read(InstructionId global, size_t leaf) const;
  // What a global instruction says of its leaves; none where it says nothing.
  Result<std::span<const SharedSharding>> stated(InstructionId global) const;
  // The leaves of a global instruction.
  const std::vector<GlobalShape>& leaves(InstructionId global);
  // The tile under another sharding. Reshardings of a value are kept and used again; one number
  // everywhere is written anew, and what was cut from a larger tile is brought from that where it
  // sends less.
  Result<InstructionId> resharded(const Shard& tile, const AxisSharding& to);
  double bytes_to_bring(const Shard& tile, const AxisSharding& to);  // that a device sends for it
  // An operand whose tile it is, by what resharding it costs.
  RoleArray role_array(const Shard& tile, const DimensionFactors& factors) const;

  // A called computation, written anew: its own, and which tiles it takes and gives.
  struct Callee {
    ComputationId local;
    std::vector<Shards> parameters;  // of which shardings and shapes count
    Shards result;
  };
  const Callee& callee(ComputationId global) const { return callees_.at(global.value); }

  // The instruction with other operands in the local computation. The first one has its name.
  InstructionId clone(InstructionId global, std::span<const InstructionId> operands);
  // The next parameter of the local computation.
  Result<Shards> parameter(InstructionId global);
  // Leaves as a value of the global shape: the one array, or tuples of them.
  InstructionId joined(const Shape& global, std::span<const InstructionId> leaves);
  std::vector<InstructionId> split(InstructionId local);  // into leaves

 private:
  std::vector<SharedSharding> brought_already(const Shard& shard);
  std::vector<SharedSharding> brought_by_callee(InstructionId user, size_t i);
  const std::vector<SharedSharding>& wishes_of(InstructionId user);  // see OpPartition::wishes()
  bool is_splat(const Shard& tile) const;
  const Shard* origin_of(const Shard& tile) const;  // null where it was cut from nothing
  std::vector<uint64_t> key_of(const RoleQuestion& question);
  void find_computations();
  void find_elements_read();
  Result<void> find_boundaries();
  Result<void> find_manual_axes();
  Result<void> agree(InstructionId caller);
  using StatedLeaves = std::vector<std::optional<SharedSharding>>;
  Result<StatedLeaves> stated_leaves(InstructionId global) const;
  Result<void> fill(InstructionId from, StatedLeaves& into) const;
  Result<void> partition(ComputationId global);
  Result<Shards> visit(InstructionId global);
  Result<void> check_groups(InstructionId global, uint32_t first);
  InstructionId joined(const Shape& global, std::span<const InstructionId> leaves, size_t& next);
  void split(InstructionId local, std::vector<InstructionId>& out);
  void note_reason(uint32_t first, const Shard& shard, const AxisSharding& to);
  Result<void> keep_aliases();
  void finish_entry();
  void remove_unused();

  SharedMesh mesh_;
  std::vector<ComputationId> order_;                     // callees before callers
  std::unordered_map<uint32_t, ComputationId> locals_;   // by computation
  std::unordered_map<uint32_t, InstructionId> anchors_;  // by local computation: where code begins
  // What a computation takes and gives, where its callers need it so; by computation.
  struct Boundary {
    StatedLeaves parameter, result;
  };
  std::unordered_map<uint32_t, Boundary> boundaries_;
  Editor editor_;  // behind what is added without it
  ReshardCosts costs_;
  PropagationRules rules_;
  mutable ShardingTable table_;
  std::unordered_map<std::vector<uint64_t>, Choice, StepKeyHash> roles_;
  struct Wishes {
    size_t visited_operands;
    std::vector<SharedSharding> of_operands;
  };
  std::unordered_map<uint32_t, Wishes> wishes_;  // by user
  // By what is stated and, of an array, the rank; else the shape's number, counted from the end.
  mutable std::map<std::pair<const Sharding*, uint32_t>, std::vector<SharedSharding>> stated_;
  std::unordered_map<uint32_t, std::vector<GlobalShape>> leaves_;  // by shape
  int64_t channel_ = 1;
  ComputationId local_;
  ManualAxes manual_axes_;
  InstructionId visited_;
  std::unordered_map<uint32_t, std::set<int64_t>> read_;  // by tuple that is taken apart alone
  std::vector<bool> is_cloned_;                           // by instruction
  std::vector<std::optional<Shards>> tiles_;              // by instruction
  std::unordered_map<uint32_t, Callee> callees_;          // by computation
  // By tile. At the border of a manual region one tile is of two arrays, so what is known of it is
  // known of it under one sharding.
  struct Known {
    SharedSharding sharding;
    Shard other;
  };
  std::unordered_map<uint32_t, std::vector<Known>> resharded_;  // what it was brought to
  std::unordered_map<uint32_t, Known> origins_;                 // what it was cut from
};

}  // namespace hilo
