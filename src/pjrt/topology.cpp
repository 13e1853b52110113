#include "pjrt/topology.h"

#include <charconv>
#include <cstdlib>

#include "pjrt/functions.h"
#include "pjrt/version.h"

namespace hilo::pjrt {
namespace {

constexpr int64_t max_devices = 4096;
constexpr std::string_view serialized_head = "hilo topology, devices: ";

Result<int64_t> sound_count(int64_t count, std::string_view from) {
  if (count < 1 || count > max_devices)
    return fail(ErrorKind::Usage, "{}: from 1 to {} devices are possible, not {}", from,
                max_devices, count);
  return count;
}

Result<int64_t> count_of(std::string_view digits, std::string_view from) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), count);
  if (error != std::errc() || end != digits.end())
    return fail(ErrorKind::Usage, "{}: '{}' is no number of devices", from, digits);
  return sound_count(count, from);
}

}  // namespace

const std::string& platform_version() {
  static const std::string out = fmt::format("hilo {}", version);
  return out;
}

Result<int64_t> device_count(std::span<const PJRT_NamedValue> options) {
  for (const PJRT_NamedValue& option : options) {
    const std::string_view name = text(option.name, option.name_size);
    if (name != "devices")
      return fail(ErrorKind::Usage, "no option of the client is called '{}'; there is: devices",
                  name);
    if (option.type == PJRT_NamedValue_kInt64) return sound_count(option.int64_value, name);
    if (option.type == PJRT_NamedValue_kString)
      return count_of(text(option.string_value, option.value_size), name);
    return fail(ErrorKind::Usage, "devices: a whole number was expected");
  }
  if (const char* said = std::getenv("HILO_DEVICES"); said && *said)
    return count_of(said, "HILO_DEVICES");
  return 1;
}

PJRT_Error* TopologyDescription_Create(PJRT_TopologyDescription_Create_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(const int64_t devices, device_count({args->create_options, args->num_options}));
    args->topology = new PJRT_TopologyDescription(devices);
    return {};
  });
}

PJRT_Error* TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args* args) {
  delete args->topology;
  return nullptr;
}

PJRT_Error* TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args* args) {
  args->platform_name = platform_name.data();
  args->platform_name_size = platform_name.size();
  return nullptr;
}

PJRT_Error* TopologyDescription_PlatformVersion(
    PJRT_TopologyDescription_PlatformVersion_Args* args) {
  args->platform_version = platform_version().c_str();
  args->platform_version_size = platform_version().size();
  return nullptr;
}

PJRT_Error* TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  args->descriptions = args->topology->descriptions.data();
  args->num_descriptions = args->topology->descriptions.size();
  return nullptr;
}

PJRT_Error* TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args* args) {
  args->serialized_bytes = args->topology->serialized.data();
  args->serialized_bytes_size = args->topology->serialized.size();
  args->serialized_topology = nullptr;  // the topology keeps it
  args->serialized_topology_deleter = [](PJRT_Holder*) {};
  return nullptr;
}

PJRT_Error* TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args* args) {
  return answer([&] -> Result<void> {
    const std::string_view bytes = text(args->serialized_topology, args->serialized_topology_size);
    if (!bytes.starts_with(serialized_head))
      return fail(ErrorKind::Format, "the bytes are no topology of Hilo");
    HILO_TRY(const int64_t devices,
             count_of(bytes.substr(serialized_head.size()), "a serialized topology"));
    args->topology = new PJRT_TopologyDescription(devices);
    return {};
  });
}

PJRT_Error* TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args* args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
  return nullptr;
}

PJRT_Error* TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args* args) {
  args->fingerprint = std::hash<std::string>()(args->topology->serialized + platform_version());
  return nullptr;
}

PJRT_Error* DeviceDescription_Id(PJRT_DeviceDescription_Id_Args* args) {
  args->id = args->device_description->id;
  return nullptr;
}

PJRT_Error* DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  args->process_index = 0;
  return nullptr;
}

PJRT_Error* DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args* args) {
  args->num_attributes = 0;
  args->attributes = nullptr;
  return nullptr;
}

PJRT_Error* DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args* args) {
  args->device_kind = args->device_description->kind.c_str();
  args->device_kind_size = args->device_description->kind.size();
  return nullptr;
}

PJRT_Error* DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args* args) {
  args->debug_string = args->device_description->debug_text.c_str();
  args->debug_string_size = args->device_description->debug_text.size();
  return nullptr;
}

PJRT_Error* DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args* args) {
  args->to_string = args->device_description->text.c_str();
  args->to_string_size = args->device_description->text.size();
  return nullptr;
}

}  // namespace hilo::pjrt

PJRT_TopologyDescription::PJRT_TopologyDescription(int64_t devices)
    : serialized(fmt::format("{}{}", hilo::pjrt::serialized_head, devices)) {
  for (int32_t id = 0; id < devices; ++id) {
    owned.push_back(std::make_unique<PJRT_DeviceDescription>(
        id, "Hilo CPU", fmt::format("HILO_CPU_{}", id), fmt::format("HiloCpuDevice(id={})", id)));
    descriptions.push_back(owned.back().get());
  }
}
