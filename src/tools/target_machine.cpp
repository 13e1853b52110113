#include "tools/target_machine.h"

namespace hilo::tools {
namespace {

std::string known_names() {
  std::string out;
  for (const Machine& machine : machines())
    out += (out.empty() ? "" : ", ") + std::string(machine.name);
  return out;
}

}  // namespace

Result<std::optional<Machine>> find_target(std::string_view target, std::string_view topology) {
  if (target.empty() && topology.empty()) return std::nullopt;
  if (target.empty())
    return fail(ErrorKind::Usage, "--topology={}: of which chip? Name it by --target", topology);
  const Machine* machine = find_machine(target);
  if (!machine)
    return fail(ErrorKind::Usage, "--target={}: no chip of that name; known are {}", target,
                known_names());
  Machine out = *machine;
  const size_t mark = target.find(':');
  if (topology.empty() && mark != target.npos) topology = target.substr(mark + 1);
  if (topology.empty()) return out;
  const auto torus = parse_torus(out, topology);
  if (!torus)
    return fail(ErrorKind::Usage, "--topology={}: {} has a torus of {} axes; write 4x2 or the like",
                topology, out.name, out.links.torus_axes);
  out.torus = *torus;
  return out;
}

Result<void> check_torus(const Machine& machine, const Module& module) {
  if (machine.torus == TorusShape()) return {};
  int64_t size = 1;
  for (int64_t axis : machine.torus) size *= axis;
  if (const int64_t devices = count_devices(module); devices > 1 && devices != size)
    return fail(ErrorKind::Usage, "the topology has {} devices, the module is for {}", size,
                devices);
  return {};
}

}  // namespace hilo::tools
