// What an order of a whole module takes at its fullest moment, as plan() would lay it out: results
// over operands that die, and buffers that rest between two of their values.
#include <algorithm>

#include "plan/packing.h"
#include "plan/schedule.h"

namespace hilo {

PeakMeter::PeakMeter(const Module& module, const Machine& machine, const Aliases& aliases)
    : module_(module),
      machine_(machine),
      facts_(classify(module, machine, aliases)),
      sizes_(sizes_of_values(module, machine, aliases)) {
  plan_.aliases = aliases;
}

MeasuredPeak PeakMeter::measure(const Schedule& schedule) {
  plan_.liveness = find_liveness(module_, plan_.aliases, schedule);
  const auto overlays = find_overlays(module_, plan_, facts_, sizes_, machine_, known_);
  std::vector<int64_t> changes(plan_.liveness.sequence.size() + 2, 0);
  for (Group& group : find_groups(plan_, facts_, sizes_, overlays, machine_)) {
    const Role role = facts_[group.members[0].buffer.value].role;
    if (role == Role::ThreadLocal || role == Role::Constant) continue;
    for (const Rectangle& part : rectangles_of({std::move(group.pieces)}, 0, 1)) {
      changes[static_cast<size_t>(part.start)] += part.bytes;
      changes[static_cast<size_t>(part.end) + 1] -= part.bytes;
    }
  }
  MeasuredPeak peak;
  int64_t alive = 0;
  for (size_t moment = 0; moment < plan_.liveness.sequence.size(); ++moment) {
    alive += changes[moment];
    if (alive > peak.bytes) peak = {alive, 0, plan_.liveness.sequence[moment]};
    peak.moments += alive == peak.bytes;
  }
  return peak;
}

}  // namespace hilo
