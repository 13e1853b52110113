#include "base/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>

#include "base/cgroup.h"

namespace hilo {
namespace {

constexpr const char* groups = "/sys/fs/cgroup";

std::string own_groups() {
  std::ifstream file("/proc/self/cgroup");
  return {std::istreambuf_iterator<char>(file), {}};
}

double available_in_system() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (long long kibibytes; std::sscanf(line.c_str(), "MemAvailable: %lld kB", &kibibytes) == 1)
      return 1024.0 * static_cast<double>(kibibytes);
  return std::numeric_limits<double>::infinity();
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  return std::max(
      1, static_cast<int>(std::min<double>(cores, std::ceil(cgroup_cores(groups, own_groups())))));
}

int64_t available_memory() {
  const double bytes = std::min(available_in_system(), cgroup_memory(groups, own_groups()));
  return bytes < 0x1p62 ? static_cast<int64_t>(bytes) : std::numeric_limits<int64_t>::max();
}

}  // namespace hilo
