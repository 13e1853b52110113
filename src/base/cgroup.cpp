#include "base/cgroup.h"

#include <algorithm>
#include <fstream>

namespace hilo {
namespace {

constexpr double no_limit = 1e18;

double number_in(const std::string& file) {
  double out = -1;
  return std::ifstream(file) >> out ? out : -1;  // "max" in v2, -1 in v1: no limit
}

double cores_of(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : no_limit;
}

double granted_v2(const std::string& group) {
  double quota = -1, period = -1;
  std::ifstream(group + "/cpu.max") >> quota >> period;
  return cores_of(quota, period);
}

double granted_v1(const std::string& group) {
  return cores_of(number_in(group + "/cpu.cfs_quota_us"), number_in(group + "/cpu.cfs_period_us"));
}

// Of "name number" on a line of its own; 0 where there is no such.
double number_named(const std::string& file, std::string_view name) {
  std::ifstream in(file);
  std::string found;
  double number = 0;
  while (in >> found >> number)
    if (found == name) return number;
  return 0;
}

double left(double limit, double used, double reclaimable) {
  return limit >= 0 && used >= 0 ? std::max(0.0, limit - std::max(0.0, used - reclaimable))
                                 : no_limit;
}

double left_v2(const std::string& group) {
  return left(number_in(group + "/memory.max"), number_in(group + "/memory.current"),
              number_named(group + "/memory.stat", "inactive_file"));
}

double left_v1(const std::string& group) {
  return left(number_in(group + "/memory.limit_in_bytes"),
              number_in(group + "/memory.usage_in_bytes"),
              number_named(group + "/memory.stat", "total_inactive_file"));
}

// Of the group and all above it. In a container the path may be one of the host's, which is not
// there; what is mounted is then the group itself.
double least(double (*granted)(const std::string&), const std::string& root, std::string path) {
  double out = granted(root);
  while (path.size() > 1) {
    out = std::min(out, granted(root + path));
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  return out;
}

bool has(std::string_view controllers, std::string_view controller) {
  while (!controllers.empty()) {
    const size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == controller) return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
  return false;
}

using Granted = double (*)(const std::string& group);

double min_over_groups(const std::string& root, std::string_view membership, const char* controller,
                       Granted v1, Granted v2) {
  double out = no_limit;
  while (!membership.empty()) {  // "0::/user.slice", "4:cpu,cpuacct:/docker/1f"
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) out = std::min(out, least(v2, root, path));
    if (!has(controllers, controller)) continue;
    out = std::min(out, least(v1, root + "/" + controllers, path));
    out = std::min(out, least(v1, root + "/" + controller, path));
  }
  return out;
}

}  // namespace

double cgroup_cores(const std::string& root, std::string_view membership) {
  return min_over_groups(root, membership, "cpu", granted_v1, granted_v2);
}

double cgroup_memory(const std::string& root, std::string_view membership) {
  return min_over_groups(root, membership, "memory", left_v1, left_v2);
}

}  // namespace hilo
