#include "pjrt/shards.h"

#include "wire/wire.h"

namespace hilo::pjrt {
namespace {

// Bytes from the start of the whole to a device's shard.
int64_t offset_of(const Cut& cut, std::span<const int64_t> strides, int64_t device) {
  if (!cut.tiles) return 0;
  const Dims offset = cut.tiles->box_of(device).offset;
  int64_t out = 0;
  for (size_t dim = 0; dim < offset.size(); ++dim) out += offset[dim] * strides[dim];
  return out;
}

Shape in_order_of(const Shape& shape, Dims dims) {
  Shape out = Shape::array(shape.type, std::move(dims));
  if (const Dims order = order_of(shape); !order.empty()) out.layout.minor_to_major = order;
  return out;
}

SharedShape row_by_row(const Shape& shape) {
  return std::make_shared<Shape>(Shape::array(shape.type, shape.dims));
}

void hold(Cut& cut, SharedShape shard) {
  cut.held = in_memory_order(shard);
  cut.ordered = kept_beside(shard);
  cut.shard = std::move(shard);
}

}  // namespace

Result<Cut> find_cut(const Shape& whole, const Sharding* sharding, int64_t devices) {
  Cut out;
  out.whole = std::make_shared<Shape>(whole.is_array() ? in_order_of(whole, whole.dims) : whole);
  hold(out, out.whole);
  if (!sharding || !whole.is_array()) return out;
  HILO_TRY(const AxisSharding axes,
           axis_sharding(*sharding, whole.dims.size(), flat_mesh(devices)));
  if (!axes.is_sharded()) return out;
  Dims dims = local_dims(whole.dims, axes);
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (const int64_t tiles = tile_count(axes, dim); dims[dim] * tiles != whole.dims[dim])
      return fail(ErrorKind::Unsupported, "{} is cut into {} along dimension {}",
                  to_string_without_layout(whole), tiles, dim);
  hold(out, std::make_shared<Shape>(in_order_of(whole, std::move(dims))));
  out.tiles.emplace(axes, whole.dims);
  return out;
}

Literal join_shards(const Cut& cut, std::span<const Literal> shards, HostDevice& host) {
  if (!cut.tiles && !cut.ordered) return shards[0];
  Literal out = uninitialized(row_by_row(*cut.whole), host);
  const Dims strides = dense_strides(*cut.whole), shard_strides = strides_in_memory(*cut.shard);
  std::byte* const start = out.mutable_raw().data();
  for (size_t device = 0; device < (cut.tiles ? shards.size() : 1); ++device) {
    const auto number = static_cast<int64_t>(device);
    copy_strided(*cut.shard, start + offset_of(cut, strides, number), strides,
                 shards[device].raw().data(), shard_strides);
  }
  return out;
}

Literal take_shard(const Cut& cut, const Literal& whole, int64_t device, HostDevice& host) {
  if (!cut.tiles && !cut.ordered) return whole;
  Literal out = uninitialized(cut.held, host);
  const Dims strides = dense_strides(*cut.whole);
  copy_strided(*cut.shard, out.mutable_raw().data(), strides_in_memory(*cut.shard),
               whole.raw().data() + offset_of(cut, strides, device), strides);
  return out;
}

std::string sharding_message(const Sharding* sharding) {
  return sharding ? write_sharding_proto(*sharding) : std::string();
}

}  // namespace hilo::pjrt
