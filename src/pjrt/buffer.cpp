#include "pjrt/buffer.h"

#include <cstring>

#include "pjrt/event.h"
#include "pjrt/functions.h"
#include "pjrt/shown_list.h"

namespace hilo::pjrt {
namespace {

std::optional<ElementType> element_type(PJRT_Buffer_Type type) {
  switch (type) {
#define BUFFER_TYPE(name, number, element_type) \
  case PJRT_Buffer_Type_##name: return ElementType::element_type;
#include "pjrt/buffer_types.def"
#undef BUFFER_TYPE
  }
  return std::nullopt;
}

// The value's address, which nobody may move while a client has it. Others take several elements
// of fewer than 8 bits to a byte, and would read what is not there.
Result<std::byte*> address_of(const PJRT_Buffer& buffer) {
  HILO_DO(check_whole_bytes(buffer.shape()));
  HILO_TRY(HeldValue held, buffer.buffer.hold());
  HILO_TRY(const Literal value, held.take());
  return value.storage().get();
}

// The same value in another memory: all of them are this machine's, and values do not change.
Result<PJRT_Buffer*> copy_to(const PJRT_Buffer& from, PJRT_Memory* memory) {
  HILO_TRY(HeldValue held, from.buffer.hold());
  return make_buffer(DeviceBuffer(from.buffer.shape(), std::move(held)), memory, from.ordered);
}

}  // namespace

PJRT_Buffer_Type buffer_type(ElementType type) {
  switch (type) {
#define BUFFER_TYPE(name, number, element_type) \
  case ElementType::element_type: return PJRT_Buffer_Type_##name;
#include "pjrt/buffer_types.def"
#undef BUFFER_TYPE
    default: return PJRT_Buffer_Type_INVALID;
  }
}

Result<SharedShape> array_shape(PJRT_Buffer_Type type, const int64_t* dims, size_t rank) {
  HILO_TRY(const auto sizes, list_of(dims, rank, "dimensions"));
  const std::optional<ElementType> element = element_type(type);
  if (!element || !is_array(*element))
    return fail(ErrorKind::Input, "no array has the element type {}", static_cast<uint32_t>(type));
  auto out = std::make_shared<Shape>(Shape::array(*element, Dims(sizes.begin(), sizes.end())));
  for (int64_t dim : out->dims)
    if (dim < 0) return fail(ErrorKind::Input, "a dimension of {}", dim);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(*out), storage_bytes(*element), &bytes))
    return fail(ErrorKind::Limit, "{} has more bytes than can be counted",
                to_string_without_layout(*out));
  return out;
}

Result<PJRT_Memory*> memory_of(PJRT_Device* device, PJRT_Memory* memory) {
  if (memory) return memory;
  if (device && device->is_local()) return device->memories.front();
  if (device)
    return fail(ErrorKind::Input, "device {} is one of process {}", device->description->id,
                device->description->process);
  return fail(ErrorKind::Input, "a buffer is for a device or for a memory, and none is given");
}

Result<void> check_whole_bytes(const Shape& shape) {
  if (bits_of(shape.type) >= 8) return {};
  return fail(ErrorKind::Unsupported,
              "{} is not shared: its elements lie one to a byte, not in {} bits",
              to_string_without_layout(shape), bits_of(shape.type));
}

Literal uninitialized(const SharedShape& shape, HostDevice& host) {
  return Literal::uninitialized(shape, [&](int64_t bytes) { return host.allocate(bytes); });
}

PJRT_Buffer* make_buffer(DeviceBuffer buffer, PJRT_Memory* memory, SharedShape ordered) {
  return new PJRT_Buffer{std::move(buffer), memory->device, memory, std::move(ordered)};
}

PJRT_Error* Buffer_Destroy(PJRT_Buffer_Destroy_Args* args) {
  delete args->buffer;
  return nullptr;
}

PJRT_Error* Buffer_ElementType(PJRT_Buffer_ElementType_Args* args) {
  args->type = buffer_type(args->buffer->shape().type);
  return nullptr;
}

PJRT_Error* Buffer_Dimensions(PJRT_Buffer_Dimensions_Args* args) {
  const Dims& dims = args->buffer->shape().dims;
  args->dims = shown(dims);
  args->num_dims = dims.size();
  return nullptr;
}

PJRT_Error* Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args* args) {
  const Dims& dims = args->buffer->shape().dims;
  args->unpadded_dims = shown(dims);
  args->num_dims = dims.size();
  return nullptr;
}

