#include "pjrt/shards.h"

#include <algorithm>

#include "wire/wire.h"

namespace hilo::pjrt {
namespace {

// Of the whole: the elements in a device's shard, which has padding behind them where they are
// less.
ArrayBox box_of(const Cut& cut, int64_t device) {
  return cut.tiles ? cut.tiles->box_of(device)
                   : ArrayBox{Dims(cut.whole->dims.size(), 0), cut.whole->dims};
}

int64_t bytes_to(std::span<const int64_t> offset, std::span<const int64_t> strides) {
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
    out.is_even = out.is_even && dims[dim] * tile_count(axes, dim) == whole.dims[dim];
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
    const ArrayBox box = box_of(cut, static_cast<int64_t>(device));
    if (box.elements() == 0) continue;
    copy_strided(Shape::array(cut.whole->type, box.sizes), start + bytes_to(box.offset, strides),
                 strides, shards[device].raw().data(), shard_strides);
  }
  return out;
}

Literal take_shard(const Cut& cut, const Literal& whole, int64_t device, HostDevice& host) {
  if (!cut.tiles && !cut.ordered) return whole;
  Literal out = uninitialized(cut.held, host);
  const std::span<std::byte> bytes = out.mutable_raw();
  if (!cut.is_even) std::ranges::fill(bytes, std::byte{0});
  const ArrayBox box = box_of(cut, device);
  if (box.elements() == 0) return out;
  const Dims strides = dense_strides(*cut.whole);
  copy_strided(Shape::array(cut.whole->type, box.sizes), bytes.data(),
               strides_in_memory(*cut.shard), whole.raw().data() + bytes_to(box.offset, strides),
               strides);
  return out;
}

std::string sharding_message(const Sharding* sharding) {
  return sharding ? write_sharding_proto(*sharding) : std::string();
}

std::string listed_sharding_message(const Sharding* sharding) {
  if (!sharding || !sharding->iota) return sharding_message(sharding);
  Sharding out = *sharding;
  out.devices = out.iota->expand();
  out.iota.reset();
  return write_sharding_proto(out);
}

}  // namespace hilo::pjrt
