#include "base/cgroup.h"

#include <algorithm>
#include <fstream>

namespace hilo {
namespace {

constexpr double no_limit = 1e9;

double number_in(const std::string& file) {
  double out = -1;  // "max" in v2, and what v1 writes for no limit
  std::ifstream(file) >> out;
  return out;
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

bool has_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu") return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

double cgroup_cores(const std::string& root, std::string_view membership) {
  double out = no_limit;
  while (!membership.empty()) {  // "0::/user.slice", "4:cpu,cpuacct:/docker/1f"
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) out = std::min(out, least(granted_v2, root, path));
    if (!has_cpu(controllers)) continue;
    out = std::min(out, least(granted_v1, root + "/" + controllers, path));
    out = std::min(out, least(granted_v1, root + "/cpu", path));
  }
  return out;
}

}  // namespace hilo
