#include "pjrt/topology.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "compile/compile.h"
#include "pjrt/functions.h"
#include "pjrt/shown_list.h"
#include "pjrt/version.h"

namespace hilo::pjrt {
namespace {

constexpr int64_t max_threads = 4096, max_timeout = 1 << 20;
constexpr std::string_view serialized_head = "hilo topology, devices: ";

// A number of devices or of threads.
struct Count {
  std::string_view what;
  int64_t min, max;
};

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

// An option that is a number, where it is told, and what tells it in the environment.
struct NumberOption {
  std::string_view name;
  Count count;
  int64_t ClientOptions::* number;
  const char* variable;
};
constexpr NumberOption number_options[] = {
    {"devices", {"devices", 1, max_devices}, &ClientOptions::devices, "HILO_DEVICES"},
    {"threads", {"threads", 0, max_threads}, &ClientOptions::threads, "HILO_THREADS"},
    {"timeout", {"seconds", 1, max_timeout}, &ClientOptions::timeout, "HILO_TIMEOUT"},
    {"num_nodes", {"processes", 1, max_devices}, &ClientOptions::processes, nullptr},
    {"node_id", {"processes", 0, max_devices - 1}, &ClientOptions::process, nullptr},
    {"partition_index", {"slices", 0, max_devices}, nullptr, nullptr},  // all are one slice
};

Result<ClientOptions> options_of_environment() {
  ClientOptions out;
  for (const NumberOption& option : number_options)
    if (const std::string_view said = option.variable ? variable(option.variable) : "";
        !said.empty()) {
      HILO_TRY(out.*option.number, count_of(said, option.variable, option.count));
    }
  HILO_TRY(const CacheOptions cache, cache_of_environment());
  out.cache = cache.folder, out.cache_bytes = cache.max_bytes;
  return out;
}

Result<void> use_option(const PJRT_NamedValue& option, ClientOptions& to) {
  const std::string_view name = text(option.name, option.name_size);
  const auto* row = std::ranges::find(number_options, name, &NumberOption::name);
  if (row != std::end(number_options)) {
    HILO_TRY(const int64_t number, count_of(option, row->count));
    if (row->number) to.*row->number = number;
  } else if (name == "cache" && option.type == PJRT_NamedValue_kString) {
    to.cache = text(option.string_value, option.value_size);
  } else if (name == "cache") {
    return fail(ErrorKind::Usage, "cache: the path of a folder was expected");
  } else {
    return fail(ErrorKind::Usage,
                "no option of the client is called '{}'; there is: devices, threads, cache, "
                "timeout, num_nodes, node_id",
                name);
  }
  return {};
}

// Of each process, as a serialised topology has them.
Result<std::vector<int64_t>> devices_of_text(std::string_view text) {
  std::vector<int64_t> out;
  while (out.empty() || !text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    HILO_TRY(const int64_t devices,
             count_of(one, "a serialized topology", {"devices", 1, max_devices}));
    out.push_back(devices);
  }
  return out;
}

}  // namespace

const std::string& platform_version() {
  static const std::string out = fmt::format("hilo {}", version);
  return out;
}

Result<ClientOptions> client_options(const PJRT_NamedValue* options, size_t count) {
  HILO_TRY(const auto given_options, list_of(options, count, "create_options"));
  HILO_TRY(ClientOptions out, options_of_environment());
  for (const PJRT_NamedValue& option : given_options) HILO_DO(use_option(option, out));
  if (out.process >= out.processes)
    return fail(ErrorKind::Usage, "node_id: {} is none of {} processes", out.process,
                out.processes);
  return out;
}

PJRT_Error* TopologyDescription_Create(PJRT_TopologyDescription_Create_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(const ClientOptions options, client_options(args->create_options, args->num_options));
    const std::vector<int64_t> devices(static_cast<size_t>(options.processes), options.devices);
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
    HILO_TRY(const std::vector<int64_t> devices,
             devices_of_text(bytes.substr(serialized_head.size())));
    args->topology = new PJRT_TopologyDescription(devices);
    return {};
  });
}

PJRT_Error* TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args* args) {
  args->attributes = shown(std::vector<PJRT_NamedValue>());
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
  args->process_index = args->device_description->process;
  return nullptr;
}

PJRT_Error* DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args* args) {
  args->num_attributes = 0;
  args->attributes = shown(std::vector<PJRT_NamedValue>());
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

PJRT_TopologyDescription::PJRT_TopologyDescription(std::span<const int64_t> devices_of_processes)
    : serialized(
          fmt::format("{}{}", hilo::pjrt::serialized_head, fmt::join(devices_of_processes, " "))) {
  int32_t id = 0;
  for (size_t process = 0; process < devices_of_processes.size(); ++process)
    for (int32_t local_id = 0; local_id < devices_of_processes[process]; ++local_id, ++id) {
      const std::string where =
          devices_of_processes.size() > 1 ? fmt::format(", process_index={}", process) : "";
      owned.push_back(std::make_unique<PJRT_DeviceDescription>(
          id, static_cast<int32_t>(process), local_id, "Hilo CPU", fmt::format("HILO_CPU_{}", id),
          fmt::format("HiloCpuDevice(id={}{})", id, where)));
      descriptions.push_back(owned.back().get());
    }
}
