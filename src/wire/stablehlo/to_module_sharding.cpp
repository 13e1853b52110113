// Shardy's shardings, and HLO's in text, as HLO's: a dimension's axes from major to minor, over the
// devices of a mesh.
#include <algorithm>

#include "text/text.h"
#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

std::string text_of(const Program& program, const Attribute& of, std::string_view name) {
  const Attribute* found = program.find(of, name);
  return found ? found->text : std::string();
}

Result<AxisRef> axis_ref_of(const Program& program, const Attribute& from) {
  if (from.text != "sdy.axis_ref") return fail(ErrorKind::Shape, "expected an axis of a mesh");
  AxisRef out;
  out.name = text_of(program, from, "name");
  const Attribute* pre = program.find(from, "pre_size");
  const Attribute* size = program.find(from, "size");
  if (pre && size && size->integer > 0) out.sub = {pre->integer, size->integer};
  return out;
}

}  // namespace

Result<std::vector<AxisRef>> axis_refs_of(const Program& program, const Attribute& list) {
  std::vector<AxisRef> out;
  for (AttributeId item : list.items) {
    HILO_TRY(out.emplace_back(), axis_ref_of(program, program[item]));
  }
  return out;
}

Result<void> Converter::add_mesh(const std::string& name, const Operation& operation) {
  const Attribute* mesh = program.find(operation, "mesh");
  if (!mesh) return fail(ErrorKind::Shape, "the mesh @{} has no axes", name);
  HILO_TRY(meshes[name], mesh_of(*mesh));
  return {};
}

Result<SharedMesh> Converter::mesh_of(const Attribute& mesh) {
  if (mesh.kind == AttributeKind::Symbol || mesh.kind == AttributeKind::String) {
    const auto found = meshes.find(mesh.text);
    if (found != meshes.end()) return found->second;
    return fail(ErrorKind::Name, "there is no mesh @{}", mesh.text);
  }
  Mesh out;
  const Attribute* axes = program.find(mesh, "axes");
  for (size_t i = 0; axes && i < axes->items.size(); ++i) {
    const Attribute& axis = program[axes->items[i]];
    const Attribute* size = program.find(axis, "size");
    out.axes.push_back({text_of(program, axis, "name"), size ? size->integer : 0});
  }
  if (const Attribute* ids = program.find(mesh, "device_ids")) {
    HILO_TRY(out.device_ids, integers_of(program, *ids));
  }
  return make_mesh(std::move(out));
}

Result<AxisSharding> Converter::sharding_of(const Attribute& sharding) {
  const Attribute* mesh = program.find(sharding, "mesh");
  const Attribute* list = program.find(sharding, "dims");
  if (sharding.text != "sdy.sharding" || !mesh || !list)
    return fail(ErrorKind::Shape, "expected a sharding of Shardy");
  AxisSharding out;
  HILO_TRY(out.mesh, mesh_of(*mesh));
  const auto axes_in = [&](const Attribute& from, std::string_view name) -> Result<SubAxes> {
    const Attribute* axes = program.find(from, name);
    if (!axes) return SubAxes();
    HILO_TRY(const std::vector<AxisRef> references, axis_refs_of(program, *axes));
    return find_axes(*out.mesh, references);
  };
  for (AttributeId item : list->items) {
    AxisSharding::Dim& dim = out.dims.emplace_back();
    HILO_TRY(dim.axes, axes_in(program[item], "axes"));
    const Attribute* is_closed = program.find(program[item], "is_closed");
    const Attribute* priority = program.find(program[item], "priority");
    dim.is_open = is_closed && is_closed->integer == 0;
    dim.priority = priority ? std::max<int64_t>(0, priority->integer) : 0;
  }
  HILO_TRY(out.replicated, axes_in(sharding, "replicated"));
  HILO_TRY(out.unreduced, axes_in(sharding, "unreduced"));
  out.unreduced_op = text_of(program, sharding, "unreduced_op");
  return canonical_sharding(std::move(out));
}

