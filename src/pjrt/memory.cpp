#include "pjrt/client.h"
#include "pjrt/functions.h"

namespace hilo::pjrt {
namespace {

constexpr std::string_view kinds[] = {"device", "pinned_host", "unpinned_host"};

void* user_data(PJRT_Memory* memory, const void* key) {
  const std::lock_guard lock(memory->mutex);
  const auto found = memory->user_data.find(key);
  return found == memory->user_data.end() ? nullptr : found->second.get();
}

void set_user_data(PJRT_Memory* memory, const void* key, void* data, void (*deleter)(void*)) {
  std::shared_ptr<void> old(data, [deleter](void* at) {
    if (deleter && at) deleter(at);
  });
  const std::lock_guard lock(memory->mutex);
  memory->user_data[key].swap(old);  // whose deleter runs without the lock
}

}  // namespace

std::span<const std::string_view> memory_kinds() { return kinds; }

const PJRT_Memory_FunctionTable memory_functions = {
    HILO_STRUCT_SIZE(PJRT_Memory_FunctionTable, set_user_data), nullptr, sizeof(PJRT_Memory),
    user_data, set_user_data};

PJRT_Error* Memory_Id(PJRT_Memory_Id_Args* args) {
  args->id = args->memory->id;
  return nullptr;
}

PJRT_Error* Memory_Kind(PJRT_Memory_Kind_Args* args) {
  args->kind = args->memory->kind.data();
  args->kind_size = args->memory->kind.size();
  return nullptr;
}

PJRT_Error* Memory_Kind_Id(PJRT_Memory_Kind_Id_Args* args) {
  args->kind_id = args->memory->kind_id;
  return nullptr;
}

PJRT_Error* Memory_DebugString(PJRT_Memory_DebugString_Args* args) {
  args->debug_string = args->memory->debug_text.c_str();
  args->debug_string_size = args->memory->debug_text.size();
  return nullptr;
}

PJRT_Error* Memory_ToString(PJRT_Memory_ToString_Args* args) {
  args->to_string = args->memory->debug_text.c_str();
  args->to_string_size = args->memory->debug_text.size();
  return nullptr;
}

PJRT_Error* Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args* args) {
  args->devices = &args->memory->device;
  args->num_devices = 1;
  return nullptr;
}

}  // namespace hilo::pjrt
