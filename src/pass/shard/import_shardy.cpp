// Shardy's notation: attributes xla.sdy.* and calls of that name.
#include <algorithm>

#include "pass/shard/given_shardings.h"

namespace hilo {
namespace {

// The same over another mesh of as many devices; as it is where that has no axes for it. A list of
// axes is cut into other axes like a dimension is.
AxisSharding over_mesh(const AxisSharding& sharding, const SharedMesh& mesh) {
  if (*sharding.mesh == *mesh || mesh_size(*sharding.mesh) != mesh_size(*mesh)) return sharding;
  AxisSharding all;
  all.mesh = sharding.mesh;
  all.dims = sharding.dims;
  for (const SubAxes* more : {&sharding.replicated, &sharding.unreduced, &sharding.manual})
    all.dims.push_back({*more});
  const auto found = axis_sharding(tile_sharding(all), all.dims.size(), mesh);
  if (!found || *found->mesh != *mesh) return sharding;
  AxisSharding out = sharding;
  out.mesh = mesh;
  const size_t rank = out.dims.size();
  for (size_t d = 0; d < rank; ++d) out.dims[d].axes = found->dims[d].axes;
  out.replicated = found->dims[rank].axes;
  out.unreduced = found->dims[rank + 1].axes;
  out.manual = found->dims[rank + 2].axes;
  const auto canonical = canonical_sharding(std::move(out));
  return canonical ? *canonical : sharding;
}

class ShardyImport {
 public:
  ShardyImport(Editor& editor, GivenShardings& given)
      : editor_(editor), module_(editor.module()), given_(given) {}

  Result<void> run() {
    HILO_DO(choose_mesh());
    for (ComputationId computation : given_.computations)
      for (InstructionId id : std::vector(module_[computation].instructions)) {
        if (module_[id].removed) continue;
        if (auto done = visit(id); !done) return fault_at(module_, id, std::move(done).error());
      }
    return {};
  }

 private:
  // Of several meshes the first that has all devices; others say the same over other lists.
  Result<void> choose_mesh() {
    const int64_t devices = module_.header.num_partitions;
    for (const auto& [name, mesh] : given_.meshes) {
      if (is_single_device(*mesh) || says_nothing(*mesh)) continue;
      if (mesh_size(*mesh) != devices)
        return fault_at_meshes(
            module_, {ErrorKind::Structure,
                      fmt::format("the mesh '{}' has {} devices, and the module is for {}", name,
                                  mesh_size(*mesh), devices),
                      {}});
      if (!given_.mesh) given_.mesh = mesh;
    }
    if (!given_.mesh) given_.mesh = flat_mesh(devices);
    return {};
  }

  static bool says_nothing(const Mesh& mesh) {
    return !is_single_device(mesh) && mesh_size(mesh) == 1;
  }

  Result<void> visit(InstructionId id) {
    if (module_[id].op != Op::CustomCall) return read_own(id);
    const std::string target = module_.attributes<CustomCallAttributes>(id).custom_call_target;
    if (target == "Sharding") return constrain(id, true);
    if (target == "xla.sdy.FuncResultSharding") return constrain(id, false);
    if (target == "xla.sdy.GlobalToLocalShape") return enter_region(id);
    if (target == "xla.sdy.LocalToGlobalShape") return leave_region(id);
    if (target == "xla.sdy.ShardingGroup") return group(id);
    if (target == "xla.sdy.PropagationBarrier") return barrier(id);
    return read_own(id);
  }

  const FrontendValue* attribute(InstructionId id, std::string_view name) const {
    const FrontendAttributes& own = module_.extra(module_[id]).frontend_attributes;
    const auto found = own.find(std::string(name));
    return found == own.end() ? nullptr : &found->second;
  }

  Result<std::vector<AxisSharding>> parsed(const std::string& text) {
    const auto known = known_.find(text);
    if (known != known_.end()) return known->second;
    auto parsed = parse_shardy_shardings(text, given_.meshes);
    if (!parsed) {
      std::string plain = text;
      std::erase(plain, '\\');
      return fail(parsed.error().kind, "{}: {}", parsed.error().message,
                  quoted_sharding(std::move(plain)));
    }
    std::vector<AxisSharding> shardings = *std::move(parsed);
    for (AxisSharding& sharding : shardings)  // what is said without axes holds on any mesh
      if (says_nothing(*sharding.mesh)) sharding.mesh = given_.mesh;
      else sharding = over_mesh(sharding, given_.mesh);
    HILO_DO(check_single_devices(shardings, module_.header.num_partitions));
    known_.emplace(text, shardings);
    return shardings;
  }

