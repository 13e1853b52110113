#include "pass/shard/sharding_text.h"

namespace hilo {

std::string list_text(const Mesh& mesh, const SubAxes& axes) {
  std::string out;
  for (const SubAxis& axis : axes) out += (out.empty() ? "" : ", ") + axis_text(mesh, axis);
  return "{" + out + "}";
}

std::string axes_text(const AxisSharding& sharding) {
  std::string out;
  for (const AxisSharding::Dim& dim : sharding.dims)
    out += (out.empty() ? "" : ", ") + list_text(*sharding.mesh, dim.axes);
  out = "[" + out + "]";
  if (!sharding.unreduced.empty())
    out += " unreduced=" + list_text(*sharding.mesh, sharding.unreduced);
  return out;
}

}  // namespace hilo
