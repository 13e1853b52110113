// Buffers of the C API. Private to `pjrt`.
#pragma once

#include "pjrt/client.h"

struct PJRT_Buffer {
  hilo::DeviceBuffer buffer;
  PJRT_Device* device;
  PJRT_Memory* memory;
};

namespace hilo::pjrt {

PJRT_Buffer_Type buffer_type(ElementType type);
// Of a dense array in row-major order. Input where the type is unknown or a dimension negative,
// Limit where it has more bytes than can be counted.
Result<SharedShape> array_shape(PJRT_Buffer_Type type, const int64_t* dims, size_t rank);
// Where a buffer is asked for: the memory where it is given, else the device's default one.
Result<PJRT_Memory*> memory_of(PJRT_Device* device, PJRT_Memory* memory);
PJRT_Buffer* make_buffer(DeviceBuffer buffer, PJRT_Memory* memory);
// In memory of the host's; throws OutOfMemory.
Literal uninitialized(const SharedShape& shape, HostDevice& host);

// How far apart, in bytes, neighbours are along each dimension of a dense row-major array.
Dims dense_strides(const Shape& shape);
// The same of a dense array in another order.
Dims strides_in(const Shape& shape, std::span<const int64_t> minor_to_major);
// The strides that a layout says; none given: the dense ones. Unsupported for tiles.
Result<Dims> strides_of(const Shape& shape, const PJRT_Buffer_MemoryLayout* layout);
// Whether elements lie so, dimensions of one element aside.
bool are_dense(const Shape& shape, std::span<const int64_t> strides);
void copy_strided(const Shape& shape, std::byte* to, std::span<const int64_t> to_strides,
                  const std::byte* from, std::span<const int64_t> from_strides);

}  // namespace hilo::pjrt
