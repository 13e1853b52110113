#include <algorithm>

#include "pass/pass.h"
#include "pass/shard/given_shardings.h"

namespace hilo {
namespace {

constexpr std::string_view meshes_attribute = "xla.sdy.meshes";

}  // namespace

std::unexpected<Error> fault_at(const Module& module, InstructionId id, Error error) {
  error.place = module.place(id);
  return std::unexpected(std::move(error));
}

std::unexpected<Error> fault_at_meshes(const Module& module, Error error) {
  error.place = {};
  error.place.file = module.file;
  const size_t at = module.source.find(meshes_attribute);
  if (at == std::string_view::npos) return std::unexpected(std::move(error));
  const std::string_view before = module.source.substr(0, at);
  error.place.line = 1 + std::ranges::count(before, '\n');
  error.place.column = static_cast<int64_t>(at - (before.rfind('\n') + 1)) + 1;
  return std::unexpected(std::move(error));
}

Result<ShardyMeshes> named_meshes(const Module& module) {
  const auto named = module.header.frontend_attributes.find(std::string(meshes_attribute));
  if (named == module.header.frontend_attributes.end()) return ShardyMeshes();
  auto meshes = parse_shardy_meshes(named->second.text);
  if (!meshes) return fault_at_meshes(module, std::move(meshes).error());
  return meshes;
}

Result<std::vector<AxisSharding>> stated_shardings(const Module& module, InstructionId id,
                                                   const SharedMesh& mesh) {
  const Sharding& stated = *module.extra(module[id]).sharding;
  auto out = axis_shardings(stated, module.shape(id), mesh);
  Result<void> sound;
  if (!out) sound = std::unexpected(out.error());
  else sound = check_single_devices(*out, module.header.num_partitions);
  if (sound) return out;
  sound.error().message += ": " + quoted_sharding(print(stated));
  return std::unexpected(std::move(sound).error());
}

Result<void> check_single_devices(std::span<const AxisSharding> shardings, int64_t devices) {
  for (const AxisSharding& sharding : shardings)
    if (is_single_device(*sharding.mesh) && sharding.mesh->device_ids[0] >= devices)
      return fail(ErrorKind::Structure, "expected devices from 0 to {} in a sharding, found {}",
                  devices - 1, sharding.mesh->device_ids[0]);
  return {};
}

bool is_call_of(const Module& module, InstructionId id, std::string_view target) {
  return module[id].op == Op::CustomCall &&
         module.attributes<CustomCallAttributes>(id).custom_call_target == target;
}

std::vector<Shape> leaf_shapes(const Shape& shape) {
  std::vector<Shape> out;
  for_each_leaf(shape, [&](const Shape& leaf, auto) { out.push_back(leaf); });
  return out;
}

InstructionId add_copy(Editor& editor, GivenShardings& given, InstructionId like,
                       InstructionId operand) {
  const Shape shape = editor.module().shape(operand);
  const InstructionId copy = editor.add(like, Op::Copy, shape, std::array{operand});
  given.inserted.push_back(copy);
  return copy;
}

InstructionId copy_for_users(Editor& editor, GivenShardings& given, InstructionId value) {
  Module& module = editor.module();
  const std::vector<InstructionId> users = module.users(value);
  const InstructionId copy = add_copy(editor, given, value, value);
  for (InstructionId user : users)
    for (size_t i = 0; i < module.operands(user).size(); ++i)
      if (module.operand(user, i) == value) editor.set_operand(user, i, copy);
  if (module[module[value].computation].root == value)
    editor.set_root(module[value].computation, copy);
  return copy;
}

namespace {

bool runs_steps(Op op) {
  return op == Op::While || op == Op::Conditional || op == Op::Call || op == Op::AsyncStart;
}

std::vector<ComputationId> sharded_computations(const Module& module) {
  std::vector<ComputationId> out = {module.entry};
  for (size_t i = 0; i < out.size(); ++i)
    for (InstructionId id : module[out[i]].instructions)
      if (!module[id].removed && runs_steps(module[id].op))
        for (ComputationId callee : module.called(module[id])) out.push_back(callee);
  return out;
}

// What a branch gives is a value of its own, which gets the conditional's sharding.
void copy_branch_results(Editor& editor, GivenShardings& given) {
  Module& module = editor.module();
  for (ComputationId computation : given.computations)
    for (InstructionId id : std::vector(module[computation].instructions)) {
      if (module[id].removed || module[id].op != Op::Conditional) continue;
      for (ComputationId branch : module.called(module[id])) {
        const InstructionId root = module[branch].root;
        if (module[root].op != Op::Tuple)
          editor.set_root(branch, add_copy(editor, given, root, root));
      }
    }
}

// Constraints within what is applied to single elements say nothing.
void drop_applied(Editor& editor, const GivenShardings& given) {
  Module& module = editor.module();
  std::vector<bool> is_sharded(module.computations.size());
  for (ComputationId id : given.computations) is_sharded[id.value] = true;
  for (uint32_t c = 0; c < module.computations.size(); ++c) {
    if (is_sharded[c]) continue;
    for (InstructionId id : std::vector(module.computations[c].instructions)) {
      if (module[id].removed) continue;
      if (module.extra(module[id]).sharding) module.mutable_extra(id).sharding = nullptr;
      if (is_call_of(module, id, "Sharding")) editor.replace_moved(id, module.operand(id, 0));
    }
  }
}

bool is_constant_array(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  if (!module.shape(id).is_array() || module.shape(id).dims.empty()) return false;
  return op == Op::Constant || op == Op::Iota ||
         (op == Op::Broadcast && module.shape(module.operand(id, 0)).is_scalar());
}

// Else uses that have nothing to do with each other would have to agree.
void split_constants(Editor& editor, GivenShardings& given) {
  Module& module = editor.module();
  for (ComputationId computation : given.computations)
    for (InstructionId id : std::vector(module[computation].instructions)) {
      if (module[id].removed || editor.use_count(id) < 2 || !is_constant_array(module, id) ||
          given.of.contains(id))
        continue;
      bool is_first = true;
      std::vector<InstructionId> users = module.users(id);
      std::ranges::sort(users);
      users.erase(std::unique(users.begin(), users.end()), users.end());
      for (InstructionId user : users)
        for (size_t i = 0; i < module.operands(user).size(); ++i) {
          if (module.operand(user, i) != id || std::exchange(is_first, false)) continue;
          const std::vector<InstructionId> operands(module.operands(id).begin(),
                                                    module.operands(id).end());
          const InstructionId clone = editor.clone(id, computation, operands);
          given.clones[clone] = id;
          editor.set_operand(user, i, clone);
        }
    }
}

// What a call gives may be its argument, which can have another sharding.
void copy_called_results(Editor& editor, GivenShardings& given) {
  Module& module = editor.module();
  std::vector<InstructionId> called;
  for (const auto& [id, leaves] : given.of)
    if (module.shape(id).is_array() && module[id].op == Op::Call) called.push_back(id);
  std::ranges::sort(called);
  for (InstructionId id : called) {
    GivenShardings::OfLeaves leaves = std::move(given.of.at(id));
    given.of.erase(id);
    if (!module.has_users(id) && module[module[id].computation].root != id) continue;
    given.of[copy_for_users(editor, given, id)] = std::move(leaves);
  }
}

bool is_closed(const AxisSharding& sharding) {
  return std::ranges::none_of(sharding.dims, &AxisSharding::Dim::is_open);
}

// What a closed constraint asks for holds of its operand too, unless that is said to be another
// one, or others ask for another one.
void apply_constraints(const Module& module, GivenShardings& given) {
  std::unordered_map<InstructionId, const AxisSharding*> wanted;  // null: they differ
  for (InstructionId id : given.constraints) {
    const AxisSharding* const sharding = given.find(id);
    const auto [found, is_new] = wanted.try_emplace(module.operand(id, 0), sharding);
    if (!is_new && found->second && *found->second != *sharding) found->second = nullptr;
  }
  for (InstructionId id : given.constraints) {
    const InstructionId operand = module.operand(id, 0);
    const AxisSharding* const sharding = wanted.at(operand);
    if (sharding && is_closed(*sharding) && !given.of.contains(operand) &&
        !given.barriers.contains(operand) && given.wished.try_emplace(operand, id).second)
      given.of[operand] = {*sharding};
  }
}

bool has_shardy(const Module& module) {
  const bool has_meshes = module.header.frontend_attributes.contains(std::string(meshes_attribute));
  return std::ranges::any_of(module.instructions, [&](const Instruction& instruction) {
    if (instruction.removed || !instruction.extra) return false;
    const FrontendAttributes& attributes = module.extra(instruction).frontend_attributes;
    if (!has_meshes)  // what sharding= does not say, a mesh within the attribute may
      return !module.extra(instruction).sharding && (attributes.contains("xla.sdy.sharding") ||
                                                     attributes.contains("xla.sdy.in_shardings") ||
                                                     attributes.contains("xla.sdy.out_shardings"));
    const auto at = attributes.lower_bound("xla.sdy.");
    return at != attributes.end() && at->first.starts_with("xla.sdy.") &&
           at->first != "xla.sdy.sharding_rule";
  });
}

}  // namespace

Result<GivenShardings> import_shardings(Editor& editor) {
  Module& module = editor.module();
  GivenShardings given;
  given.is_shardy = has_shardy(module);
  HILO_TRY(given.meshes, named_meshes(module));
  given.computations = sharded_computations(module);
  drop_applied(editor, given);
  copy_branch_results(editor, given);
  HILO_DO(given.is_shardy ? import_shardy(editor, given) : import_tiles(editor, given));
  copy_called_results(editor, given);
  apply_constraints(module, given);
  split_constants(editor, given);
  return given;
}

}  // namespace hilo
