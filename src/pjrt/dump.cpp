#include "pjrt/dump.h"

#include <atomic>
#include <filesystem>

#include "text/text.h"
#include "wire/wire.h"

namespace hilo::pjrt {

Dump::Dump(std::string folder, std::string_view module_name) {
  static std::atomic<int> modules = 0;  // of this process, as XLA counts them
  if (folder.empty()) return;
  start_ = fmt::format("{}/module_{:04}.{}", folder, modules++, module_name);
}

Result<void> Dump::write(std::string_view stage, const Module& module) const {
  if (start_.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(start_).parent_path(), error);
  return write_file(fmt::format("{}.{}.txt", start_, stage), print(module));
}

}  // namespace hilo::pjrt
