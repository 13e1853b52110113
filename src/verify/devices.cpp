// Lists of devices: iota forms, meshes, plain numbers.
#include <algorithm>

#include "verify/report.h"

namespace hilo {
namespace {

constexpr size_t max_axes = 256;  // more have no use; names are compared each with each

// The product of positive sizes, or nothing when one is not positive or it is above `limit`.
std::optional<int64_t> bounded_product(std::span<const int64_t> sizes, int64_t limit) {
  int64_t out = 1;
  for (int64_t size : sizes)
    if (size < 1 || __builtin_mul_overflow(out, size, &out) || out > limit) return std::nullopt;
  return out;
}

}  // namespace

std::string iota_fault(const IotaDevices& iota, int64_t limit) {
  const auto count = bounded_product(iota.dims, limit);
  if (!count)
    return fmt::format("{} is not a list of at most {} devices", listed(iota.dims), limit);
  if (!iota.reshape.empty() && bounded_product(iota.reshape, limit) != count)
    return fmt::format("{} and {} are not as many devices", listed(iota.reshape),
                       listed(iota.dims));
  Dims order = iota.permutation;
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int64_t>(i) || order.size() != iota.dims.size())
      return fmt::format("{} is not a permutation of {} dimensions", listed(iota.permutation),
                         iota.dims.size());
  return "";
}

std::string mesh_fault(const Mesh& mesh, int64_t limit) {
  if (mesh.axes.size() > max_axes)
    return fmt::format("expected at most {} axes, found {}", max_axes, mesh.axes.size());
  Dims sizes;
  for (const MeshAxis& axis : mesh.axes) {
    sizes.push_back(axis.size);
    const auto same = [&](const MeshAxis& other) { return other.name == axis.name; };
    if (std::count_if(mesh.axes.begin(), mesh.axes.end(), same) > 1)
      return fmt::format("the mesh has two axes '{}'", axis.name);
  }
  const auto count = bounded_product(sizes, limit);
  if (!count) return fmt::format("the mesh {} has more than {} devices", listed(sizes), limit);
  if (mesh.device_iota) {
    if (const std::string fault = iota_fault(*mesh.device_iota, limit); !fault.empty())
      return fault;
    if (bounded_product(mesh.device_iota->dims, limit) != count)
      return fmt::format("expected {} device_ids in the mesh", *count);
  }
  if (mesh.device_ids.empty()) return "";
  if (static_cast<int64_t>(mesh.device_ids.size()) != *count)
    return fmt::format("expected {} device_ids in the mesh, found {}", *count,
                       mesh.device_ids.size());
  return numbers_fault(mesh.device_ids, limit, "device");
}

std::string axes_fault(const Mesh& mesh, std::span<const AxisRef> references) {
  if (references.size() > max_axes)
    return fmt::format("expected at most {} axes, found {}", max_axes, references.size());
  const auto axes = find_axes(mesh, references);
  if (!axes) return axes.error().message;
  const auto sound = check_axes(mesh, *axes);
  return sound ? "" : sound.error().message;
}

std::string numbers_fault(std::span<const int64_t> numbers, int64_t count, std::string_view what) {
  std::vector<bool> seen;
  for (int64_t number : numbers) {
    if (number < 0 || number >= count)
      return fmt::format("{} {} is not in [0, {})", what, number, count);
    if (seen.size() <= static_cast<size_t>(number)) seen.resize(number + 1);
    if (seen[number]) return fmt::format("{} {} stands twice", what, number);
    seen[number] = true;
  }
  return "";
}

}  // namespace hilo
