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

}  // namespace hilo::tools
