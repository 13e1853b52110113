// Device orders as digits: the number of a device, or of a position in a mesh, in a mixed radix.
#include <algorithm>

#include "ir/sharding/mesh_axes.h"

namespace hilo {

// From the minor digit on: the next one's stride is the first number behind the block that is known
// so far, and its size is how often the block repeats with that stride.
std::optional<SubAxes> find_digits(std::span<const int64_t> list) {
  const int64_t count = std::ssize(list);
  if (count == 0 || list[0] != 0) return std::nullopt;
  SubAxes out;
  for (int64_t block = 1; block < count;) {
    const int64_t stride = list[block];
    int64_t size = 1;
    while (size * block < count && list[size * block] == size * stride) ++size;
    if (stride < 1 || size * stride > count || count % (size * block) != 0 ||
        count % (size * stride) != 0)
      return std::nullopt;
    for (int64_t i = block; i < size * block; ++i)
      if (list[i] != i / block * stride + list[i % block]) return std::nullopt;
    const SubAxis digit{0, count / (size * stride), size};
    for (const SubAxis& other : out)
      if (axes_overlap(digit, other)) return std::nullopt;
    out.insert(out.begin(), digit);
    block *= size;
  }
  return out;
}

std::optional<SubAxes> over_mesh(const Mesh& mesh, std::span<const SubAxis> digits) {
  SubAxes out;
  for (const SubAxis& digit : digits) {
    const int64_t digit_end = digit.pre_size * digit.size;
    int64_t before = 1;
    for (size_t axis = 0; axis < mesh.axes.size(); before *= mesh.axes[axis++].size) {
      const int64_t size = mesh.axes[axis].size;
      const int64_t begin = std::max(digit.pre_size, before);
      const int64_t end = std::min(digit_end, before * size);
      if (begin >= end) continue;
      const SubAxis one{axis, begin / before, end / begin};
      if (begin % before != 0 || end % begin != 0 || size % (end / before) != 0)
        return std::nullopt;
      out.push_back(one);
    }
  }
  return merge_axes(out);
}

SubAxes digits_of(const Mesh& mesh, std::span<const SubAxis> axes) {
  SubAxes out;
  for (const SubAxis& axis : axes) {
    int64_t before = axis.pre_size;
    for (size_t i = 0; i < axis.axis; ++i) before *= mesh.axes[i].size;
    out.push_back({0, before, axis.size});
  }
  return merge_axes(out);
}

}  // namespace hilo