  // Of so many arrays; nothing where the attribute does not stand there.
  Result<std::vector<AxisSharding>> shardings_of(InstructionId id, std::string_view name,
                                                 std::span<const Shape> shapes) {
    const FrontendValue* const text = attribute(id, name);
    if (!text) return std::vector<AxisSharding>();
    HILO_TRY(auto shardings, parsed(text->text));
    if (shardings.size() != shapes.size())
      return fail(ErrorKind::Structure, "expected {} shardings, found {} in {}", shapes.size(),
                  shardings.size(), quoted_sharding(text->text));
    for (size_t i = 0; i < shapes.size(); ++i) {
      const size_t rank = shapes[i].is_array() ? shapes[i].dims.size() : 0;
      if (shardings[i].dims.size() == rank) continue;
      if (is_single_device(*shardings[i].mesh) && shardings[i].dims.empty())
        shardings[i].dims.resize(rank);
      else
        return fail(ErrorKind::Shape, "expected a sharding of {} dimensions for {}, found {}", rank,
                    to_string_without_layout(shapes[i]), quoted_sharding(text->text));
    }
    return shardings;
  }

  Result<void> read_own(InstructionId id) {
    const FrontendValue* const text = attribute(id, "xla.sdy.sharding");
    if (!text) return {};
    const std::vector<Shape> leaves = leaf_shapes(module_.shape(id));
    // What gives nothing may have one all the same: whose effect it is.
    HILO_TRY(const auto shardings,
             leaves.empty() ? parsed(text->text) : shardings_of(id, "xla.sdy.sharding", leaves));
    given_.of[id].assign(shardings.begin(), shardings.end());
    return {};
  }

  InstructionId copy_of(InstructionId call, InstructionId operand) {
    return add_copy(editor_, given_, call, operand);
  }

  Result<void> constrain(InstructionId id, bool is_constraint) {
    HILO_TRY(const auto shardings,
             shardings_of(id, "xla.sdy.sharding", leaf_shapes(module_.shape(id))));
    const InstructionId copy = copy_of(id, module_.operand(id, 0));
    if (!shardings.empty()) {
      given_.of[copy] = {shardings[0]};
      (is_constraint ? given_.constraints : given_.results).push_back(copy);
    }
    module_.mutable_extra(id).sharding = nullptr;
    editor_.replace_moved(id, copy);
    module_[copy].name = module_[id].name;
    given_.annotations[copy] = id;
    return {};
  }

  Result<SubAxes> manual_axes(InstructionId id) {
    const FrontendValue* const text = attribute(id, "xla.sdy.manual_axes");
    if (!text) return fail(ErrorKind::Structure, "expected the attribute xla.sdy.manual_axes");
    HILO_TRY(const auto references, parse_shardy_manual_axes(text->text));
    HILO_TRY(SubAxes axes, find_axes(*given_.mesh, references));
    HILO_DO(check_axes(*given_.mesh, axes));
    std::ranges::sort(axes);
    return merge_axes(axes);
  }

  Result<void> check_operands(InstructionId id, std::span<const Shape> shapes) {
    if (module_.operands(id).size() == shapes.size()) return {};
    return fail(ErrorKind::Structure, "expected an operand for each of {} results, found {}",
                shapes.size(), module_.operands(id).size());
  }

  // Manual axes come first in each dimension, and what they cut it into is the local shape.
  Result<void> check_edge(const AxisSharding& sharding, const SubAxes& manual, const Shape& full,
                          const Shape& local) {
    AxisSharding cut = sharding;
    for (AxisSharding::Dim& dim : cut.dims) {
      const SubAxes inside = axes_within(*cut.mesh, dim.axes, manual);
      if (!is_prefix(inside, dim.axes))
        return fail(ErrorKind::Structure, "expected manual axes in front of others in {}",
                    quoted_sharding(print_shardy(sharding, given_.meshes)));
      dim.axes = inside;
    }
    if (full.is_array() && local.is_array() && full.dims.size() == local.dims.size() &&
        local_dims(full.dims, cut) == local.dims)
      return {};
    return fail(ErrorKind::Shape, "{} does not cut {} into {}",
                quoted_sharding(print_shardy(sharding, given_.meshes)),
                to_string_without_layout(full), to_string_without_layout(local));
  }

