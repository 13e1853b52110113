#include <algorithm>

#include "shape/shape_value.h"

namespace hilo {
namespace {

std::string order_fault(const Dims& order, size_t rank) {
  if (order.size() != rank)
    return fmt::format("expected a layout of {} dimensions, found {}", rank, order.size());
  std::vector<bool> seen(rank);
  for (int64_t dim : order) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank) || seen[dim])
      return fmt::format("the layout is not a permutation of the {} dimensions", rank);
    seen[dim] = true;
  }
  return "";
}

std::string tile_fault(const Tile& tile) {
  if (tile.dims.empty()) return "a tile without dimensions";
  if (tile.dims.back() == Tile::combine) return "the last dimension of a tile cannot be combined";
  for (int64_t dim : tile.dims)
    if (dim <= 0 && dim != Tile::combine)
      return fmt::format("expected a positive tile dimension, found {}", dim);
  return "";
}

std::string split_fault(const SplitConfig& split, const Shape& shape) {
  if (split.dim < 0 || split.dim >= shape.rank())
    return fmt::format("a split of dimension {}, which there is not", split.dim);
  for (int64_t index : split.split_indices)
    if (index <= 0 || index >= shape.dims[split.dim])
      return fmt::format("the split index {} is not within dimension {}", index, split.dim);
  return "";
}

std::string array_fault(const Shape& shape) {
  const Layout& layout = shape.layout;
  if (std::string fault = order_fault(layout.minor_to_major, shape.dims.size()); !fault.empty())
    return fault;
  for (const Tile& tile : layout.tiles)
    if (std::string fault = tile_fault(tile); !fault.empty()) return fault;
  for (const SplitConfig& split : layout.split_configs)
    if (std::string fault = split_fault(split, shape); !fault.empty()) return fault;
  if (layout.tail_padding_alignment < 1)
    return fmt::format("expected a positive alignment, found {}", layout.tail_padding_alignment);
  if (const int64_t bits = layout.element_size_bits; bits != 0) {
    const int64_t needed = shape.type == ElementType::Pred ? 1 : bits_of(shape.type);
    if (bits < needed || bits > 128)
      return fmt::format("an element size of {} bits for {}", bits, text_of(shape.type));
  }
  if (layout.memory_space < 0) return fmt::format("a memory space of {}", layout.memory_space);
  return "";
}

}  // namespace

std::string layout_fault(const Shape& shape) {
  for (const Shape& element : shape.elements)
    if (std::string fault = layout_fault(element); !fault.empty()) return fault;
  return shape.is_array() && shape.has_layout ? array_fault(shape) : "";
}

}  // namespace hilo
