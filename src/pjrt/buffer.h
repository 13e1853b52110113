// Buffers of the C API. Private to `pjrt`.
#pragma once

#include "pjrt/client.h"

struct PJRT_Buffer {
  hilo::DeviceBuffer buffer;
  PJRT_Device* device;
  PJRT_Memory* memory;
  // Its dimensions and layout where it does not lie row by row: then the value has the dimensions
  // in the order of memory.
  hilo::SharedShape ordered = {};

  const hilo::Shape& shape() const { return ordered ? *ordered : *buffer.shape(); }
};

namespace hilo::pjrt {

PJRT_Buffer_Type buffer_type(ElementType type);
// Of a dense array in row-major order. Input where the type is unknown or a dimension negative,
// Limit where it has more bytes than can be counted.
Result<SharedShape> array_shape(PJRT_Buffer_Type type, const int64_t* dims, size_t rank);
// The shape with a layout that a client asks for; null: row by row. Input where it fits not,
// Unsupported for tiles, and for strides of no dense array.
Result<SharedShape> laid_out(SharedShape shape, const PJRT_Buffer_MemoryLayout* layout);
// Where a buffer is asked for: the memory where it is given, else the device's default one.
Result<PJRT_Memory*> memory_of(PJRT_Device* device, PJRT_Memory* memory);
// Whether memory can be shared with who lets elements of fewer than 8 bits lie side by side.
Result<void> check_whole_bytes(const Shape& shape);
PJRT_Buffer* make_buffer(DeviceBuffer buffer, PJRT_Memory* memory, SharedShape ordered = {});
// In memory of the host's; throws OutOfMemory.
Literal uninitialized(const SharedShape& shape, HostDevice& host);

// Dimensions, the most minor first; empty: row by row.
Dims order_of(const Shape& shape);
// The array that the memory holds: of f32[2,3]{0,1} it is f32[3,2].
Shape in_memory_order(const Shape& shape, std::span<const int64_t> minor_to_major);
// The same, and null where the array itself is that one: what a buffer keeps beside its value.
SharedShape in_memory_order(const SharedShape& shape);
SharedShape kept_beside(const SharedShape& shape);
// How far apart, in bytes, neighbours are along each dimension of a dense row-major array.
Dims dense_strides(const Shape& shape);
// The same of a dense array in another order, and in the order of its layout.
Dims strides_in(const Shape& shape, std::span<const int64_t> minor_to_major);
Dims strides_in_memory(const Shape& shape);
// The strides that a layout says; none given: those in memory. Unsupported for tiles.
Result<Dims> strides_of(const Shape& shape, const PJRT_Buffer_MemoryLayout* layout);
// Whether elements lie as in memory, dimensions of one element aside.
bool are_dense(const Shape& shape, std::span<const int64_t> strides);
void copy_strided(const Shape& shape, std::byte* to, std::span<const int64_t> to_strides,
                  const std::byte* from, std::span<const int64_t> from_strides);
// Elements of fewer than 8 bits, one in a byte: what a client has in the other bits says nothing,
// and becomes the sign's extension or zeros.
void extend_narrow(std::span<std::byte> bytes, ElementType type);

}  // namespace hilo::pjrt
