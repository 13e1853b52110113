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

void merge_in_place(SubAxes& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool follows = i > 0 && axes[i - 1].axis == axes[i].axis &&
                         axes[i - 1].pre_size * axes[i - 1].size == axes[i].pre_size;
    if (axes[i].size != 1 && !follows) continue;
    axes = merge_axes(axes);
    return;
  }
}

// All but the last axis whole, and that one or the front of it.
bool is_prefix(std::span<const SubAxis> a, std::span<const SubAxis> of) {
  if (a.empty()) return true;
  if (a.size() > of.size()) return false;
  const size_t last = a.size() - 1;
  const SubAxis &end = a[last], &same = of[last];
  return std::ranges::equal(a.first(last), of.first(last)) && end.axis == same.axis &&
         end.pre_size == same.pre_size && end.size <= same.size && same.size % end.size == 0;
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

bool overlap_in_part(std::span<const SubAxis> a, std::span<const SubAxis> b) {
  const auto is_within = [](const SubAxis& x, const SubAxis& y) {
    return x.pre_size % y.pre_size == 0 && y.pre_size * y.size % (x.pre_size * x.size) == 0;
  };
  return std::ranges::any_of(a, [&](const SubAxis& x) {
    return std::ranges::any_of(b, [&](const SubAxis& y) {
      return axes_overlap(x, y) && !is_within(x, y) && !is_within(y, x);
    });
  });
}

bool overlaps_any(const SubAxis& axis, std::span<const SubAxis> axes) {
  return std::ranges::any_of(axes, [&](const SubAxis& other) { return axes_overlap(axis, other); });
}

}  // namespace hilo
