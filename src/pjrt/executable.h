// Executables of the C API. Private to `pjrt`.
#pragma once

#include "pjrt/program.h"

struct PJRT_Layouts_MemoryLayout;

struct PJRT_Executable {
  std::shared_ptr<const hilo::pjrt::Program> program;
  std::vector<PJRT_Layouts_MemoryLayout*> parameter_layouts = {}, output_layouts = {};  // as shown
};

struct PJRT_LoadedExecutable {
  std::shared_ptr<const hilo::pjrt::Program> program;
  PJRT_Client* client;
  std::vector<PJRT_Device*> devices;  // of this process, in the order of argument lists
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  std::atomic<bool> is_deleted = false;
};

namespace hilo::pjrt {

// Input where the client has not the devices that the program is for.
Result<PJRT_LoadedExecutable*> load(PJRT_Client& client, std::shared_ptr<const Program> program);

}  // namespace hilo::pjrt
