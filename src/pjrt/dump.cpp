#include "pjrt/dump.h"

#include <atomic>
#include <filesystem>

#include "pjrt/protobuf_fields.h"
#include "text/text.h"
#include "wire/wire.h"

namespace hilo::pjrt {

Dump::Dump(const DumpSettings& settings, std::string_view module_name) : settings_(settings) {
  static std::atomic<int> modules = 0;  // of this process, as XLA counts them
  if (settings.folder.empty()) return;
  start_ = fmt::format("{}/module_{:04}.{}", settings.folder, modules++, module_name);
}

Result<void> Dump::write(std::string_view stage, const Module& module) const {
  if (start_.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(start_).parent_path(), error);
  if (settings_.as_proto) {
    constexpr int64_t hlo_module = 1;
    HILO_TRY(const std::string bytes, write_hlo_proto(module));
    std::string proto;
    put_bytes_field(proto, hlo_module, bytes);
    HILO_DO(write_file(fmt::format("{}.{}.hlo.pb", start_, stage), proto));
  }
  if (settings_.as_proto && !settings_.as_text) return {};
  return write_file(fmt::format("{}.{}.txt", start_, stage), print(module));
}

}  // namespace hilo::pjrt
