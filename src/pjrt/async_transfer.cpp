// Buffers that a client fills part by part.
#include <cstring>

#include "pjrt/buffer.h"
#include "pjrt/event.h"
#include "pjrt/functions.h"

namespace hilo::pjrt {
namespace {

struct Filled {
  SharedShape shape;  // with its layout
  std::shared_ptr<PromisedValue> promised = std::make_shared<PromisedValue>();
  Literal value;
  bool is_taken = false, is_done = false;
};

}  // namespace
}  // namespace hilo::pjrt

struct PJRT_AsyncHostToDeviceTransferManager {
  PJRT_Memory* memory;
  std::mutex mutex;  // of all below
  std::vector<hilo::pjrt::Filled> buffers;
};

namespace hilo::pjrt {
namespace {

using Manager = PJRT_AsyncHostToDeviceTransferManager;

Result<Filled*> buffer_at(Manager& manager, int32_t index) {
  if (index < 0 || static_cast<size_t>(index) >= manager.buffers.size())
    return fail(ErrorKind::Input, "no buffer {} is transferred; there are {}", index,
                manager.buffers.size());
  return &manager.buffers[static_cast<size_t>(index)];
}

Result<void> take_data(const PJRT_AsyncHostToDeviceTransferManager_TransferData_Args& args) {
  Manager& manager = *args.transfer_manager;
  std::shared_ptr<PromisedValue> complete;
  {
    const std::lock_guard lock(manager.mutex);
    HILO_TRY(Filled * buffer, buffer_at(manager, args.buffer_index));
    const int64_t bytes = literal_bytes(*buffer->shape), offset = args.offset,
                  size = args.transfer_size;
    if (buffer->is_done) return fail(ErrorKind::Input, "the buffer is complete");
    if (offset < 0 || size < 0 || offset > bytes || size > bytes - offset)
      return fail(ErrorKind::Input, "bytes [{}, {} + {}) of a buffer of {}", offset, offset, size,
                  bytes);
    HILO_DO(list_of(static_cast<const std::byte*>(args.data), static_cast<size_t>(size), "data"));
    if (size > 0)
      std::memcpy(buffer->value.mutable_raw().data() + offset, args.data,
                  static_cast<size_t>(size));
    if (args.is_last_transfer) {
      buffer->is_done = true;
      extend_narrow(buffer->value.mutable_raw(), buffer->shape->type);
      complete = buffer->promised;
      complete->value = std::move(buffer->value);
    }
  }
  if (complete) complete->ready.finish();
  return {};
}

}  // namespace

PJRT_Error* Client_CreateBuffersForAsyncHostToDevice(
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args) {
  return answer([&] -> Result<void> {
    auto manager = std::make_unique<Manager>();
    HILO_TRY(manager->memory, memory_of(args->client->local_devices.front(), args->memory));
    if (args->num_device_layouts != 0 && args->num_device_layouts != args->num_shape_specs)
      return fail(ErrorKind::Input, "{} layouts of {} buffers", args->num_device_layouts,
                  args->num_shape_specs);
    HILO_TRY(const auto specs, list_of(args->shape_specs, args->num_shape_specs, "shape_specs"));
    HILO_TRY(const auto layouts,
             list_of(args->device_layouts, args->num_device_layouts, "device_layouts"));
    for (size_t i = 0; i < specs.size(); ++i) {
      const PJRT_ShapeSpec& spec = specs[i];
      Filled& buffer = manager->buffers.emplace_back();
      HILO_TRY(buffer.shape, array_shape(spec.element_type, spec.dims, spec.num_dims));
      HILO_TRY(buffer.shape,
               laid_out(std::move(buffer.shape), layouts.empty() ? nullptr : layouts[i]));
      buffer.value = uninitialized(in_memory_order(buffer.shape), *args->client->host);
    }
    args->transfer_manager = manager.release();
    return {};
  });
}

// Who waits for what will never come is told.
PJRT_Error* AsyncHostToDeviceTransferManager_Destroy(
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args) {
  const std::unique_ptr<Manager> manager(args->transfer_manager);
  if (!manager) return nullptr;
  return answer([&] -> Result<void> {
    for (Filled& buffer : manager->buffers)
      if (!buffer.is_done && buffer.is_taken)
        buffer.promised->ready.finish(
            Error{ErrorKind::Interrupted, "the transfer was given up", {}});
    return {};
  });
}

PJRT_Error* AsyncHostToDeviceTransferManager_TransferData(
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args) {
  return answer([&] -> Result<void> {
    HILO_DO(take_data(*args));
    args->done_with_h2d_transfer = make_event();
    return {};
  });
}

PJRT_Error* AsyncHostToDeviceTransferManager_RetrieveBuffer(
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args) {
  return answer([&] -> Result<void> {
    Manager& manager = *args->transfer_manager;
    const std::lock_guard lock(manager.mutex);
    HILO_TRY(Filled * buffer, buffer_at(manager, args->buffer_index));
    if (buffer->is_taken) return fail(ErrorKind::Input, "the buffer has been retrieved already");
    args->buffer_out = make_buffer(DeviceBuffer(in_memory_order(buffer->shape), buffer->promised),
                                   manager.memory, kept_beside(buffer->shape));
    buffer->is_taken = true;
    return {};
  });
}

PJRT_Error* AsyncHostToDeviceTransferManager_Device(
    PJRT_AsyncHostToDeviceTransferManager_Device_Args* args) {
  args->device_out = args->transfer_manager->memory->device;
  return nullptr;
}

PJRT_Error* AsyncHostToDeviceTransferManager_BufferCount(
    PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args) {
  args->buffer_count = args->transfer_manager->buffers.size();
  return nullptr;
}

PJRT_Error* AsyncHostToDeviceTransferManager_BufferSize(
    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(const Filled* buffer, buffer_at(*args->transfer_manager, args->buffer_index));
    args->buffer_size = static_cast<size_t>(literal_bytes(*buffer->shape));
    return {};
  });
}

PJRT_Error* AsyncHostToDeviceTransferManager_SetBufferError(
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args) {
  return answer([&] -> Result<void> {
    Manager& manager = *args->transfer_manager;
    std::shared_ptr<PromisedValue> failed;
    {
      const std::lock_guard lock(manager.mutex);
      HILO_TRY(Filled * buffer, buffer_at(manager, args->buffer_index));
      if (buffer->is_done) return fail(ErrorKind::Input, "the buffer is complete");
      buffer->is_done = true;
      failed = buffer->promised;
    }
    failed->ready.finish(error_of(
        args->error_code, std::string(text(args->error_message, args->error_message_size))));
    return {};
  });
}

}  // namespace hilo::pjrt
