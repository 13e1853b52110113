// A client, its devices and their memories. Private to `pjrt`.
#pragma once

#include <deque>
#include <map>
#include <mutex>

#include "pjrt/processes.h"

// One of the kinds of memory of a device; all of them are this machine's.
struct PJRT_Memory {
  const PJRT_Memory_FunctionTable* vtable;
  int32_t id, kind_id;
  std::string_view kind;
  std::string debug_text;
  PJRT_Device* device;
  std::mutex mutex;  // of what clients attach
  std::map<const void*, std::shared_ptr<void>> user_data;
};

struct PJRT_Device {
  bool is_local() const { return !memories.empty(); }

  PJRT_Client* client;
  PJRT_DeviceDescription* description;
  std::vector<PJRT_Memory*> memories;  // the default one is first
  hilo::Stream stream = {};            // of runs that nobody waits for
};

struct PJRT_Client {
  PJRT_Client(const hilo::pjrt::ClientOptions& options, hilo::pjrt::ClientProcesses processes);
  int process_of(int64_t device) const;  // of one that there is

  std::shared_ptr<hilo::HostDevice> host;
  std::string cache;  // a folder for machine code; empty: none is kept
  hilo::pjrt::ClientProcesses processes;
  hilo::pjrt::SharedRuns shared_runs;
  PJRT_TopologyDescription topology;
  std::deque<PJRT_Device> owned_devices;
  std::deque<PJRT_Memory> owned_memories;
  std::vector<PJRT_Device*> devices;        // of all processes
  std::vector<PJRT_Device*> local_devices;  // of this one, which alone have memories
  std::vector<PJRT_Memory*> memories;
  mutable std::atomic_flag has_told_of_shardings;  // to a user, that programs are not partitioned
  int64_t cache_bytes;                             // the most that the folder takes
};

namespace hilo::pjrt {

// As frameworks call them; "device" is the default one.
std::span<const std::string_view> memory_kinds();
extern const PJRT_Memory_FunctionTable memory_functions;

}  // namespace hilo::pjrt
