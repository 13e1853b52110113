#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {
namespace {

constexpr int64_t pointer_bytes = 8;

bool is_unbounded(const Shape& shape) {
  return std::any_of(shape.dims.begin(), shape.dims.end(),
                     [](int64_t dim) { return dim == Shape::unbounded; }) ||
         std::any_of(shape.elements.begin(), shape.elements.end(), is_unbounded);
}

using Wide = __int128;  // sizes saturate at 2^60, so that sums may not fit in 64 bits

// Sums by moment of what begins to count there and, separately, of what ceases to.
struct Changes {
  std::vector<Wide> begins, ceases;
};

Changes changes_of(const Module& module, const Aliases& aliases, const Liveness& liveness) {
  const size_t moments = liveness.sequence.size() + 3;
  Changes out{std::vector<Wide>(moments), std::vector<Wide>(moments)};
  for (size_t i = 0; i < aliases.values.size(); ++i) {
    const LiveRange& range = liveness.ranges[i];
    if (range.start > range.end) continue;
    const InstructionId id = aliases.values[i].definition().instruction;
    const int64_t bytes = unpadded_bytes(module.shape(id), pointer_bytes);
    out.begins[static_cast<size_t>(range.start)] += bytes;
    out.ceases[static_cast<size_t>(range.end) + 1] += bytes;
  }
  return out;
}

bool has_unbounded(const Module& module, const Aliases& aliases, const Liveness& liveness) {
  std::vector<bool> seen(module.shapes.size());  // many values come from one wide shape
  for (uint32_t i = 0; i < aliases.values.size(); ++i) {
    const ShapeId shape = module[aliases.values[i].definition().instruction].shape;
    if (!liveness.has_range({i}) || seen[shape.value]) continue;
    seen[shape.value] = true;
    if (is_unbounded(module.shapes[shape])) return true;
  }
  return false;
}

int64_t moment_of_peak(const Changes& changes) {
  int64_t moment = 0;
  Wide most = 0, now = 0;
  for (size_t i = 0; i < changes.begins.size(); ++i) {
    now += changes.begins[i];
    if (now > most) most = now, moment = static_cast<int64_t>(i);
    now -= changes.ceases[i];
  }
  return moment;
}

}  // namespace

Peak find_peak(const Module& module, const Aliases& aliases, const Liveness& liveness) {
  Peak out;
  if (has_unbounded(module, aliases, liveness)) {
    out.moment = -1;
    return out;
  }
  out.moment = moment_of_peak(changes_of(module, aliases, liveness));
  std::vector<std::pair<int64_t, ValueId>> alive;
  for (uint32_t i = 0; i < aliases.values.size(); ++i) {
    const LiveRange& range = liveness.ranges[i];
    if (range.start > out.moment || range.end < out.moment) continue;
    alive.push_back({unpadded_bytes(shape_of(module, aliases.values[i]), pointer_bytes), {i}});
    if (__builtin_add_overflow(out.bytes, alive.back().first, &out.bytes)) out.bytes = INT64_MAX;
  }
  std::sort(alive.begin(), alive.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    const Position &x = aliases[a.second].definition(), &y = aliases[b.second].definition();
    const std::string_view name_x = module[x.instruction].name, name_y = module[y.instruction].name;
    return name_x != name_y ? name_x < name_y : x.index < y.index;
  });
  for (const auto& [bytes, value] : alive) out.values.push_back(value);
  return out;
}

}  // namespace hilo
