#include "tools/machine_memory.h"

#include "report/report.h"

namespace hilo::tools {

std::string size_text(int64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes >= uncountable_bytes) return "more than 1 EiB";
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, units[unit]);
}

std::string needed_text(int64_t bytes) {
  return (bytes >= uncountable_bytes ? "" : "up to ") + size_text(bytes);
}

Result<void> check_memory(int64_t needed, int64_t limit) {
  constexpr int64_t worth_a_look = int64_t{1} << 24;  // at what the system and its groups say
  if (limit == 0 && needed < worth_a_look) return {};
  const int64_t most = limit > 0 ? limit : available_memory();
  if (needed <= most) return {};
  return fail(ErrorKind::Memory, "the run needs {}, and {} {}", needed_text(needed),
              size_text(most), limit > 0 ? "is the limit (--memory-limit)" : "is available");
}

}  // namespace hilo::tools
