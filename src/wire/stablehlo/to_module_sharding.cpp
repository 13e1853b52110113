// Shardy's shardings, and HLO's in text, as HLO's: a dimension's axes from major to minor, over the
// devices of a mesh.
#include <algorithm>
#include <numeric>
#include <set>

#include "text/text.h"
#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

constexpr int64_t most_devices = int64_t{1} << 20;

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

Result<Mesh> Converter::mesh_of(const Attribute& mesh) {
  const Attribute* from = &mesh;
  if (mesh.kind == AttributeKind::Symbol || mesh.kind == AttributeKind::String) {
    const auto found = meshes_.find(mesh.text);
    if (found == meshes_.end() || !found->second)
      return fail(ErrorKind::Name, "there is no mesh @{}", mesh.text);
    from = found->second;
  }
  Mesh out;
  int64_t devices = 1;
  const Attribute* axes = program.find(*from, "axes");
  for (size_t i = 0; axes && i < axes->items.size(); ++i) {
    const Attribute& axis = program[axes->items[i]];
    const Attribute* size = program.find(axis, "size");
    out.axes.push_back({text_of(program, axis, "name"), size ? size->integer : 0});
    const int64_t one = out.axes.back().size;
    if (one <= 0 || one > most_devices || (devices *= one) > most_devices)
      return fail(ErrorKind::Limit, "a mesh of more than {} devices", most_devices);
  }
  if (const Attribute* ids = program.find(*from, "device_ids")) {
    HILO_TRY(out.device_ids, integers_of(program, *ids));
    if (!out.axes.empty() && !out.device_ids.empty() && std::ssize(out.device_ids) != devices)
      return fail(ErrorKind::Shape, "{} device ids for a mesh of {} devices", out.device_ids.size(),
                  devices);
  }
  return out;
}

namespace {

// A part of an axis that no reference cuts further.
struct Factor {
  size_t axis;
  int64_t begin, size;  // begin: the product of the sizes before it in its axis
};

// The axes of a mesh, cut where references begin and end.
Result<std::vector<Factor>> factors_of(const Mesh& mesh, std::span<const AxisRef> references) {
  std::vector<Factor> out;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const int64_t whole = mesh.axes[axis].size;
    std::set<int64_t> cuts = {1, whole};
    for (const AxisRef& reference : references) {
      if (reference.name != mesh.axes[axis].name || !reference.sub) continue;
      const auto& [pre, size] = *reference.sub;
      if (pre <= 0 || pre > whole || size > whole / pre || whole % (pre * size) != 0)
        return fail(ErrorKind::Shape, "\"{}\":({}){} is no part of an axis of {}", reference.name,
                    pre, size, whole);
      cuts.insert({pre, pre * size});
    }
    for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at) {
      if (*std::next(at) % *at != 0)
        return fail(ErrorKind::Shape, "parts of the axis \"{}\" overlap", mesh.axes[axis].name);
      out.push_back({axis, *at, *std::next(at) / *at});
    }
  }
  return out;
}

// The factors that a reference names, in order; `used` marks them.
Result<Dims> find_factors(const Mesh& mesh, std::span<const Factor> factors,
                          const AxisRef& reference, std::vector<bool>& used) {
  Dims out;
  bool is_known = false;
  for (const MeshAxis& axis : mesh.axes) is_known = is_known || axis.name == reference.name;
  if (!is_known) return fail(ErrorKind::Name, "the mesh has no axis \"{}\"", reference.name);
  for (size_t i = 0; i < factors.size(); ++i) {
    const Factor& factor = factors[i];
    if (mesh.axes[factor.axis].name != reference.name) continue;
    if (reference.sub && (factor.begin < reference.sub->first ||
                          factor.begin >= reference.sub->first * reference.sub->second))
      continue;
    if (used[i]) return fail(ErrorKind::Shape, "the axis \"{}\" is used twice", reference.name);
    used[i] = true;
    out.push_back(static_cast<int64_t>(i));
  }
  return out;
}

int64_t product(std::span<const Factor> factors, const Dims& of) {
  int64_t out = 1;
  for (int64_t i : of) out *= factors[i].size;
  return out;
}

