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

Result<SharedMesh> Converter::mesh_of(const Attribute& mesh) {
  const Attribute* from = &mesh;
  if (mesh.kind == AttributeKind::Symbol || mesh.kind == AttributeKind::String) {
    const auto found = meshes_.find(mesh.text);
    if (found == meshes_.end() || !found->second)
      return fail(ErrorKind::Name, "there is no mesh @{}", mesh.text);
    from = found->second;
  }
  Mesh out;
  const Attribute* axes = program.find(*from, "axes");
  for (size_t i = 0; axes && i < axes->items.size(); ++i) {
    const Attribute& axis = program[axes->items[i]];
    const Attribute* size = program.find(axis, "size");
    out.axes.push_back({text_of(program, axis, "name"), size ? size->integer : 0});
  }
  if (const Attribute* ids = program.find(*from, "device_ids")) {
    HILO_TRY(out.device_ids, integers_of(program, *ids));
  }
  return make_mesh(std::move(out));
}

Result<Sharding> Converter::in_region(AxisSharding sharding) {
  const Mesh& mesh = *sharding.mesh;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
    if (std::ranges::count(manual_axes, mesh.axes[axis].name))
      sharding.manual.push_back({axis, 1, mesh.axes[axis].size});
  HILO_TRY(const AxisSharding out, canonical_sharding(std::move(sharding)));
  return tile_sharding(out);
}

Result<Sharding> Converter::sharding_of(const Attribute& sharding) {
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
    HILO_TRY(out.dims.emplace_back().axes, axes_in(program[item], "axes"));
  }
  HILO_TRY(out.unreduced, axes_in(sharding, "unreduced"));
  return in_region(std::move(out));
}

Result<std::optional<Sharding>> Converter::sharding_in(const Attribute* sdy,
                                                       const Attribute* mhlo) {
  if (sdy && sdy->text == "sdy.per_value") {
    const Attribute* list = program.find(*sdy, "shardings");
    if (!list || list->items.empty()) return std::nullopt;
    if (list->items.size() == 1) return sharding_of(program[list->items[0]]);
    Sharding out;
    out.kind = Sharding::Kind::Tuple;
    for (AttributeId item : list->items) {
      HILO_TRY(out.elements.emplace_back(), sharding_of(program[item]));
    }
    return out;
  }
  if (sdy) return sharding_of(*sdy);
  if (!mhlo || mhlo->kind != AttributeKind::String) return std::nullopt;
  auto parsed = parse_sharding(mhlo->text);
  if (!parsed)
    return fail(ErrorKind::Shape, "mhlo.sharding = \"{}\": {}", mhlo->text, parsed.error().message);
  return *parsed;
}

Result<InstructionId> Converter::marked(Scope& scope, InstructionId value, const Sharding& sharding,
                                        const Origin& origin) {
  CustomCallAttributes attributes;
  attributes.custom_call_target = "Sharding";
  const Shape shape = module.shape(value);
  HILO_TRY(const InstructionId out, add(scope, Op::CustomCall, std::array{value},
                                        module.add_attributes(attributes), &shape, origin));
  module.mutable_extra(out).sharding = std::make_shared<const Sharding>(sharding);
  return out;
}

Result<void> convert_sharding_constraint(Step& step) {
  const Attribute* sharding = step.find("sharding");
  if (!sharding) return step.misfit("the attribute sharding is missing");
  HILO_TRY(const Sharding to, step.converter.sharding_of(*sharding));
  HILO_TRY(const InstructionId value,
           step.converter.marked(step.scope, step.operands[0], to, step.origin));
  return step.give(0, value);
}

}  // namespace hilo::mlir
