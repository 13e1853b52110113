// Limits of control groups as the kernel writes them, in folders of our own.
#include "base/cgroup.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace hilo::test {
namespace {

class Cgroup : public testing::Test {
 protected:
  Cgroup() {
    char name[] = "/tmp/hilo_cgroup_XXXXXX";
    root_ = mkdtemp(name);
  }
  ~Cgroup() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  std::string root_;
};

TEST_F(Cgroup, NoLimit) {
  EXPECT_GT(cgroup_cores(root_, "0::/user.slice\n"), 1e6);
  EXPECT_GT(cgroup_cores(root_, ""), 1e6);
  EXPECT_GT(cgroup_cores(root_, "no colons\n0:one\n"), 1e6);
  write("cpu.max", "max 100000");
  EXPECT_GT(cgroup_cores(root_, "0::/\n"), 1e6);
}

TEST_F(Cgroup, SecondVersionTakesTheLeastOnTheWay) {
  write("a/cpu.max", "150000 100000");
  write("a/b/cpu.max", "max 100000");
  write("a/b/c/cpu.max", "400000 50000");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_, "0::/a/b/c\n"), 1.5);
  EXPECT_GT(cgroup_cores(root_, "0::/other\n"), 1e6);
}

TEST_F(Cgroup, ThatOfAContainerIsMountedAsTheRoot) {
  write("cpu.max", "50000 100000");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_, "0::/docker/1f2e\n"), 0.5);
}

TEST_F(Cgroup, FirstVersionHasAPeriodOfItsOwn) {
  write("cpu,cpuacct/a/cpu.cfs_quota_us", "60000");
  write("cpu,cpuacct/a/cpu.cfs_period_us", "20000");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_, "3:memory:/a\n4:cpu,cpuacct:/a\n"), 3);
  write("cpu,cpuacct/a/cpu.cfs_quota_us", "-1");
  EXPECT_GT(cgroup_cores(root_, "4:cpu,cpuacct:/a\n"), 1e6);
}

}  // namespace
}  // namespace hilo::test
