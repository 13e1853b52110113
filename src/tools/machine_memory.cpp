#include "tools/machine_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace hilo::tools {
namespace {

// The first number of a file of /sys, or -1 ("max").
int64_t read_number(const char* path) {
  long long value = -1;
  if (FILE* file = std::fopen(path, "r")) {
    if (std::fscanf(file, "%lld", &value) != 1) value = -1;
    std::fclose(file);
  }
  return value;
}

}  // namespace

int64_t available_memory() {
  int64_t available = INT64_MAX;
  if (FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    long long kib;
    while (std::fgets(line, sizeof line, file))
      if (std::sscanf(line, "MemAvailable: %lld kB", &kib) == 1) available = kib * 1024;
    std::fclose(file);
  }
  const int64_t limit = read_number("/sys/fs/cgroup/memory.max");
  const int64_t used = read_number("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) available = std::min(available, std::max<int64_t>(0, limit - used));
  return available;
}

std::string size_text(int64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, units[unit]);
}

Result<void> check_memory(int64_t needed, int64_t limit) {
  const int64_t most = limit > 0 ? limit : available_memory();
  if (needed <= most) return {};
  return fail(ErrorKind::Memory, "the run needs up to {}, and {} {}", size_text(needed),
              size_text(most), limit > 0 ? "is the limit (--memory-limit)" : "is available");
}

}  // namespace hilo::tools