PJRT_Error* Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
  args->dynamic_dim_indices = shown(std::vector<size_t>());
  args->num_dynamic_dims = 0;
  return nullptr;
}

PJRT_Error* Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  const Dims& order = args->buffer->shape().layout.minor_to_major;
  args->layout = {};
  args->layout.struct_size = HILO_STRUCT_SIZE(PJRT_Buffer_MemoryLayout, type);
  args->layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args->layout.tiled.struct_size = HILO_STRUCT_SIZE(PJRT_Buffer_MemoryLayout_Tiled, num_tiles);
  args->layout.tiled.minor_to_major = shown(order);
  args->layout.tiled.minor_to_major_size = order.size();
  return nullptr;
}

PJRT_Error* Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  const int64_t bytes = literal_bytes(args->buffer->shape());
  args->on_device_size_in_bytes = static_cast<size_t>(bytes);
  return nullptr;
}

PJRT_Error* Buffer_Device(PJRT_Buffer_Device_Args* args) {
  args->device = args->buffer->device;
  return nullptr;
}

PJRT_Error* Buffer_Memory(PJRT_Buffer_Memory_Args* args) {
  args->memory = args->buffer->memory;
  return nullptr;
}

PJRT_Error* Buffer_Delete(PJRT_Buffer_Delete_Args* args) {
  args->buffer->buffer.erase();
  return nullptr;
}

PJRT_Error* Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args* args) {
  args->is_deleted = args->buffer->buffer.is_deleted();
  return nullptr;
}

PJRT_Error* Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args* args) {
  args->is_on_cpu = true;
  return nullptr;
}

PJRT_Error* Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  return answer([&] -> Result<void> {
    args->event = make_event(args->buffer->buffer.ready());
    return {};
  });
}

PJRT_Error* Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(PJRT_Memory * memory, memory_of(args->dst_device, nullptr));
    HILO_TRY(args->dst_buffer, copy_to(*args->buffer, memory));
    return {};
  });
}

PJRT_Error* Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(args->dst_buffer, copy_to(*args->buffer, args->dst_memory));
    return {};
  });
}

PJRT_Error* Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(std::byte * address, address_of(*args->buffer));
    args->buffer_pointer = reinterpret_cast<uintptr_t>(address);
    return {};
  });
}

PJRT_Error* Buffer_OpaqueDeviceMemoryDataPointer(
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(args->device_memory_ptr, address_of(*args->buffer));
    return {};
  });
}

PJRT_Error* Buffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args* args) {
  if (args->buffer->buffer.add_reference()) return nullptr;
  return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "the array has been deleted or donated");
}

PJRT_Error* Buffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args* args) {
  if (args->buffer->buffer.drop_reference()) return nullptr;
  return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "the array has no external reference");
}

// Elements of fewer than 8 bits lie one to a byte here, and several where others think of bits.
static Result<void> check_bitcast(const Shape& from, const Shape& to) {
  const auto refused = [&](ErrorKind kind, std::string_view why) {
    return fail(kind, "{} is not seen as {}: {}", to_string_without_layout(from),
                to_string_without_layout(to), why);
  };
  if (std::min(bits_of(from.type), bits_of(to.type)) < 8) {
    if (bits_of(from.type) != bits_of(to.type) || element_count(from) != element_count(to))
      return refused(ErrorKind::Unsupported, "elements of fewer than 8 bits keep their number");
    return {};
  }
  if (literal_bytes(from) != literal_bytes(to))
    return refused(ErrorKind::Input, "they have not as many bytes");
  return {};
}

// The same bits as another type or in other dimensions; the buffer is given away for it.
PJRT_Error* Buffer_Bitcast(PJRT_Buffer_Bitcast_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(SharedShape shape, array_shape(args->element_type, args->dims, args->num_dims));
    HILO_TRY(shape, laid_out(std::move(shape), args->device_layout));
    HILO_DO(check_bitcast(args->buffer->shape(), *shape));
    HILO_TRY(HeldValue held, args->buffer->buffer.give_away());
    HILO_TRY(const Literal value, held.take());
    Literal seen = Literal::view(*in_memory_order(shape), value.storage());
    if (bits_of(shape->type) < 8) extend_narrow(seen.mutable_raw(), shape->type);
    args->out_buffer =
        make_buffer(DeviceBuffer(std::move(seen), true), args->buffer->memory, kept_beside(shape));
    return {};
  });
}

}  // namespace hilo::pjrt
