// What a module says of shardings, in either notation, as axes of one mesh; and the module in the
// form that propagation works on. Private to `pass/shard`.
//
// In that form a constraint is a copy; a manual region begins with SPMDFullToShardShape and ends
// with SPMDShardToFullShape, each of one array, between copies; and each use of a constant has a
// constant of its own, so that uses need not agree.
#pragma once

#include <unordered_map>

#include "pass/shard/propagation_step.h"
#include "pass/shard/quoted_sharding.h"
#include "rewrite/rewrite.h"
#include "text/text.h"

namespace hilo {

struct GivenShardings {
  using OfLeaves = std::vector<std::optional<AxisSharding>>;
  struct Group {
    int64_t number = 0;
    InstructionId value;
    bool is_hint = false;  // shard_like: should, not must, be alike
  };

  bool is_shardy = false;  // shardings stand in xla.sdy attributes
  SharedMesh mesh;
  ShardyMeshes meshes;                      // of the header
  std::vector<ComputationId> computations;  // that hold sharded values, callers first
  std::unordered_map<InstructionId, OfLeaves> of;
  // Values of which nothing is said but by the constraints that use them; one of these.
  std::unordered_map<InstructionId, InstructionId> wished;
  // Of what was put in the place of an annotation, that annotation.
  std::unordered_map<InstructionId, InstructionId> annotations;
  // Of what begins and ends manual regions: the axes that are manual inside, where they are said.
  std::unordered_map<InstructionId, SubAxes> region_axes;
  std::unordered_map<InstructionId, Direction> barriers;    // copies that were barriers
  std::unordered_map<InstructionId, InstructionId> clones;  // of constants, their originals
  std::vector<InstructionId> constraints;                   // copies that users asked for
  std::vector<InstructionId> results;                       // copies that the program gives
  std::vector<InstructionId> inserted;                      // copies, which may be removed
  std::vector<Group> groups;

  const AxisSharding* find(InstructionId id, size_t leaf = 0) const {
    const auto found = of.find(id);
    if (found == of.end() || leaf >= found->second.size() || !found->second[leaf]) return nullptr;
    return &*found->second[leaf];
  }
};

// The module must verify. Errors stand at the instruction whose sharding does not fit.
Result<GivenShardings> import_shardings(Editor& editor);

// Parts of it, one a file.
Result<void> import_shardy(Editor& editor, GivenShardings& given);
Result<void> import_tiles(Editor& editor, GivenShardings& given);
// One mesh over which as many as possible of the shardings of a module can be said: the devices as
// digits, cut where all tilings are cut.
SharedMesh mesh_of_tiles(const Module& module, int64_t devices);
// A copy of the value in its place, for all of its users.
InstructionId copy_for_users(Editor& editor, GivenShardings& given, InstructionId value);
InstructionId add_copy(Editor& editor, GivenShardings& given, InstructionId like,
                       InstructionId operand);
// Structure where one that names a single device names none of so many.
Result<void> check_single_devices(std::span<const AxisSharding> shardings, int64_t devices);
// Of the leaves of an instruction that states a sharding; errors show it.
Result<std::vector<AxisSharding>> stated_shardings(const Module& module, InstructionId id,
                                                   const SharedMesh& mesh);
// Those of the header, none where it names none; errors stand at the attribute.
Result<ShardyMeshes> named_meshes(const Module& module);
std::unexpected<Error> fault_at_meshes(const Module& module, Error error);
std::unexpected<Error> fault_at(const Module& module, InstructionId id, Error error);
bool is_call_of(const Module& module, InstructionId id, std::string_view target);
std::vector<Shape> leaf_shapes(const Shape& shape);  // in order

}  // namespace hilo
