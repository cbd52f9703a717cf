// How many threads are usable: tested with trees of control groups as files in a folder, and with the environment.
#include "base/usable_threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "fourtune/device_traits.h"

namespace fourtune {
namespace {

namespace fs = std::filesystem;

class Quota : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "quota-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  int quota() const { return quota_threads(root_); }
  fs::path root_;
};

TEST_F(Quota, IsNoneWithoutControlGroups) { EXPECT_EQ(quota(), 0); }

TEST_F(Quota, OfVersion2IsRoundedUp) {
  write("proc/self/cgroup", "0::/user/job\n");
  write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
  for (const auto& [text, threads] : {std::pair{"100000 100000\n", 1},
                                      {"100001 100000\n", 2},
                                      {"150000 100000\n", 2},
                                      {"200000 100000\n", 2},
                                      {"10000 100000\n", 1},
                                      {"800000 50000\n", 16}}) {
    write("sys/fs/cgroup/user/job/cpu.max", text);
    EXPECT_EQ(quota(), threads) << text;
  }
}

TEST_F(Quota, OfVersion2IsTheLeastOnTheWayUp) {
  write("proc/self/cgroup", "0::/a/b/c\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "600000 100000\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
  write("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(Quota, OfVersion1IsReadFromEitherFolder) {
  write("proc/self/cgroup", "12:memory:/m\n4:cpu,cpuacct:/docker/x\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3);
  write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(Quota, OfAContainerIsAtTheMountsRoot) {
  write("proc/self/cgroup", "4:cpu:/docker/long-number\n0::/../../elsewhere\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 4);
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

// A path that begins with ".." is that of a group outside the visible tree; what lies there is not ours.
TEST_F(Quota, OfAGroupOutsideTheMountIsNotRead) {
  write("proc/self/cgroup", "0::/../../elsewhere\n");
  write("sys/elsewhere/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
}

TEST_F(Quota, DamagedFilesAreNoQuota) {
  write("proc/self/cgroup", "nonsense\n::\n0::/a\n4:cpu:\n");
  for (const char* text :
       {"", "\n", "x 100000\n", "100000\n", "100000 0\n", "0 100000\n", "-5 100000\n", "99999999999999999999 1\n"}) {
    write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(quota(), 0) << text;
  }
}

TEST(UsableThreads, FirstNumberOfAList) {
  EXPECT_EQ(first_of_list(nullptr), 0);
  for (const auto& [text, number] : {std::pair{"4", 4},
                                     {"8,4,2", 8},
                                     {" 3 ", 3},
                                     {"", 0},
                                     {"0", 0},
                                     {"-2", 0},
                                     {"many", 0},
                                     {",4", 0},
                                     {"99999999999", 0}})
    EXPECT_EQ(first_of_list(text), number) << text;
}

TEST(UsableThreads, FollowTheEnvironmentAndAffinity) {
  ::unsetenv("OMP_NUM_THREADS");
  ::unsetenv("OMP_THREAD_LIMIT");
  const int here = usable_threads();
  EXPECT_GE(here, 1);
  EXPECT_EQ(cpu_traits().cores, here);
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) {
    ::setenv(name, "1", 1);
    EXPECT_EQ(usable_threads(), 1) << name;
    ::setenv(name, "100000", 1);
    EXPECT_EQ(usable_threads(), here) << name;
    ::unsetenv(name);
  }
  std::thread([here] {
    cpu_set_t allowed, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      CPU_SET(cpu, &one);
      break;
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_threads(), 1);
  }).join();
  EXPECT_EQ(usable_threads(), here);
}

}  // namespace
}  // namespace fourtune
