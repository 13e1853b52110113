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

TEST_F(Cgroup, MemoryLeftIsTheLeastOnTheWay) {
  EXPECT_GT(cgroup_memory(root_, "0::/a\n"), 1e17);
  write("a/memory.max", "max");
  write("a/memory.current", "5000");
  EXPECT_GT(cgroup_memory(root_, "0::/a\n"), 1e17);
  write("a/memory.max", "8000");
  write("a/b/memory.max", "4000");
  write("a/b/memory.current", "1500");
  EXPECT_DOUBLE_EQ(cgroup_memory(root_, "0::/a/b\n"), 2500);
  write("a/b/memory.current", "6000");
  EXPECT_DOUBLE_EQ(cgroup_memory(root_, "0::/a/b\n"), 0);
}

// A group that has read large files is full of their pages, but not out of memory.
TEST_F(Cgroup, PagesOfFilesAreLeft) {
  write("a/memory.max", "8000");
  write("a/memory.current", "7500");
  write("a/memory.stat", "anon 1000\ninactive_file 6000\nactive_file 500");
  EXPECT_DOUBLE_EQ(cgroup_memory(root_, "0::/a\n"), 6500);
  write("memory/a/memory.limit_in_bytes", "9000");
  write("memory/a/memory.usage_in_bytes", "7000");
  write("memory/a/memory.stat", "cache 1\ntotal_inactive_file 4000");
  EXPECT_DOUBLE_EQ(cgroup_memory(root_, "3:cpu:/a\n4:memory:/a\n"), 6000);
}

}  // namespace
}  // namespace hilo::test
