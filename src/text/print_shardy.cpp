// Shardy's attributes as frontend attributes hold them: what parse_shardy.cpp reads.
#include <fmt/ranges.h>

#include <algorithm>

#include "text/text.h"

namespace hilo {
namespace {

std::string text_of(const Mesh& mesh) {
  if (is_single_device(mesh)) return fmt::format("<maximal_device_id={}>", mesh.device_ids[0]);
  std::vector<std::string> axes;
  for (const MeshAxis& axis : mesh.axes)
    axes.push_back(fmt::format("\"{}\"={}", axis.name, axis.size));
  std::string out = fmt::format("<[{}]", fmt::join(axes, ", "));
  if (mesh.device_iota || !mesh.device_ids.empty())
    out += fmt::format(", device_ids=[{}]", fmt::join(mesh.devices(), ", "));
  return out + ">";
}

std::vector<std::string> texts_of(const Mesh& mesh, const SubAxes& axes) {
  std::vector<std::string> out;
  for (const auto& [name, sub] : axis_refs(mesh, axes)) {
    out.push_back(fmt::format("\"{}\"", name));
    if (sub) out.back() += fmt::format(":({}){}", sub->first, sub->second);
  }
  return out;
}

std::string text_of(const Mesh& mesh, const AxisSharding::Dim& dim) {
  std::vector<std::string> parts = texts_of(mesh, dim.axes);
  if (dim.is_open) parts.push_back("?");
  std::string out = fmt::format("{{{}}}", fmt::join(parts, ", "));
  if (dim.priority > 0) out += fmt::format("p{}", dim.priority);
  return out;
}

// <@mesh, [{"x"}, {?}], replicated={"y"}>
std::string text_of(const AxisSharding& sharding, const ShardyMeshes& meshes) {
  const Mesh& mesh = *sharding.mesh;
  const auto named =
      std::ranges::find_if(meshes, [&](const auto& known) { return *known.second == mesh; });
  std::vector<std::string> dims;
  for (const AxisSharding::Dim& dim : sharding.dims) dims.push_back(text_of(mesh, dim));
  std::string out =
      fmt::format("<{}, [{}]", named == meshes.end() ? "mesh" + text_of(mesh) : "@" + named->first,
                  fmt::join(dims, ", "));
  const auto add = [&](std::string_view name, std::string_view op, const SubAxes& axes) {
    if (!axes.empty())
      out += fmt::format(", {}={}{{{}}}", name, op, fmt::join(texts_of(mesh, axes), ", "));
  };
  add("replicated", "", sharding.replicated);
  add("unreduced", sharding.unreduced_op, sharding.unreduced);
  return out + ">";
}

}  // namespace

std::string print_shardy_meshes(const ShardyMeshes& meshes) {
  std::vector<std::string> out;
  for (const auto& [name, mesh] : meshes)
    out.push_back(fmt::format("{} = #sdy.mesh{}", name, text_of(*mesh)));
  return fmt::format("{{{}}}", fmt::join(out, ", "));
}

std::string print_shardy(const AxisSharding& sharding, const ShardyMeshes& meshes) {
  return "#sdy.sharding" + text_of(sharding, meshes);
}

std::string print_shardy(std::span<const AxisSharding> per_value, const ShardyMeshes& meshes) {
  std::vector<std::string> out;
  for (const AxisSharding& one : per_value) out.push_back(text_of(one, meshes));
  return fmt::format("#sdy.sharding_per_value<[{}]>", fmt::join(out, ", "));
}

}  // namespace hilo
