// Bitcasts: the elements in the order that they lie in memory, tiles included, seen in other
// dimensions and another order.
#include <algorithm>

#include "wire/stablehlo/exporter.h"

namespace hilo::mlir {
namespace {

// transpose by `order` (major to minor), reshape to `split`, transpose by `tiled` = as in memory.
struct MemoryOrder {
  Dims order, split, tiled;

  Dims dims() const {  // as they lie in memory
    Dims out;
    for (const int64_t axis : tiled) out.push_back(split[axis]);
    return out;
  }
};

Dims inverse(const Dims& permutation) {
  Dims out(permutation.size());
  for (size_t i = 0; i < out.size(); ++i) out[permutation[i]] = static_cast<int64_t>(i);
  return out;
}

Dims major_to_minor(const Shape& shape) {
  Dims out = shape.has_layout ? shape.layout.minor_to_major
                              : Layout::descending(shape.dims.size()).minor_to_major;
  std::ranges::reverse(out);
  return out;
}

// Axis `axis` becomes two: how many tiles, and the place within one.
void split_axis(MemoryOrder& memory, int64_t axis, int64_t tile) {
  memory.split[axis] /= tile;
  memory.split.insert(memory.split.begin() + axis + 1, tile);
  for (int64_t& one : memory.tiled) one += one > axis;
}

// None where tiles do not divide the dimensions: then there is padding in memory.
std::optional<MemoryOrder> memory_order(const Shape& shape) {
  MemoryOrder out{.order = major_to_minor(shape)};
  for (const int64_t dim : out.order) {
    out.tiled.push_back(static_cast<int64_t>(out.split.size()));
    out.split.push_back(shape.dims[dim]);
  }
  if (!shape.has_layout) return out;
  for (const Tile& tile : shape.layout.tiles) {
    const size_t count = tile.dims.size();
    if (count > out.tiled.size()) return {};
    Dims inner;
    for (size_t i = 0; i < count; ++i) {
      const int64_t axis = out.tiled[out.tiled.size() - count + i], size = tile.dims[i];
      if (size <= 0 || out.split[axis] % size != 0) return {};
      split_axis(out, axis, size);
      for (int64_t& one : inner) one += one > axis;
      inner.push_back(axis + 1);
    }
    out.tiled.insert(out.tiled.end(), inner.begin(), inner.end());
  }
  return out;
}

// Dimensions as they lie in memory but those of one element.
Dims long_dims(const Shape& shape) {
  Dims out;
  for (const int64_t dim : major_to_minor(shape))
    if (shape.dims[dim] != 1) out.push_back(shape.dims[dim]);
  return out;
}

Result<ValueId> moved(Site& site, const MemoryOrder& from, const MemoryOrder& to,
                      const Shape& shape) {
  HILO_TRY(ValueId value, site.transposed(site.leaves(0)[0], from.order));
  HILO_TRY(value, site.reshaped(value, from.split));
  HILO_TRY(value, site.transposed(value, from.tiled));
  HILO_TRY(value, site.reshaped(value, to.dims()));
  HILO_TRY(value, site.transposed(value, inverse(to.tiled)));
  Dims whole;
  for (const int64_t dim : to.order) whole.push_back(shape.dims[dim]);
  HILO_TRY(value, site.reshaped(value, std::move(whole)));
  return site.transposed(value, inverse(to.order));
}

MemoryOrder without_tiles(const Shape& shape) {
  Shape plain = shape;
  plain.layout.tiles.clear();
  return *memory_order(plain);
}

}  // namespace

Result<void> write_bitcast(Site& site) {
  const Shape& from = site.operand_shape(0);
  const Shape& to = site.shape();
  if (!from.is_array() || !to.is_array()) return write_same(site);
  if (from.has_dynamic_dims() || to.has_dynamic_dims())
    return site.unsupported("a bitcast of dynamic dimensions");
  if (bits_of(from.type) != bits_of(to.type))
    return site.unsupported("a bitcast between elements of different widths");
  for (const Shape* shape : {&from, &to})
    if (shape->has_layout && !layout_fault(*shape).empty())
      return fail(ErrorKind::Shape, "{}", layout_fault(*shape));
  // Equal dimensions lie alike where the tiles are the same; what pads them is in no element.
  const bool is_same_order = long_dims(from) == long_dims(to);
  const auto source = is_same_order ? std::optional(without_tiles(from)) : memory_order(from);
  const auto target = is_same_order ? std::optional(without_tiles(to)) : memory_order(to);
  if (!source || !target || element_count(from) != element_count(to))
    return site.unsupported("a bitcast that counts on what pads the tiles of its layouts");
  HILO_TRY(ValueId value, moved(site, *source, *target, to));
  if (from.type != to.type) {
    HILO_TRY(const TypeId type, site.exporter.type_of(to));
    HILO_TRY(const Leaves cast, site.emit("stablehlo.bitcast_convert", std::array{value}, {type}));
    value = cast[0];
  }
  site.give({value});
  return {};
}

}  // namespace hilo::mlir
