#include "pass/collective/shares.h"

#include <algorithm>

namespace hilo {
namespace {

using ByStart = std::map<int64_t, Dims>;  // members, in the order of the group

ByStart members_by_start(const Dims& group, const Dims& starts) {
  ByStart out;
  for (int64_t device : group) out[starts[static_cast<size_t>(device)]].push_back(device);
  return out;
}

bool is_even(const ByStart& members, size_t starts, size_t each) {
  return members.size() == starts &&
         std::ranges::all_of(members, [&](const auto& one) { return one.second.size() == each; });
}

}  // namespace

std::optional<Share> find_share(const DeviceGroups& groups, const DeviceSlice& slice, size_t dim) {
  const Dims& starts = slice.starts[dim];
  if (groups.empty() || starts.empty()) return std::nullopt;
  const ByStart first = members_by_start(groups[0], starts);
  const size_t each = groups[0].size() / first.size();
  Share out{dim, slice.sizes[dim], std::ssize(first), {}, {}, {}, false};
  out.slots.resize(starts.size());
  for (const Dims& group : groups) {
    const ByStart members = members_by_start(group, starts);
    if (!is_even(members, first.size(), each)) return std::nullopt;
    Dims slots;
    for (const auto& [start, alike] : members) {
      slots.push_back(start);
      out.alike.push_back(alike);
    }
    for (size_t i = 0; i < each; ++i) {
      Dims& scattered = out.scattered.emplace_back();
      for (const auto& [start, alike] : members) scattered.push_back(alike[i]);
    }
    for (int64_t device : group) out.slots[static_cast<size_t>(device)] = slots;
  }
  out.in_order = out.scattered == groups;
  return out;
}

}  // namespace hilo
