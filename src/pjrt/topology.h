// What devices there are, without the devices. Private to `pjrt`.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pjrt/error.h"

struct PJRT_DeviceDescription {
  int32_t id, process, local_id;  // local: among those of its process
  std::string kind, debug_text, text;
};

struct PJRT_TopologyDescription {
  explicit PJRT_TopologyDescription(std::span<const int64_t> devices_of_processes);

  std::vector<std::unique_ptr<PJRT_DeviceDescription>> owned;
  std::vector<PJRT_DeviceDescription*> descriptions;
  std::string serialized;
};

namespace hilo::pjrt {

// What the interface calls a platform: frameworks choose lowerings and callbacks by this name.
constexpr std::string_view platform_name = "cpu";
const std::string& platform_version();
constexpr int64_t max_devices = 4096;  // of a process, and of all together
struct ClientOptions {
  int64_t devices = 1;
  int64_t threads = 0;                 // of all devices together; 0: as many as there are cores
  std::string cache;                   // a folder for machine code; empty: none is kept
  int64_t processes = 1, process = 0;  // which have as many devices each; "num_nodes", "node_id"
  int64_t timeout = 300;               // seconds, for the other processes to come
  int64_t cache_bytes = 0;             // the most that the folder takes
};
// Of the options, else HILO_DEVICES, HILO_THREADS, HILO_CACHE, HILO_CACHE_SIZE and HILO_TIMEOUT of
// the environment.
// Usage for names that are not known and for what is no such number.
Result<ClientOptions> client_options(const PJRT_NamedValue* options, size_t count);

}  // namespace hilo::pjrt
