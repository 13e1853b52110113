// Gives every value a sharding, from those that the module gives some. Reads the notations of
// Shardy and GSPMD and leaves the explicit form of write_shardings.h, in which nothing is open.
// Assumes a module of whole arrays. Afterwards closed shardings hold exactly, and the partitioner
// has to choose nothing.
#include <algorithm>

#include "eval/eval.h"
#include "pass/pass.h"
#include "pass/shard/propagate.h"
#include "pass/shard/write_shardings.h"

namespace hilo {
namespace {

int64_t devices_of(const Sharding& sharding) {
  int64_t out = 1;
  for (const Sharding& element : sharding.elements) out = std::max(out, devices_of(element));
  if (sharding.kind != Sharding::Kind::Tiled) return out;
  return element_count(std::span<const int64_t>(sharding.tile_dims));
}

bool is_marker(const Module& module, InstructionId id) {
  if (module[id].op != Op::CustomCall) return false;
  const std::string& target = module.attributes<CustomCallAttributes>(id).custom_call_target;
  return target == "Sharding" || target == "SPMDFullToShardShape" || target.starts_with("xla.sdy.");
}

// Constraints stand in modules of whole arrays alone; where such a module does not say for how many
// devices it is, its shardings do.
int64_t find_devices(const Module& module) {
  const int64_t said = module.header.num_partitions;
  if (said > 1) return said;
  int64_t out = 1;
  bool has_markers = false;
  for (uint32_t i = 0; i < module.instructions.size(); ++i) {
    if (module.instructions[i].removed) continue;
    has_markers = has_markers || is_marker(module, {i});
    if (const auto& sharding = module.extra(module.instructions[i]).sharding)
      out = std::max(out, devices_of(*sharding));
  }
  if (!has_markers) return 1;
  if (const auto named = module.header.frontend_attributes.find("xla.sdy.meshes");
      named != module.header.frontend_attributes.end())
    if (const auto meshes = parse_shardy_meshes(named->second.text))
      for (const auto& [name, mesh] : *meshes) out = std::max(out, mesh_size(*mesh));
  return out;
}

// Calls that only say something of shardings have no effect on anything else.
bool has_effect(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  if (op == Op::Infeed || op == Op::Outfeed || op == Op::Send || op == Op::Recv) return true;
  if (op != Op::CustomCall) return false;
  const auto& call = module.attributes<CustomCallAttributes>(id);
  const CustomCallInfo* const known = find_custom_call(call.custom_call_target);
  return call.custom_call_has_side_effect && !(known && known->family == "sharding");
}

bool is_assigned(const Sharding& sharding) {
  return sharding.kind == Sharding::Kind::Maximal || sharding.kind == Sharding::Kind::Manual ||
         (!sharding.elements.empty() && std::ranges::all_of(sharding.elements, is_assigned));
}

// What all devices would do that one should, or each its part of.
Result<void> check_effects(const Editor& editor, const GivenShardings& given,
                           const ManualAxes& manual) {
  const Module& module = editor.module();
  for (ComputationId computation : given.computations)
    for (InstructionId id : module[computation].instructions) {
      if (module[id].removed || !has_effect(module, id) || !manual.of(id).empty()) continue;
      const auto& sharding = module.extra(module[id]).sharding;
      if (sharding && is_assigned(*sharding)) continue;
      if (const AxisSharding* const said = given.find(id); said && is_single_device(*said->mesh))
        continue;
      return fault_at(module, id,
                      {ErrorKind::Unsupported,
                       fmt::format("expected a device for what has a side effect, as sharding="
                                   "{{maximal device=0}}, or a manual region, found {}: all {} "
                                   "devices would do it",
                                   sharding ? quoted_sharding(print(*sharding)) : "no sharding",
                                   module.header.num_partitions),
                       {}});
    }
  return {};
}

// An operand without elements gives a concatenation nothing, but whoever needs the rows around it
// would need all of them: no tile of it says where it stands between the others.
void drop_empty_operands(Editor& editor) {
  const Module& module = editor.module();
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : operands_first(module, computation)) {
      if (module[id].removed || module[id].op != Op::Concatenate || editor.is_pinned(id)) continue;
      const auto range = module.operands(id);
      const std::vector<InstructionId> operands(range.begin(), range.end());
      std::vector<InstructionId> filled;
      for (InstructionId operand : operands)
        if (element_count(module.shape(operand)) > 0) filled.push_back(operand);
      if (filled.empty() || filled.size() == operands.size()) continue;
      const Shape shape = module.shape(id);
      auto attributes = module.attributes<DimensionsAttributes>(id);
      const InstructionId kept =
          editor.add(id, Op::Concatenate, shape, filled, std::move(attributes));
      editor.replace(id, kept);
    }
}

struct Propagated {
  std::vector<ComputationId> computations;
  ShardedValues values;
};

// The module is for several devices.
Result<Propagated> propagate(Module& module, const PassOptions& options, ShardingOrigins* origins) {
  HILO_DO(flatten_calls(module, options));
  Editor editor(module);
  drop_empty_operands(editor);
  HILO_TRY(const GivenShardings given, import_shardings(editor));
  HILO_TRY(const ManualAxes manual, find_manual_axes(module, given));
  HILO_DO(check_effects(editor, given, manual));
  HILO_TRY(ShardedValues values, number_values(module, given, manual));
  HILO_DO(propagate_shardings(module, given, values, origins));
  write_shardings(editor, given, values);
  return Propagated{given.computations, std::move(values)};
}

void add_rows(const Module& module, InstructionId id, const ShardedValues& values,
              const ShardingOrigins& origins, std::vector<PropagatedSharding>& out) {
  size_t leaf = values.leaf(id, 0);
  for_each_leaf(module.shape(id), [&](const Shape& shape, std::span<const int64_t> index) {
    if (shape.is_array() && !shape.dims.empty())
      out.push_back({id, Dims(index.begin(), index.end()), shape, values.sharding_of(leaf),
                     origins[values.value_of[leaf]]});
    ++leaf;
  });
}

}  // namespace

Result<bool> propagate_all_shardings(Module& module, const PassOptions& options) {
  const int64_t devices = find_devices(module);
  if (devices < 2) return false;
  module.header.num_partitions = devices;
  HILO_DO(propagate(module, options, nullptr));
  return true;
}

Result<std::vector<PropagatedSharding>> explain_shardings(Module& module,
                                                          const PassOptions& options) {
  std::vector<PropagatedSharding> out;
  const int64_t devices = find_devices(module);
  if (devices < 2) return out;
  module.header.num_partitions = devices;
  ShardingOrigins origins;
  HILO_TRY(const Propagated propagated, propagate(module, options, &origins));
  for (ComputationId computation : propagated.computations)
    for (InstructionId id : module[computation].instructions)
      if (!module[id].removed) add_rows(module, id, propagated.values, origins, out);
  return out;
}

}  // namespace hilo