// [tiles] <= [sizes]T(order), without what says nothing: factors of 1, and neighbours that stay so.
IotaDevices iota_of(const Dims& tiles, std::span<const Factor> factors, const Dims& order) {
  Dims kept;
  for (int64_t i : order)
    if (factors[i].size != 1) kept.push_back(i);
  std::vector<std::pair<int64_t, int64_t>> runs;  // first factor, size
  int64_t last = -2;
  const auto next_of = [&](int64_t i) {
    do ++i;
    while (i < std::ssize(factors) && factors[i].size == 1);
    return i;
  };
  for (int64_t i : kept) {
    if (!runs.empty() && next_of(last) == i) runs.back().second *= factors[i].size;
    else runs.emplace_back(i, factors[i].size);
    last = i;
  }
  IotaDevices out{tiles, {}, {}};
  Dims sorted(runs.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::sort(sorted, {}, [&](int64_t run) { return runs[run].first; });
  for (int64_t run : sorted) out.dims.push_back(runs[run].second);
  for (size_t run = 0; run < runs.size(); ++run)
    out.permutation.push_back(std::ranges::find(sorted, static_cast<int64_t>(run)) -
                              sorted.begin());
  if (out.dims.empty()) out.dims = {1};
  if (out.permutation.size() <= 1) out.permutation.clear();
  return out;
}

}  // namespace

Result<Sharding> tile(const Mesh& mesh, std::span<const std::vector<AxisRef>> dims,
                      std::span<const std::string> manual, std::span<const AxisRef> unreduced) {
  Sharding out;
  if (mesh.axes.empty()) {
    if (mesh.device_ids.size() == 1)
      out.kind = Sharding::Kind::Maximal, out.device = mesh.device_ids[0];
    return out;
  }
  std::vector<AxisRef> references(unreduced.begin(), unreduced.end());
  for (const auto& dim : dims) references.insert(references.end(), dim.begin(), dim.end());
  HILO_TRY(const std::vector<Factor> factors, factors_of(mesh, references));
  std::vector<bool> used(factors.size());
  Dims tiles, order, group;
  const auto take = [&](const AxisRef& reference, Dims& to) -> Result<void> {
    HILO_TRY(const Dims found, find_factors(mesh, factors, reference, used));
    to.insert(to.end(), found.begin(), found.end());
    return {};
  };
  const auto close = [&](Sharding::Kind kind) {  // the group becomes a subgroup dimension
    if (product(factors, group) > 1) {
      tiles.push_back(product(factors, group));
      out.last_tile_dims.push_back(kind);
    }
    order.insert(order.end(), group.begin(), group.end());
    group.clear();
  };
  for (const auto& dim : dims) {
    const size_t first = order.size();
    for (const AxisRef& reference : dim) HILO_DO(take(reference, order));
    tiles.push_back(product(factors, Dims(order.begin() + first, order.end())));
  }
  const bool is_cut = std::ranges::any_of(tiles, [](int64_t tile) { return tile > 1; });
  for (const MeshAxis& axis : mesh.axes)
    if (std::ranges::count(manual, axis.name)) HILO_DO(take({axis.name, {}}, group));
  close(Sharding::Kind::Manual);
  for (const AxisRef& reference : unreduced) HILO_DO(take(reference, group));
  close(Sharding::Kind::Unreduced);
  for (size_t i = 0; i < factors.size(); ++i)
    if (!used[i]) group.push_back(static_cast<int64_t>(i));
  close(Sharding::Kind::Replicated);
  if (!is_cut && out.last_tile_dims.size() <= 1) {
    if (!out.last_tile_dims.empty()) out.kind = out.last_tile_dims[0];
    out.last_tile_dims.clear();
    return out;
  }
  out.kind = Sharding::Kind::Tiled;
  out.tile_dims = tiles;
  if (out.last_tile_dims.size() == 1 && out.last_tile_dims[0] == Sharding::Kind::Replicated) {
    out.last_tile_dims.clear();
    out.last_tile_dim_replicate = true;
  }
  IotaDevices iota = iota_of(tiles, factors, order);
  if (mesh.device_ids.empty()) {
    out.iota = std::move(iota);
  } else {
    for (int64_t position : iota.expand()) out.devices.push_back(mesh.device_ids[position]);
  }
  return out;
}

Result<Sharding> Converter::sharding_of(const Attribute& sharding) {
  const Attribute* mesh = program.find(sharding, "mesh");
  const Attribute* list = program.find(sharding, "dims");
  if (sharding.text != "sdy.sharding" || !mesh || !list)
    return fail(ErrorKind::Shape, "expected a sharding of Shardy");
  HILO_TRY(const Mesh on, mesh_of(*mesh));
  std::vector<std::vector<AxisRef>> dims;
  for (AttributeId item : list->items) {
    const Attribute* axes = program.find(program[item], "axes");
    if (!axes) return fail(ErrorKind::Shape, "a dimension's sharding without axes");
    HILO_TRY(dims.emplace_back(), axis_refs_of(program, *axes));
  }
  std::vector<AxisRef> unreduced;
  if (const Attribute* axes = program.find(sharding, "unreduced")) {
    HILO_TRY(unreduced, axis_refs_of(program, *axes));
  }
  return tile(on, dims, manual_axes, unreduced);
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
