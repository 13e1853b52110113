#include "pass/shard/axis_lists.h"

#include <algorithm>

namespace hilo {

SubAxes shared_prefix(std::span<const SubAxis> a, std::span<const SubAxis> b) {
  SubAxes out;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) {
      out.push_back(a[i]);
      continue;
    }
    const int64_t smaller = std::min(a[i].size, b[i].size), larger = std::max(a[i].size, b[i].size);
    if (a[i].axis == b[i].axis && a[i].pre_size == b[i].pre_size && larger % smaller == 0)
      out.push_back({a[i].axis, a[i].pre_size, smaller});
    break;
  }
  return out;
}

bool is_prefix(std::span<const SubAxis> a, std::span<const SubAxis> of) {
  return std::ranges::equal(shared_prefix(a, of), a);
}

SubAxes behind_prefix(std::span<const SubAxis> list, std::span<const SubAxis> prefix) {
  if (prefix.empty()) return SubAxes(list.begin(), list.end());
  const SubAxis &last = prefix.back(), &same = list[prefix.size() - 1];
  SubAxes out;
  if (same.size > last.size)
    out.push_back({same.axis, last.pre_size * last.size, same.size / last.size});
  out.insert(out.end(), list.begin() + std::ssize(prefix), list.end());
  return out;
}

bool overlaps_any(const SubAxis& axis, std::span<const SubAxis> axes) {
  return std::ranges::any_of(axes, [&](const SubAxis& other) { return axes_overlap(axis, other); });
}

}  // namespace hilo
