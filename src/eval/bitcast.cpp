// bitcast: the same bytes in memory, read with another layout, shape or element type. Padding is
// zeros.
#include <algorithm>

#include "eval/convert.h"
#include "eval/physical.h"
#include "eval/strided_copy.h"

namespace hilo {
namespace {

// Physical dimensions, major to minor, without those of size 1, and the logical ones that they are.
struct PhysicalDims {
  Dims sizes, logical;
};
PhysicalDims physical_dims(const Shape& shape) {
  PhysicalDims out;
  const bool given = shape.has_layout;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t dim = given ? shape.layout.minor_to_major[shape.rank() - 1 - i] : i;
    if (shape.dims[dim] == 1) continue;
    out.sizes.push_back(shape.dims[dim]);
    out.logical.push_back(dim);
  }
  return out;
}

bool is_ascending(const Dims& dims) { return std::is_sorted(dims.begin(), dims.end()); }

// Whether tiles only pad at the end of dimensions that both shapes have alike.
bool same_tiles(const Shape& a, const Shape& b) {
  if (!a.has_layout || !b.has_layout) return !a.has_layout && !b.has_layout;
  // A tile over more dimensions than two counts positions of size-1 dimensions too.
  return a.layout.tiles == b.layout.tiles &&
         (a.layout.tiles.empty() || (a.rank() > 0 && b.rank() > 0));
}

// The minor-most `count` physical dimensions, those of size 1 included.
Dims tiled_dims(const Shape& shape) {
  size_t count = 0;
  for (const Tile& tile : shape.layout.tiles) count = std::max(count, tile.dims.size());
  Dims out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(
        i < shape.layout.minor_to_major.size() ? shape.dims[shape.layout.minor_to_major[i]] : 1);
  return out;
}

bool same_memory_order(const Shape& from, const Shape& to, const PhysicalDims& a,
                       const PhysicalDims& b) {
  if (!same_tiles(from, to)) return false;
  if (!from.has_layout || from.layout.tiles.empty()) return true;  // dense on both sides
  return a.sizes == b.sizes && tiled_dims(from) == tiled_dims(to);
}

// A dense array in physical order, from a row-major one.
Literal in_physical_order(const Call& call, const Literal& literal, const PhysicalDims& dims) {
  if (is_ascending(dims.logical)) return literal;
  const Dims strides = row_major_strides(literal.shape().dims);
  Dims from_strides;
  for (int64_t dim : dims.logical) from_strides.push_back(strides[dim]);
  Literal out = call.make_held(Shape::array(literal.type(), dims.sizes));
  copy_strided(call, storage_bytes(literal.type()), literal.raw().data(), out.mutable_raw().data(),
               {dims.sizes, from_strides, row_major_strides(dims.sizes), 0, 0});
  return out;
}

Literal from_physical_order(const Call& call, const Literal& physical, const PhysicalDims& dims,
                            const Shape& held) {
  if (is_ascending(dims.logical)) return physical.with_shape(held);
  Literal out = call.make_held(held);
  const Dims strides = row_major_strides(held.dims);
  Dims to_strides;
  for (int64_t dim : dims.logical) to_strides.push_back(strides[dim]);
  copy_strided(call, storage_bytes(held.type), physical.raw().data(), out.mutable_raw().data(),
               {dims.sizes, row_major_strides(dims.sizes), to_strides, 0, 0});
  return out;
}

// Whether any element of the first type is one of the second as it is stored.
bool are_elements(ElementType from, ElementType to, int64_t bits) {
  return from == to || (is_whole(from, bits) && is_whole(to, bits));
}

// By way of the bytes themselves: tiles, padding and element widths all count.
Literal through_memory(const Call& call, const Literal& literal, const Shape& from, const Shape& to,
                       const Shape& held) {
  const int64_t from_bits = physical_bits(from), to_bits = physical_bits(to);
  const int64_t from_count = physical_count(from), to_count = physical_count(to);
  const Bytes physical = to_physical(call, literal, from);
  if (from_bits == to_bits && are_elements(literal.type(), held.type, to_bits))
    return from_physical(call, physical.get(), std::min(from_count, to_count), to, held);
  const int64_t bytes = std::max(from_count * from_bits, to_count * to_bits) / 8 + 1;
  Literal packed = Literal::zeros(Shape::array(ElementType::U8, {bytes}));
  pack_bits(physical.get(), from_count, literal.type(), from_bits, packed.mutable_raw().data());
  Literal unpacked =
      call.make_held(Shape::array(ElementType::U8, {to_count * storage_bytes(held.type)}));
  unpack_bits(packed.raw().data(), to_count, held.type, to_bits, unpacked.mutable_raw().data());
  return from_physical(call, unpacked.raw().data(), to_count, to, held);
}

}  // namespace

Result<Literal> evaluate_Bitcast(Call& call) {
  const Shape& from = call.module.shape(call.module.operand(call.id, 0));
  const Shape& to = call.shape();
  if (!from.is_array() || !to.is_array()) return std::move(call.operands[0]);
  // Held bits mean nothing under another type: round first, and hold again after.
  const int64_t bits = physical_bits(from);
  const bool same_width = bits == physical_bits(to);
  const bool same_type = from.type == to.type && same_width;
  const Literal literal =
      same_type ? call.operands[0] : converted(call, call.operands[0], from.type);
  Shape exact = to;
  exact.type = same_type ? literal.type() : to.type;
  const PhysicalDims a = physical_dims(from), b = physical_dims(to);
  Literal out;
  if (same_width && are_elements(literal.type(), exact.type, bits) &&
      element_count(from) == element_count(to) && same_memory_order(from, to, a, b)) {
    const Literal physical = in_physical_order(call, literal, a);
    Shape reordered = Shape::array(exact.type, b.sizes);
    out = from_physical_order(call, physical.with_shape(reordered), b, exact);
  } else {  // padding may be many times the elements
    HILO_DO(call.need_memory(std::max(padded_bytes(from), padded_bytes(to))));
    out = through_memory(call, literal, from, to, exact);
  }
  return same_type ? out : converted(call, out, call.held(to.type));
}

}  // namespace hilo
