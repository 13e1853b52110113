#include "pjrt/client.h"

#include "pjrt/buffer.h"
#include "pjrt/event.h"
#include "pjrt/functions.h"
#include "pjrt/named_values.h"
#include "pjrt/shown_list.h"

PJRT_Client::PJRT_Client(const hilo::pjrt::ClientOptions& options, hilo::pjrt::ClientProcesses all)
    : host(std::make_shared<hilo::HostDevice>(static_cast<int>(options.threads))),
      cache(options.cache),
      processes(std::move(all)),
      topology(processes.devices),
      cache_bytes(options.cache_bytes) {
  const auto kinds = hilo::pjrt::memory_kinds();
  for (PJRT_DeviceDescription* description : topology.descriptions) {
    PJRT_Device& device = owned_devices.emplace_back(this, description);
    devices.push_back(&device);
    if (description->process != processes.own) continue;
    local_devices.push_back(&device);
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      const auto id = static_cast<int32_t>(memories.size());
      PJRT_Memory& memory = owned_memories.emplace_back(
          &hilo::pjrt::memory_functions, id, static_cast<int32_t>(kind), kinds[kind],
          fmt::format("{} memory of device {}", kinds[kind], description->id), &device);
      device.memories.push_back(&memory);
      memories.push_back(&memory);
    }
  }
}

int PJRT_Client::process_of(int64_t device) const {
  return devices[static_cast<size_t>(device)]->description->process;
}

namespace hilo::pjrt {
namespace {

// The newest forms that `wire` reads: frameworks write no newer ones.
const std::vector<int64_t> newest_stablehlo = {1, 20, 0}, oldest_stablehlo = {0, 9, 0};

PJRT_Error* look_up(std::span<PJRT_Device* const> devices, int32_t id, PJRT_Device*& out) {
  if (id >= 0 && static_cast<size_t>(id) < devices.size()) {
    out = devices[static_cast<size_t>(id)];
    return nullptr;
  }
  out = nullptr;
  return make_error(PJRT_Error_Code_INVALID_ARGUMENT,
                    fmt::format("no device has the id {}; there are {}", id, devices.size()));
}

}  // namespace

PJRT_Error* Plugin_Initialize(PJRT_Plugin_Initialize_Args*) { return nullptr; }

PJRT_Error* Plugin_Attributes(PJRT_Plugin_Attributes_Args* args) {
  return answer([&] -> Result<void> {
    static const NamedValues* const attributes = [] {
      auto* out = new NamedValues;
      out->add("xla_version", int64_t{2});
      out->add("stablehlo_current_version", newest_stablehlo);
      out->add("stablehlo_minimum_version", oldest_stablehlo);
      return out;
    }();
    args->attributes = attributes->data();
    args->num_attributes = attributes->size();
    return {};
  });
}

PJRT_Error* Client_Create(PJRT_Client_Create_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(const ClientOptions options, client_options(args->create_options, args->num_options));
    HILO_TRY(ClientProcesses processes, find_processes(options, *args));
    args->client = new PJRT_Client(options, std::move(processes));
    return {};
  });
}

PJRT_Error* Client_Destroy(PJRT_Client_Destroy_Args* args) {
  delete args->client;
  return nullptr;
}

PJRT_Error* Client_PlatformName(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = platform_name.data();
  args->platform_name_size = platform_name.size();
  return nullptr;
}

PJRT_Error* Client_PlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  args->platform_version = platform_version().c_str();
  args->platform_version_size = platform_version().size();
  return nullptr;
}

PJRT_Error* Client_ProcessIndex(PJRT_Client_ProcessIndex_Args* args) {
  args->process_index = args->client->processes.own;
  return nullptr;
}

// What it tells is known sooner: connections of our own break.
PJRT_Error* Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args*) {
  return nullptr;
}

PJRT_Error* Client_TopologyDescription(PJRT_Client_TopologyDescription_Args* args) {
  args->topology = &args->client->topology;
  return nullptr;
}

PJRT_Error* Client_Devices(PJRT_Client_Devices_Args* args) {
  args->devices = args->client->devices.data();
  args->num_devices = args->client->devices.size();
  return nullptr;
}

