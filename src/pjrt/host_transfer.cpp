// Values between a client's memory and buffers.
#include <cstring>

#include "pjrt/buffer.h"
#include "pjrt/event.h"
#include "pjrt/functions.h"

namespace hilo::pjrt {
namespace {

// Below this a copy costs less than to remember whose memory it is and to tell when it is free.
constexpr int64_t worth_sharing_bytes = 4096;

// Code and routines take arrays at any address where an element may stand: a multiple of these
// bytes.
int64_t alignment_of(ElementType type) { return std::min<int64_t>(storage_bytes(type), 8); }
bool may_stand_at(const void* address, ElementType type) {
  return reinterpret_cast<uintptr_t>(address) % static_cast<uintptr_t>(alignment_of(type)) == 0;
}

bool may_be_shared(const PJRT_Client_BufferFromHostBuffer_Args& args, const Shape& shape,
                   std::span<const int64_t> strides) {
  return args.host_buffer_semantics >= PJRT_HostBufferSemantics_kImmutableZeroCopy &&
         literal_bytes(shape) >= worth_sharing_bytes && bits_of(shape.type) >= 8 &&
         are_dense(shape, strides) && may_stand_at(args.data, shape.type);
}

// Memory of a client, which is told when nobody looks at it any more.
Bytes shared_bytes(const void* data, const Event& done) {
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(data));  // guarded: nobody writes
  return Bytes(bytes, [done](std::byte*) { done.finish(); });
}

Result<void> make_from_host(PJRT_Client_BufferFromHostBuffer_Args& args) {
  HILO_TRY(PJRT_Memory * memory, memory_of(args.device, args.memory));
  HILO_TRY(SharedShape shape, array_shape(args.type, args.dims, args.num_dims));
  HILO_TRY(shape, laid_out(std::move(shape), args.device_layout));
  HILO_DO(list_of(static_cast<const std::byte*>(args.data),
                  static_cast<size_t>(literal_bytes(*shape)), "data"));
  HILO_TRY(const auto told, list_of(args.byte_strides, args.num_byte_strides, "byte_strides"));
  Dims strides = dense_strides(*shape);
  if (!told.empty()) {
    if (told.size() != args.num_dims)
      return fail(ErrorKind::Input, "{} has {} strides", to_string_without_layout(*shape),
                  told.size());
    strides.assign(told.begin(), told.end());
  }
  if (may_be_shared(args, *shape, strides)) {
    const Event done = Event::pending();
    Literal value = Literal::view(*in_memory_order(shape), shared_bytes(args.data, done));
    args.buffer = make_buffer(DeviceBuffer(std::move(value), true), memory, kept_beside(shape));
    args.done_with_host_buffer = make_event(done);
    return {};
  }
  Literal value = uninitialized(in_memory_order(shape), *args.client->host);
  copy_strided(*shape, value.mutable_raw().data(), strides_in_memory(*shape),
               static_cast<const std::byte*>(args.data), strides);
  extend_narrow(value.mutable_raw(), shape->type);
  args.buffer = make_buffer(DeviceBuffer(std::move(value)), memory, kept_beside(shape));
  args.done_with_host_buffer = make_event();
  return {};
}

// Copies when the value is there, and then tells the event.
Event copy_to_host(HeldValue held, const Event& ready,
                   const std::function<void(const Literal& value)>& copy) {
  if (held.is_there()) {
    Result<Literal> value = held.take();
    if (!value) return Event::failed(value.error());
    copy(*value);
    return {};
  }
  const Event done = Event::pending();
  ready.when_done([done, copy, held = std::make_shared<HeldValue>(std::move(held))](const Error*) {
    Result<Literal> value = held->take();
    if (value) copy(*value);
    if (value) done.finish();
    else done.finish(std::move(value).error());
  });
  return done;
}

Result<void> copy_whole(PJRT_Buffer_ToHostBuffer_Args& args) {
  const DeviceBuffer& buffer = args.src->buffer;
  const SharedShape shape = args.src->ordered ? args.src->ordered : buffer.shape();
  const auto bytes = static_cast<size_t>(literal_bytes(*shape));
  if (!args.dst) {
    args.dst_size = bytes;
    return {};
  }
  if (args.dst_size < bytes)
    return fail(ErrorKind::Input, "{} has {} bytes, and there is room for {}",
                to_string_without_layout(*shape), bytes, args.dst_size);
  HILO_TRY(const Dims strides, strides_of(*shape, args.host_layout));
  const Event ready = buffer.ready();
  HILO_TRY(HeldValue held, buffer.hold());
  auto* to = static_cast<std::byte*>(args.dst);
  args.event = make_event(copy_to_host(std::move(held), ready, [=](const Literal& value) {
    copy_strided(*shape, to, strides, value.raw().data(), strides_in_memory(*shape));
  }));
  return {};
}

}  // namespace

