// Arrays in the order that a client has them.
#include <algorithm>
#include <cstring>
#include <ranges>

#include "pjrt/buffer.h"

namespace hilo::pjrt {
namespace {

template <class Element>
void copy_row(int64_t count, std::byte* to, int64_t to_stride, const std::byte* from,
              int64_t from_stride) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(Element));
}

using CopyRow = void (*)(int64_t, std::byte*, int64_t, const std::byte*, int64_t);
struct Sixteen {
  std::byte bytes[16];
};
CopyRow row_copier(int64_t element_bytes) {
  switch (element_bytes) {
    case 1: return copy_row<uint8_t>;
    case 2: return copy_row<uint16_t>;
    case 4: return copy_row<uint32_t>;
    case 8: return copy_row<uint64_t>;
    default: return copy_row<Sixteen>;
  }
}

// The shape in the order that a layout says.
Result<Shape> with_order(const Shape& shape, const PJRT_Buffer_MemoryLayout_Tiled& tiled) {
  if (tiled.num_tiles != 0) return fail(ErrorKind::Unsupported, "an array in tiles on a CPU");
  HILO_TRY(const auto order,
           list_of(tiled.minor_to_major, tiled.minor_to_major_size, "minor_to_major"));
  Shape out = shape;
  out.layout = {};
  out.layout.minor_to_major.assign(order.begin(), order.end());
  if (const std::string fault = layout_fault(out); !fault.empty())
    return fail(ErrorKind::Input, "{}", fault);
  return out;
}

}  // namespace

Dims order_of(const Shape& shape) {
  const bool is_plain = !shape.is_array() || !shape.has_layout || shape.layout.is_descending();
  return is_plain ? Dims() : shape.layout.minor_to_major;
}

Shape in_memory_order(const Shape& shape, std::span<const int64_t> minor_to_major) {
  Dims dims;
  for (int64_t dim : std::views::reverse(minor_to_major))
    dims.push_back(shape.dims[static_cast<size_t>(dim)]);
  return Shape::array(shape.type, std::move(dims));
}

SharedShape in_memory_order(const SharedShape& shape) {
  const Dims order = order_of(*shape);
  return order.empty() ? shape : std::make_shared<Shape>(in_memory_order(*shape, order));
}

SharedShape kept_beside(const SharedShape& shape) {
  return order_of(*shape).empty() ? nullptr : shape;
}

Dims dense_strides(const Shape& shape) {
  Dims out = row_major_strides(shape.dims);
  for (int64_t& stride : out) stride *= storage_bytes(shape.type);
  return out;
}

Dims strides_in(const Shape& shape, std::span<const int64_t> minor_to_major) {
  Dims out(shape.dims.size());
  int64_t stride = storage_bytes(shape.type);
  for (int64_t dim : minor_to_major) {
    out[static_cast<size_t>(dim)] = stride;
    stride *= shape.dims[static_cast<size_t>(dim)];
  }
  return out;
}

Dims strides_in_memory(const Shape& shape) {
  const Dims order = order_of(shape);
  return order.empty() ? dense_strides(shape) : strides_in(shape, order);
}

Result<Dims> strides_of(const Shape& shape, const PJRT_Buffer_MemoryLayout* layout) {
  if (!layout) return strides_in_memory(shape);
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    const auto& strides = layout->strides;
    if (strides.num_byte_strides != shape.dims.size())
      return fail(ErrorKind::Input, "{} has {} strides", to_string_without_layout(shape),
                  strides.num_byte_strides);
    HILO_TRY(const auto told,
             list_of(strides.byte_strides, strides.num_byte_strides, "byte_strides"));
    return Dims(told.begin(), told.end());
  }
  HILO_TRY(const Shape ordered, with_order(shape, layout->tiled));
  return strides_in(shape, ordered.layout.minor_to_major);
}

Result<SharedShape> laid_out(SharedShape shape, const PJRT_Buffer_MemoryLayout* layout) {
  if (!layout) return shape;
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
    HILO_TRY(Shape out, with_order(*shape, layout->tiled));
    return std::make_shared<Shape>(std::move(out));
  }
  HILO_TRY(const Dims strides, strides_of(*shape, layout));
  Shape out = *shape;
  std::ranges::stable_sort(out.layout.minor_to_major, {},
                           [&](int64_t dim) { return strides[static_cast<size_t>(dim)]; });
  if (!are_dense(out, strides))
    return fail(ErrorKind::Unsupported, "an array {} whose elements do not lie side by side",
                to_string_without_layout(*shape));
  return std::make_shared<Shape>(std::move(out));
}

bool are_dense(const Shape& shape, std::span<const int64_t> strides) {
  if (element_count(shape) == 0) return true;
  const Dims dense = strides_in_memory(shape);
  for (size_t dim = 0; dim < dense.size(); ++dim)
    if (shape.dims[dim] != 1 && strides[dim] != dense[dim]) return false;
  return true;
}

void copy_strided(const Shape& shape, std::byte* to, std::span<const int64_t> to_strides,
                  const std::byte* from, std::span<const int64_t> from_strides) {
  if (element_count(shape) == 0) return;
  if (are_dense(shape, to_strides) && are_dense(shape, from_strides)) {
    std::memcpy(to, from, static_cast<size_t>(literal_bytes(shape)));
    return;
  }
  const size_t last = shape.dims.size() - 1;  // a scalar is dense
  const Dims outer(shape.dims.begin(), shape.dims.end() - 1);
  const CopyRow copy = row_copier(storage_bytes(shape.type));
  Dims index(last, 0);
  do {
    int64_t to_offset = 0, from_offset = 0;
    for (size_t dim = 0; dim < last; ++dim) {
      to_offset += index[dim] * to_strides[dim];
      from_offset += index[dim] * from_strides[dim];
    }
    copy(shape.dims[last], to + to_offset, to_strides[last], from + from_offset,
         from_strides[last]);
  } while (next_index(index, outer));
}

void extend_narrow(std::span<std::byte> bytes, ElementType type) {
  const int others = 8 - bits_of(type);
  if (others <= 0) return;
  const bool has_sign = kind_of(type) == TypeKind::Signed;
  for (std::byte& value : bytes) {
    const std::byte high = value << others;
    value =
        has_sign ? static_cast<std::byte>(std::to_integer<int8_t>(high) >> others) : high >> others;
  }
}

}  // namespace hilo::pjrt
