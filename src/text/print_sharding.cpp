// Shardings, meshes and replica groups. Forms: docs/hlo-text.md and XLA's HLO text parser.
#include "text/print.h"

namespace hilo {
namespace {

using Kind = Sharding::Kind;

std::string_view word_of(Kind kind) {
  switch (kind) {
    case Kind::Replicated: return "replicated";
    case Kind::Maximal: return "maximal";
    case Kind::Manual: return "manual";
    case Kind::Unknown: return "unknown";
    case Kind::Unreduced: return "unreduced";
    default: return "";
  }
}

void append_tiles(Printer& printer, const Sharding& sharding) {
  printer.text("devices=[").integers(sharding.tile_dims).text("]");
  if (sharding.iota) {
    printer.text("<=");
    printer.iota(*sharding.iota);
  } else {
    printer.integers(sharding.devices);
  }
  if (sharding.last_tile_dim_replicate) printer.text(" last_tile_dim_replicate");
  if (sharding.last_tile_dims.empty()) return;
  printer.text(" last_tile_dims={");
  printer.list(sharding.last_tile_dims, ", ", [&](Kind kind) { printer.text(word_of(kind)); });
  printer.text("}");
}

void append_mesh_sharding(Printer& printer, const Sharding& sharding) {
  printer.mesh(sharding.mesh);
  if (sharding.whole_mesh) {
    printer.text(", ").text(word_of(*sharding.whole_mesh));
  } else {
    printer.text(", [").list(sharding.mesh_dims, ", ", [&](const Sharding::MeshDim& dim) {
      printer.text("{").list(dim.axes, ", ", [&](const AxisRef& axis) { printer.axis(axis); });
      printer.text(dim.open ? (dim.axes.empty() ? "?}" : ", ?}") : "}");
    });
    printer.text("]");
  }
  const auto part = [&](std::string_view name, const std::vector<AxisRef>& axes) {
    if (axes.empty()) return;
    printer.text(", ").text(name).text("=");
    if (name == "unreduced") printer.text(sharding.unreduced_op);
    printer.axes(axes, ", ");
  };
  part("replicated", sharding.replicated_axes);
  part("unreduced", sharding.unreduced_axes);
  part("manual", sharding.manual_axes);
}

}  // namespace

void Printer::iota(const IotaDevices& iota) {
  text("[").integers(iota.dims).text("]");
  if (!iota.permutation.empty()) text("T(").integers(iota.permutation).text(")");
}

void Printer::mesh(const Mesh& mesh) {
  text("mesh[").list(mesh.axes, ",", [&](const MeshAxis& axis) {
    text("'").text(axis.name).text("'=").integer(axis.size);
  });
  text("]");
  if (!mesh.device_iota && mesh.device_ids.empty()) return;
  text(", device_ids=(");
  if (mesh.device_iota) iota(*mesh.device_iota);
  else integers(mesh.device_ids);
  text(")");
}

void Printer::axis(const AxisRef& axis) {
  text("'").text(axis.name).text("'");
  if (axis.sub) text(":(").integer(axis.sub->first).text(")").integer(axis.sub->second);
}

void Printer::axes(const std::vector<AxisRef>& axes, std::string_view between) {
  text("{").list(axes, between, [&](const AxisRef& ref) { axis(ref); }).text("}");
}

void Printer::value(const ReplicaGroups& value) {
  if (value.form == ReplicaGroups::Form::Iota) {
    text("[").integers(value.iota.reshape).text("]<=");
    iota(value.iota);
  } else if (value.form == ReplicaGroups::Form::Mesh) {
    mesh(value.mesh);
    text(" ");
    axes(value.axes, ",");
  } else {
    text("{").list(value.groups, ",", [&](const Dims& group) { this->value(group); }).text("}");
  }
}

void Printer::sharding(const Sharding& sharding) {
  text("{");
  if (sharding.kind == Kind::Tuple) {
    for (size_t i = 0; i < sharding.elements.size(); ++i) {
      if (i > 0) text(", ");
      index_comment(i);
      this->sharding(sharding.elements[i]);
    }
    return void(text("}"));
  }
  if (sharding.kind == Kind::Tiled) append_tiles(*this, sharding);
  else if (sharding.kind == Kind::Mesh) append_mesh_sharding(*this, sharding);
  else if (sharding.kind == Kind::Maximal && sharding.whole_mesh)
    text("maximal_mesh[device_id=").integer(sharding.device).text("]");
  else if (sharding.kind == Kind::Maximal) text("maximal device=").integer(sharding.device);
  else text(word_of(sharding.kind));
  if (sharding.shard_as) text(" shard_as ").integer(*sharding.shard_as);
  if (sharding.shard_like) text(" shard_like ").integer(*sharding.shard_like);
  if (!sharding.metadata.empty())
    text(sharding.kind == Kind::Mesh ? ", metadata=" : " metadata=").text(sharding.metadata);
  text("}");
}

std::string print(const Sharding& sharding) {
  std::string out;
  const PrintStyle style;
  Printer(nullptr, style, out).sharding(sharding);
  return out;
}

}  // namespace hilo
