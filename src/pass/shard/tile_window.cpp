#include "pass/shard/tile_window.h"

#include <algorithm>
#include <limits>

namespace hilo {

InstructionId saturated_index(LocalCode& code, InstructionId index) {
  const ElementType type = code.type(index);
  const Dims dims = code.dims(index);
  using Limits = std::numeric_limits<int32_t>;
  const auto bound = [&](Op op, double number) {
    const InstructionId scalar = code.constant(scalar_of(type, number));
    index = code.binary(op, index, code.broadcast(scalar, dims, {}));
  };
  if (bits_of(type) > 32 && is_signed(type)) bound(Op::Maximum, Limits::min());
  if (bits_of(type) > 32 || type == ElementType::U32) bound(Op::Minimum, Limits::max());
  return code.convert(index, ElementType::S32);
}

bool has_small_dims(const Shape& shape) {
  for (size_t dim = 0; dim < shape.dims.size(); ++dim)
    if (shape.is_dynamic(dim) || shape.dims[dim] <= 0 ||
        shape.dims[dim] >= std::numeric_limits<int32_t>::max())
      return false;
  return true;
}

bool cuts_slices(const Shard& tile, std::span<const int64_t> sizes) {
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] != tile.shape->dims[dim] && tile_count(tile.sharding, dim) > 1) return true;
  return false;
}

TileWindow tile_window(OpPartition& op, const Shard& tile, std::span<const InstructionId> starts,
                       std::span<const int64_t> sizes) {
  LocalCode code = op.code();
  const Dims local = code.dims(tile.id);
  TileWindow out;
  for (size_t dim = 0; dim < local.size(); ++dim) {
    const int64_t whole = tile.shape->dims[dim];
    out.sizes.push_back(std::min(sizes[dim], local[dim]));
    out.shifts.emplace_back();
    if (sizes[dim] == whole) {
      out.starts.push_back(code.number(0));
      continue;
    }
    InstructionId start = saturated_index(code, starts[dim]);
    if (tile_count(tile.sharding, dim) > 1) {
      start = code.clamp(start, 0, whole - sizes[dim]);
      start = code.binary(Op::Subtract, start, op.offset(tile.sharding, tile.shape, dim));
      const InstructionId within = code.clamp(start, 0, local[dim] - out.sizes[dim]);
      out.shifts[dim] = code.binary(Op::Subtract, within, start);
      start = within;
    }
    out.starts.push_back(start);
  }
  return out;
}

}  // namespace hilo
