#include "pass/shard/device_parts.h"

namespace hilo {

SubAxes axes_of(const Roles& roles, std::span<const size_t> factors) {
  SubAxes out;
  for (size_t factor : factors)
    out.insert(out.end(), roles.axes[factor].begin(), roles.axes[factor].end());
  return out;
}

Result<InstructionId> gathered_parts(OpPartition& op, const Shard& part, const SubAxes& axes) {
  LocalCode code = op.code();
  Dims with_group = code.dims(part.id);
  with_group.insert(with_group.begin(), 1);
  Dims dims = part.shape->dims;
  dims.insert(dims.begin(), axes_size(axes));
  AxisSharding each = part.sharding;
  each.dims.insert(each.dims.begin(), {merge_axes(axes)});
  AxisSharding all = each;
  all.dims[0].axes.clear();
  return op.partitioner().resharded({code.reshape(part.id, std::move(with_group)), std::move(each),
                                     Shape::array(part.shape->type, std::move(dims))},
                                    all);
}

double bytes_to_gather(OpPartition& op, const Roles& roles, const SubAxes& axes, int64_t last) {
  const auto others = static_cast<double>(axes_size(axes) - 1);
  double out = 0;
  size_t leaf = 0;
  for_each_leaf(op.shape(), [&](const Shape& shape, std::span<const int64_t>) {
    const DimensionFactors& factors = op.factors().results[leaf++];
    double bytes = others * bits_of(shape.type) / 8;
    for (size_t dim = 0; dim < shape.dims.size(); ++dim) {
      int64_t tiles = 1;
      for (size_t factor : factors[dim]) tiles *= axes_size(roles.axes[factor]);
      const bool is_last = last >= 0 && dim + 1 == shape.dims.size();
      bytes *= static_cast<double>(is_last ? last : (shape.dims[dim] + tiles - 1) / tiles);
    }
    out += bytes;
  });
  return out;
}

double bytes_to_gather(OpPartition& op, const Roles& roles, const SubAxes& axes) {
  return bytes_to_gather(op, roles, axes, -1);
}

}  // namespace hilo