  Result<void> enter_region(InstructionId id) {
    const std::vector<Shape> shapes = leaf_shapes(module_.shape(id));
    HILO_TRY(const SubAxes manual, manual_axes(id));
    HILO_DO(check_operands(id, shapes));
    HILO_TRY(auto shardings, shardings_of(id, "xla.sdy.in_shardings", shapes));
    std::vector<InstructionId> values;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const InstructionId operand = module_.operand(id, i);
      HILO_DO(check_edge(shardings[i], manual, module_.shape(operand), shapes[i]));
      const InstructionId copy = copy_of(id, operand);
      given_.of[copy] = {std::move(shardings[i])};
      values.push_back(edge(id, "SPMDFullToShardShape", shapes[i], copy, manual));
    }
    replace_by_elements(id, values);
    return {};
  }

  Result<void> leave_region(InstructionId id) {
    const std::vector<Shape> shapes = leaf_shapes(module_.shape(id));
    HILO_TRY(const SubAxes manual, manual_axes(id));
    HILO_DO(check_operands(id, shapes));
    HILO_TRY(auto shardings, shardings_of(id, "xla.sdy.out_shardings", shapes));
    std::vector<InstructionId> values;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const InstructionId operand = module_.operand(id, i);
      HILO_DO(check_edge(shardings[i], manual, shapes[i], module_.shape(operand)));
      const InstructionId copy = copy_of(id, operand);
      AxisSharding inside = replicated_sharding(given_.mesh, shapes[i].dims.size(), true);
      inside.manual = manual;
      given_.of[copy] = {std::move(inside)};
      const InstructionId full = edge(id, "SPMDShardToFullShape", shapes[i], copy, manual);
      const InstructionId outside = copy_of(id, full);
      if (!shardings[i].unreduced.empty()) given_.of[outside] = {shardings[i]};
      given_.of[full] = {std::move(shardings[i])};
      values.push_back(outside);
    }
    replace_by_elements(id, values);
    return {};
  }

  InstructionId edge(InstructionId call, std::string_view target, const Shape& shape,
                     InstructionId operand, const SubAxes& manual) {
    CustomCallAttributes attributes;
    attributes.custom_call_target = target;
    const InstructionId out =
        editor_.add(call, Op::CustomCall, shape, std::array{operand}, std::move(attributes));
    given_.region_axes[out] = manual;
    given_.annotations[out] = given_.annotations[operand] = call;
    return out;
  }

  void replace_by_elements(InstructionId id, const std::vector<InstructionId>& values) {
    module_.mutable_extra(id).sharding = nullptr;
    if (!module_.shape(id).is_tuple()) return editor_.replace_moved(id, values[0]);
    const InstructionId tuple = editor_.add_tuple(id, values);
    editor_.replace_moved(id, tuple);
    for (InstructionId user : module_.users(tuple))
      if (module_[user].op == Op::GetTupleElement) {
        const auto index = module_.attributes<GetTupleElementAttributes>(user).index;
        editor_.replace(user, values[index]);
      }
    editor_.remove_unused(tuple);
  }

  Result<void> group(InstructionId id) {
    const FrontendValue* const text = attribute(id, "xla.sdy.sharding_group_id");
    if (!text || text->text.empty() || !std::isdigit(text->text[0]) || text->text.size() > 24)
      return fail(ErrorKind::Structure, "expected a number in xla.sdy.sharding_group_id");
    const InstructionId operand = module_.operand(id, 0);
    given_.groups.push_back({std::strtoll(text->text.c_str(), nullptr, 10), operand, false});
    editor_.replace_moved(id, operand);
    return {};
  }

  Result<void> barrier(InstructionId id) {
    constexpr std::string_view names[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
    const FrontendValue* const text = attribute(id, "xla.sdy.allowed_direction");
    Direction direction = Direction::None;
    for (size_t i = 0; text && i < std::size(names); ++i)
      if (text->text.starts_with(names[i]) || text->text.starts_with(std::to_string(i)))
        direction = static_cast<Direction>(i);
    const InstructionId copy = copy_of(id, module_.operand(id, 0));
    given_.barriers[copy] = direction;
    module_.mutable_extra(id).sharding = nullptr;
    editor_.replace_moved(id, copy);
    return {};
  }

  Editor& editor_;
  Module& module_;
  GivenShardings& given_;
  std::unordered_map<std::string, std::vector<AxisSharding>> known_;  // by text
};

}  // namespace

Result<void> import_shardy(Editor& editor, GivenShardings& given) {
  return ShardyImport(editor, given).run();
}

}  // namespace hilo