Result<std::optional<SaidSharding>> Converter::sharding_in(const Attribute* sdy,
                                                           const Attribute* mhlo) {
  SaidSharding out;
  if (sdy && sdy->text == "sdy.per_value") {
    const Attribute* list = program.find(*sdy, "shardings");
    if (!list || list->items.empty()) return std::nullopt;
    for (AttributeId item : list->items) {
      HILO_TRY(out.per_value.emplace_back(), sharding_of(program[item]));
    }
  } else if (sdy) {
    HILO_TRY(out.per_value.emplace_back(), sharding_of(*sdy));
  } else if (mhlo && mhlo->kind == AttributeKind::String) {
    auto parsed = parse_sharding(mhlo->text);
    if (!parsed)
      return fail(ErrorKind::Shape, "mhlo.sharding = \"{}\": {}", mhlo->text,
                  parsed.error().message);
    out.tiles = *parsed;
    return out;
  } else {
    return std::nullopt;
  }
  // One device has all of every array: there is nothing to say.
  const auto is_alone = [](const AxisSharding& one) {
    return mesh_size(*one.mesh) == 1 && !is_single_device(*one.mesh);
  };
  if (std::ranges::all_of(out.per_value, is_alone)) return std::nullopt;
  if (out.per_value.size() == 1) {
    out.tiles = tile_sharding(out.per_value[0]);
    return out;
  }
  out.tiles.kind = Sharding::Kind::Tuple;
  for (const AxisSharding& one : out.per_value) out.tiles.elements.push_back(tile_sharding(one));
  return out;
}

void Converter::set_sharding(InstructionId value, const SaidSharding& said) {
  Extra& extra = module.mutable_extra(value);
  extra.sharding = std::make_shared<const Sharding>(said.tiles);
  if (said.per_value.empty()) return;
  const bool is_parameter = module[value].op == Op::Parameter;
  extra.frontend_attributes["xla.sdy.sharding"] = {
      is_parameter ? print_shardy(said.per_value[0], meshes) : print_shardy(said.per_value, meshes),
      false};
}

Result<InstructionId> Converter::marked(Scope& scope, InstructionId value, std::string_view target,
                                        const SaidSharding& said, const Origin& origin) {
  CustomCallAttributes attributes;
  attributes.custom_call_target = target;
  attributes.custom_call_has_side_effect = target != "Sharding";
  const Shape shape = module.shape(value);
  HILO_TRY(const InstructionId out,
           add(scope, Op::CustomCall, std::array{value},
               module.add_attributes(std::move(attributes)), &shape, origin));
  set_sharding(out, said);
  return out;
}

// Shardy's own collectives, which come after propagation, keep the value and change its sharding.
Result<void> convert_sharding_constraint(Step& step) {
  const Attribute* sharding = step.find("sharding");
  if (!sharding) sharding = step.find("out_sharding");
  if (!sharding) return step.misfit("the attribute sharding is missing");
  HILO_TRY(const auto said, step.converter.sharding_in(sharding, nullptr));
  if (!said) return step.give(0, step.operands[0]);  // of one device
  HILO_TRY(const InstructionId value,
           step.converter.marked(step.scope, step.operands[0], "Sharding", *said, step.origin));
  return step.give(0, value);
}

namespace {

// A custom call of Shardy with a frontend attribute xla.sdy.*.
Result<InstructionId> call_shardy(Step& step, std::string_view target, const Shape& shape,
                                  std::string_view attribute, std::string text) {
  CustomCallAttributes attributes;
  attributes.custom_call_target = target;
  attributes.custom_call_has_side_effect = shape.is_tuple();
  HILO_TRY(const InstructionId out,
           step.add(Op::CustomCall, {step.operands[0]}, std::move(attributes), &shape));
  step.module().mutable_extra(out).frontend_attributes[std::string(attribute)] = {std::move(text),
                                                                                  false};
  return out;
}

}  // namespace

Result<void> convert_sharding_group(Step& step) {
  HILO_TRY(const int64_t id, step.integer("group_id"));
  HILO_DO(call_shardy(step, "xla.sdy.ShardingGroup", Shape::tuple({}), "xla.sdy.sharding_group_id",
                      fmt::format("{} : i64", id)));
  return {};
}

Result<void> convert_propagation_barrier(Step& step) {
  constexpr std::string_view names[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
  const Attribute* said = step.find("allowed_direction");
  if (!said) return step.misfit("the attribute allowed_direction is missing");
  int64_t direction = said->integer;
  if (said->kind == AttributeKind::Enum)
    direction = std::ranges::find(names, said->text) - std::begin(names);
  if (direction < 0 || direction >= std::ssize(names))
    return step.misfit("'{}' is no direction of propagation", said->text);
  const Shape shape = step.shape(0);
  HILO_TRY(const InstructionId value,
           call_shardy(step, "xla.sdy.PropagationBarrier", shape, "xla.sdy.allowed_direction",
                       fmt::format("{} : i32", direction)));
  return step.give(value);
}

}  // namespace hilo::mlir
