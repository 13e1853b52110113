// XLA's HloLiveRange::ToString: xla/hlo/utils/hlo_live_range.cc.
#include "report/stack_breakdown.h"

namespace hilo {

std::string live_range_text(const Module& module, const Aliases& aliases,
                            const Liveness& liveness) {
  std::string out =
      fmt::format("HloLiveRange (max {}):\n  InstructionSequence:\n", liveness.sequence.size());
  for (size_t i = 0; i < liveness.sequence.size(); ++i)
    out += fmt::format("    {}:{}\n", i, module[liveness.sequence[i]].name);
  out += "  BufferLiveRange:\n";
  for (uint32_t i = 0; i < aliases.values.size(); ++i) {
    const LiveRange& range = liveness.ranges[i];
    if (range.start <= range.end)
      out +=
          fmt::format("    {}:{}-{}\n", name_of(module, aliases.values[i]), range.start, range.end);
  }
  const Peak peak = find_peak(module, aliases, liveness);
  if (peak.moment < 0)
    return out + "  Peak memory could not be determined due to unbounded dynamic shape.\n";
  out += fmt::format("  Live ranges at {} (peak):\n", peak.moment);
  int64_t sum = 0;
  std::vector<std::pair<ValueId, int64_t>> sizes;
  for (ValueId value : peak.values) {
    const int64_t bytes = unpadded_bytes(shape_of(module, aliases[value]));
    sum += bytes;
    sizes.push_back({value, bytes});
    out += fmt::format("    {}: {} bytes (cumulative: {} bytes)\n", name_of(module, aliases[value]),
                       bytes, sum);
  }
  return out + stack_breakdown(module, aliases, sizes);
}

}  // namespace hilo
