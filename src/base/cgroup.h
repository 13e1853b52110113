// The part of the machine that control groups grant. Private to `base`.
#pragma once

#include <string>
#include <string_view>

namespace hilo {

// Processors' worth of time for the process whose /proc/self/cgroup says `membership`: the least
// of its group and those above it, with cgroups (v2, v1) mounted at `root`; a large number where
// nothing limits it. Files: cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us
// (docs.kernel.org/admin-guide/cgroup-v2.html, scheduler/sched-bwc.html).
double cgroup_cores(const std::string& root, std::string_view membership);

// Bytes that the groups leave to that process, likewise; pages of files that were not used lately
// count as left, for the kernel gives them back first. Files: memory.max and memory.current, or
// memory.limit_in_bytes and memory.usage_in_bytes; memory.stat.
double cgroup_memory(const std::string& root, std::string_view membership);

}  // namespace hilo