PJRT_Error* Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  return answer([&] { return make_from_host(*args); });
}

PJRT_Error* Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args* args) {
  return answer([&] { return copy_whole(*args); });
}

PJRT_Error* Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args* args) {
  return answer([&] -> Result<void> {
    const DeviceBuffer& buffer = args->buffer->buffer;
    const int64_t bytes = literal_bytes(*buffer.shape()), offset = args->offset,
                  size = args->transfer_size;
    if (offset < 0 || size < 0 || offset > bytes || size > bytes - offset)
      return fail(ErrorKind::Input, "bytes [{}, {} + {}) of a buffer of {}", offset, offset, size,
                  bytes);
    HILO_DO(list_of(static_cast<std::byte*>(args->dst), static_cast<size_t>(size), "dst"));
    const Event ready = buffer.ready();
    HILO_TRY(HeldValue held, buffer.hold());
    void* const to = args->dst;
    args->event = make_event(copy_to_host(std::move(held), ready, [=](const Literal& value) {
      if (size > 0) std::memcpy(to, value.raw().data() + offset, static_cast<size_t>(size));
    }));
    return {};
  });
}

PJRT_Error* Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args* args) {
  return answer([&] -> Result<void> {
    PJRT_Memory* const given =
        knows(args, &PJRT_Client_CreateViewOfDeviceBuffer_Args::memory) ? args->memory : nullptr;
    HILO_TRY(PJRT_Memory * memory, memory_of(args->device, given));
    HILO_TRY(SharedShape shape, array_shape(args->element_type, args->dims, args->num_dims));
    HILO_TRY(shape, laid_out(std::move(shape), args->layout));
    HILO_DO(list_of(static_cast<std::byte*>(args->device_buffer_ptr),
                    static_cast<size_t>(literal_bytes(*shape)), "device_buffer_ptr"));
    HILO_DO(check_whole_bytes(*shape));
    if (!may_stand_at(args->device_buffer_ptr, shape->type))
      // Frameworks look for this kind and these words, and then copy.
      return fail(ErrorKind::Input, "a view of {}: its address {} is not aligned to {} bytes",
                  to_string_without_layout(*shape), args->device_buffer_ptr,
                  alignment_of(shape->type));
    const auto end = [callback = args->on_delete_callback,
                      user = args->on_delete_callback_arg](std::byte* at) {
      if (callback) callback(at, user);
    };
    Bytes bytes(static_cast<std::byte*>(args->device_buffer_ptr), end);
    args->buffer =
        make_buffer(DeviceBuffer(Literal::view(*in_memory_order(shape), std::move(bytes)), true),
                    memory, kept_beside(shape));
    return {};
  });
}

PJRT_Error* Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(PJRT_Memory * memory, memory_of(args->device, args->memory));
    HILO_TRY(SharedShape shape,
             array_shape(args->shape_element_type, args->shape_dims, args->shape_num_dims));
    HILO_TRY(shape, laid_out(std::move(shape), args->shape_layout));
    args->buffer =
        make_buffer(DeviceBuffer(uninitialized(in_memory_order(shape), *args->client->host)),
                    memory, kept_beside(shape));
    return {};
  });
}

PJRT_Error* Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(PJRT_Memory * memory, memory_of(nullptr, args->memory));
    HILO_TRY(SharedShape shape,
             array_shape(args->shape_element_type, args->shape_dims, args->shape_num_dims));
    HILO_TRY(shape, laid_out(std::move(shape), args->shape_layout));
    auto promised = std::make_shared<PromisedValue>();
    promised->ready.finish(error_of(
        args->error_code, std::string(text(args->error_message, args->error_message_size))));
    args->buffer = make_buffer(DeviceBuffer(in_memory_order(shape), std::move(promised)), memory,
                               kept_beside(shape));
    return {};
  });
}

}  // namespace hilo::pjrt
