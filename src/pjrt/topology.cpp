#include "pjrt/topology.h"

#include <charconv>
#include <cstdlib>

#include "pjrt/functions.h"
#include "pjrt/version.h"

namespace hilo::pjrt {
namespace {

constexpr int64_t max_devices = 4096, max_threads = 4096;
constexpr std::string_view serialized_head = "hilo topology, devices: ";

// A number of devices or of threads.
struct Count {
  std::string_view what;
  int64_t min, max;
};
constexpr Count device_numbers = {"devices", 1, max_devices};
constexpr Count thread_numbers = {"threads", 0, max_threads};

Result<int64_t> sound_count(int64_t count, std::string_view from, const Count& of) {
  if (count < of.min || count > of.max)
    return fail(ErrorKind::Usage, "{}: from {} to {} {} are possible, not {}", from, of.min, of.max,
                of.what, count);
  return count;
}

Result<int64_t> count_of(std::string_view digits, std::string_view from, const Count& of) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), count);
  if (error != std::errc() || end != digits.end())
    return fail(ErrorKind::Usage, "{}: '{}' is no number of {}", from, digits, of.what);
  return sound_count(count, from, of);
}

Result<int64_t> count_of(const PJRT_NamedValue& option, const Count& of) {
  const std::string_view name = text(option.name, option.name_size);
  if (option.type == PJRT_NamedValue_kInt64) return sound_count(option.int64_value, name, of);
  if (option.type == PJRT_NamedValue_kString)
    return count_of(text(option.string_value, option.value_size), name, of);
  return fail(ErrorKind::Usage, "{}: a whole number was expected", name);
}

// Of the environment; empty where it is not set.
std::string_view variable(const char* name) {
  const char* said = std::getenv(name);
  return said ? said : "";
}

Result<ClientOptions> options_of_environment() {
  ClientOptions out;
  if (const std::string_view said = variable("HILO_DEVICES"); !said.empty()) {
    HILO_TRY(out.devices, count_of(said, "HILO_DEVICES", device_numbers));
  }
  if (const std::string_view said = variable("HILO_THREADS"); !said.empty()) {
    HILO_TRY(out.threads, count_of(said, "HILO_THREADS", thread_numbers));
  }
  out.cache = variable("HILO_CACHE");
  return out;
}

Result<void> use_option(const PJRT_NamedValue& option, ClientOptions& to) {
  const std::string_view name = text(option.name, option.name_size);
  if (name == "devices") {
    HILO_TRY(to.devices, count_of(option, device_numbers));
  } else if (name == "threads") {
    HILO_TRY(to.threads, count_of(option, thread_numbers));
  } else if (name == "cache" && option.type == PJRT_NamedValue_kString) {
    to.cache = text(option.string_value, option.value_size);
  } else if (name == "cache") {
    return fail(ErrorKind::Usage, "cache: the path of a folder was expected");
  } else {
    return fail(ErrorKind::Usage,
                "no option of the client is called '{}'; there is: devices, threads, cache", name);
  }
  return {};
}

}  // namespace

const std::string& platform_version() {
  static const std::string out = fmt::format("hilo {}", version);
  return out;
}

Result<ClientOptions> client_options(std::span<const PJRT_NamedValue> options) {
  HILO_TRY(ClientOptions out, options_of_environment());
  for (const PJRT_NamedValue& option : options) HILO_DO(use_option(option, out));
  return out;
}

PJRT_Error* TopologyDescription_Create(PJRT_TopologyDescription_Create_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(const ClientOptions options,
             client_options({args->create_options, args->num_options}));
    args->topology = new PJRT_TopologyDescription(options.devices);
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
    HILO_TRY(const int64_t devices, count_of(bytes.substr(serialized_head.size()),
                                             "a serialized topology", device_numbers));
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