PJRT_Error* Client_AddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  args->addressable_devices = args->client->local_devices.data();
  args->num_addressable_devices = args->client->local_devices.size();
  return nullptr;
}

PJRT_Error* Client_AddressableMemories(PJRT_Client_AddressableMemories_Args* args) {
  args->addressable_memories = args->client->memories.data();
  args->num_addressable_memories = args->client->memories.size();
  return nullptr;
}

PJRT_Error* Client_LookupDevice(PJRT_Client_LookupDevice_Args* args) {
  return look_up(args->client->devices, args->id, args->device);
}

PJRT_Error* Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args* args) {
  return look_up(args->client->local_devices, args->local_hardware_id, args->addressable_device);
}

// Partition by partition of each replica, in the order of the devices.
PJRT_Error* Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  return answer([&] -> Result<void> {
    const int64_t wanted = int64_t{args->num_replicas} * args->num_partitions;
    const auto there = static_cast<int64_t>(args->client->devices.size());
    if (args->num_replicas < 1 || args->num_partitions < 1 || wanted > there)
      return fail(ErrorKind::Input, "{} replicas of {} partitions do not fit {} devices",
                  args->num_replicas, args->num_partitions, there);
    HILO_TRY(const auto room, list_of(args->default_assignment, args->default_assignment_size,
                                      "default_assignment"));
    if (std::ssize(room) < wanted)
      return fail(ErrorKind::Input, "an assignment has {} entries, and there is room for {}",
                  wanted, room.size());
    for (int i = 0; i < wanted; ++i) room[static_cast<size_t>(i)] = i;
    return {};
  });
}

PJRT_Error* Device_GetDescription(PJRT_Device_GetDescription_Args* args) {
  args->device_description = args->device->description;
  return nullptr;
}

PJRT_Error* Device_IsAddressable(PJRT_Device_IsAddressable_Args* args) {
  args->is_addressable = args->device->is_local();
  return nullptr;
}

PJRT_Error* Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  args->local_hardware_id = args->device->description->local_id;
  return nullptr;
}

PJRT_Error* Device_AddressableMemories(PJRT_Device_AddressableMemories_Args* args) {
  args->memories = shown(args->device->memories);
  args->num_memories = args->device->memories.size();
  return nullptr;
}

PJRT_Error* Device_DefaultMemory(PJRT_Device_DefaultMemory_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(args->memory, memory_of(args->device, nullptr));
    return {};
  });
}

PJRT_Error* Device_GetAttributes(PJRT_Device_GetAttributes_Args* args) {
  args->attributes = shown(std::vector<PJRT_NamedValue>());
  args->num_attributes = 0;
  args->device_attributes = nullptr;
  args->attributes_deleter = [](PJRT_Holder*) {};
  return nullptr;
}

// All devices of a client are this machine, and share its blocks.
PJRT_Error* Device_MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  const MemoryUse use = args->device->client->host->memory_use();
  using Args = PJRT_Device_MemoryStats_Args;
  for (bool Args::* is_set :
       {&Args::bytes_limit_is_set, &Args::bytes_reserved_is_set, &Args::peak_bytes_reserved_is_set,
        &Args::bytes_reservable_limit_is_set, &Args::largest_free_block_bytes_is_set,
        &Args::peak_pool_bytes_is_set, &Args::peak_allocated_bytes_is_set})
    if (knows(args, is_set)) args->*is_set = false;
  args->bytes_in_use = use.bytes;
  const auto say = [](int64_t& to, bool& is_set, int64_t value) { to = value, is_set = true; };
  say(args->peak_bytes_in_use, args->peak_bytes_in_use_is_set, use.peak_bytes);
  say(args->num_allocs, args->num_allocs_is_set, use.allocations);
  say(args->largest_alloc_size, args->largest_alloc_size_is_set, use.largest_bytes);
  say(args->pool_bytes, args->pool_bytes_is_set, use.bytes + use.kept_bytes);
  const int64_t left = available_memory(), held = use.bytes + use.kept_bytes;
  if (left <= INT64_MAX - held) say(args->bytes_limit, args->bytes_limit_is_set, left + held);
  return nullptr;
}

PJRT_Error* Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args* args) {
  args->device->client->host->forget_peaks();
  return nullptr;
}

}  // namespace hilo::pjrt
