// The CUDA backend with a driver that only counts: promises that can be checked without a GPU, and errors that a GPU
// does not produce on demand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>

#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/launch_list.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "tests/runtime/fake_driver.h"
#include "tests/runtime/gpu_programs.h"

namespace fourtune::runtime::cuda {
namespace {

using runtime::testing::direct_programs;

// Set before anything uses the driver.
const int chosen = use_fake_driver();

TEST_F(FakeDriver, TraitsAreThoseThatItTells) {
  ASSERT_EQ(chosen, 0);
  const auto device = Device::open(0);
  const DeviceTraits& traits = device->traits();
  EXPECT_EQ(traits.name, "Fake H200");
  EXPECT_EQ(traits.isa, "sm_90");
  EXPECT_EQ(traits.compute_capability, 90);
  EXPECT_EQ(traits.multiprocessors, 132);
  EXPECT_EQ(traits.shared_per_block, 232448);
  EXPECT_EQ(traits.cluster_blocks, 8);
  EXPECT_NEAR(traits.memory_bandwidth, 4.81e12, 1e10);
  EXPECT_EQ(failure([] { Device::open(1); }).first, Status::invalid_option);
}

TEST_F(FakeDriver, EveryHandleIsGivenBack) {
  {
    const auto device = Device::open(0);
    EXPECT_EQ(number("fake_retained"), 1);
    const DeviceMemory memory(device, 100);
    const LoadedKernel kernel(device, source(), image_);
    EXPECT_EQ(number("fake_allocations"), 1);
    EXPECT_EQ(number("fake_modules"), 1);
    EXPECT_EQ(kernel.resources().registers, 40);
  }
  for (const char* count : {"fake_retained", "fake_allocations", "fake_modules", "fake_pushed"})
    EXPECT_EQ(number(count), 0) << count;
}

TEST_F(FakeDriver, MemoryComesBackAsItWasSent) {
  const std::array<int, 3> sent{1, 2, 3};
  std::array<int, 3> back{};
  const DeviceMemory memory(Device::open(0), sizeof sent);
  memory.upload(sent.data(), sizeof sent);
  memory.download(back.data(), sizeof back);
  EXPECT_EQ(back, sent);
}

TEST_F(FakeDriver, ClustersAndSharedMemoryReachTheLaunch) {
  const auto device = Device::open(0);
  generator::KernelSource kernel = source();
  kernel.cluster = {2, 1, 1};
  kernel.shared_bytes = 100000;
  const LoadedKernel loaded(device, kernel, image_);
  const int before = number("fake_cluster_launches");
  loaded.launch({4, 1, 1}, nullptr, nullptr);
  EXPECT_EQ(number("fake_cluster_launches"), before + 1);
  EXPECT_EQ(number("fake_last_shared"), 100000);
  kernel.shared_bytes = 232449;
  const auto [status, words] = failure([&] { LoadedKernel(device, kernel, image_); });
  EXPECT_EQ(status, Status::unsupported);
  EXPECT_NE(words.find("232448"), std::string::npos) << words;
  EXPECT_EQ(number("fake_modules"), 1) << "a kernel that failed was not unloaded";
}

TEST_F(FakeDriver, BlocksOfThreeSizesReachTheLaunchWithAndWithoutAttributes) {
  const auto device = Device::open(0);
  for (const std::uint32_t blocks : {1u, 2u}) {
    generator::KernelSource kernel = source();
    kernel.block = {32, 4, 2};
    kernel.cluster = {blocks, 1, 1};
    LoadedKernel(device, kernel, image_).launch({4, 1, 1}, nullptr, nullptr);
    EXPECT_EQ(number("fake_last_block_x"), 32) << blocks;
    EXPECT_EQ(number("fake_last_block_y"), 4) << blocks;
    EXPECT_EQ(number("fake_last_block_z"), 2) << blocks;
  }
}

TEST_F(FakeDriver, AKernelThatMayOverlapIsLaunchedSo) {
  const auto device = Device::open(0);
  generator::KernelSource kernel = source();
  kernel.text = "extern \"C\" __global__ void tested() { dev_follow(); }";
  kernel.cluster = {2, 1, 1};
  const LoadedKernel alone(device, source(), image_), overlapping(device, kernel, image_);
  const int before = number("fake_overlapping"), clusters = number("fake_cluster_launches");
  alone.launch({4, 1, 1}, nullptr, nullptr);
  EXPECT_EQ(number("fake_overlapping"), before);
  overlapping.launch({4, 1, 1}, nullptr, nullptr);
  alone.launch({4, 1, 1}, nullptr, nullptr, true);
  EXPECT_EQ(number("fake_overlapping"), before);
  overlapping.launch({4, 1, 1}, nullptr, nullptr, true);
  EXPECT_EQ(number("fake_overlapping"), before + 1);
  EXPECT_EQ(number("fake_cluster_launches"), clusters + 2);
}

// Three launches of two kernels, with one argument each.
class FakeGraphs : public FakeDriver {
 protected:
  void add(const LoadedKernel& kernel, std::int64_t argument, std::uint32_t blocks = 1) {
    generator::Launch launch;
    launch.arguments = {argument};
    list_.add(kernel, {blocks, 1, 1}, gpu::LaunchArguments(launch, {}));
  }
  void run(std::int64_t third, bool alone = false, std::uint32_t blocks = 4) {
    const std::int64_t values[] = {1, 2, third};
    const LoadedKernel* kernels[] = {&first_, &second_, &first_};
    for (int i = 0; i < 3; ++i) add(*kernels[i], values[i], blocks);
    list_.start(nullptr, alone);
  }
  static generator::KernelSource overlapping(unsigned cluster) {
    generator::KernelSource kernel = source();
    kernel.text = "extern \"C\" __global__ void tested() { dev_follow(); }";
    kernel.cluster = {cluster, 1, 1};
    return kernel;
  }
  std::shared_ptr<const Device> device_ = Device::open(0);
  LoadedKernel first_{device_, overlapping(1), image_}, second_{device_, overlapping(2), image_};
  LaunchList list_;
};

TEST_F(FakeGraphs, LaunchesThatComeAgainBecomeOneGraph) {
  const int launches = number("fake_launches"), graphs = number("fake_graph_launches");
  const int updates = number("fake_node_updates"), edges = number("fake_overlapping_edges");
  const int overlapping = number("fake_overlapping");
  run(3);
  EXPECT_EQ(number("fake_launches"), launches + 3);
  EXPECT_EQ(number("fake_graph_launches"), graphs) << "a single call needs no graph";
  EXPECT_EQ(number("fake_overlapping"), overlapping + 2) << "the first launch follows what was there before";
  const int clusters = number("fake_cluster_launches");
  run(3);
  EXPECT_EQ(number("fake_launches"), launches + 6);
  EXPECT_EQ(number("fake_graph_launches"), graphs + 1);
  EXPECT_EQ(number("fake_overlapping_edges"), edges + 2);
  EXPECT_EQ(number("fake_cluster_launches"), clusters + 1);
  run(3);
  EXPECT_EQ(number("fake_node_updates"), updates) << "nothing has changed";
  run(4);
  EXPECT_EQ(number("fake_node_updates"), updates + 1) << "one argument has changed";
  run(4, false, 5);
  EXPECT_EQ(number("fake_node_updates"), updates + 4) << "all grids have changed";
  EXPECT_EQ(number("fake_graph_launches"), graphs + 4);
  run(4, true);
  EXPECT_EQ(number("fake_graph_launches"), graphs + 4) << "alone is alone";
  EXPECT_EQ(number("fake_launches"), launches + 18);
}

TEST_F(FakeGraphs, SequencesKeepGraphsOfTheirOwnAndTheOldestGoes) {
  const auto one = [&](int times) {
    for (int i = 0; i < times; ++i) add(first_, 1);
    list_.start(nullptr);
  };
  const int graphs = number("fake_graphs"), started = number("fake_graph_launches");
  for (int times = 1; times <= 6; ++times) one(times), one(times);
  EXPECT_EQ(number("fake_graphs"), graphs + 6);
  for (int times = 1; times <= 6; ++times) one(times);
  EXPECT_EQ(number("fake_graph_launches"), started + 12);
  one(7), one(7);  // replaces the graph of one launch
  EXPECT_EQ(number("fake_graphs"), graphs + 6);
  one(2);
  EXPECT_EQ(number("fake_graph_launches"), started + 14);
  one(1);
  EXPECT_EQ(number("fake_graph_launches"), started + 14);
}

TEST_F(FakeGraphs, WhatIsPreparedStartsAsAGraphAtOnce) {
  const int launches = number("fake_launches"), started = number("fake_graph_launches"), graphs = number("fake_graphs");
  std::int64_t value = 1;
  const auto add_both = [&] { add(first_, value), add(second_, value); };
  for (int i = 0; i < 2; ++i) add_both(), list_.prepare();
  EXPECT_EQ(number("fake_launches"), launches) << "nothing runs";
  EXPECT_EQ(number("fake_graphs"), graphs + 1);
  value = 2;
  add_both();
  list_.start(nullptr);
  EXPECT_EQ(number("fake_graph_launches"), started + 1);
  EXPECT_EQ(number("fake_graphs"), graphs + 1);
  number("fake_graph_result") = 801;
  add(first_, value);
  list_.prepare();
  add(first_, value);
  list_.start(nullptr);
  EXPECT_EQ(number("fake_graph_launches"), started + 1) << "where none can be made, launches start one by one";
}

TEST_F(FakeGraphs, WhereTheDriverMakesNoneLaunchesStartOneByOne) {
  const int launches = number("fake_launches"), graphs = number("fake_graph_launches");
  number("fake_graph_result") = 801;
  for (int i = 0; i < 3; ++i) run(3);
  EXPECT_EQ(number("fake_launches"), launches + 9);
  EXPECT_EQ(number("fake_graph_launches"), graphs);
}

TEST_F(FakeGraphs, ACallThatFailsLeavesNothingBehind) {
  run(3);
  number("fake_launch_result") = 999;
  EXPECT_EQ(failure([&] { run(3); }).first, Status::internal);
  number("fake_launch_result") = 0;
  const int launches = number("fake_launches");
  run(3);
  EXPECT_EQ(number("fake_launches"), launches + 3);
}

TEST_F(FakeDriver, ADriverOlderThanTheCompilerIsNamed) {
  number("fake_load_result") = 222;
  const auto [status, words] = failure([&] { LoadedKernel(Device::open(0), source(), image_); });
  EXPECT_EQ(status, Status::unsupported);
  for (const char* part : {"tested", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "CUDA 13.0", "older than the compiler"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in: " << words;
}

TEST_F(FakeDriver, MemoryThatIsNotThereIsNamedWithSizes) {
  number("fake_alloc_result") = 2;
  const auto [status, words] = failure([&] { DeviceMemory(Device::open(0), 999); });
  EXPECT_EQ(status, Status::out_of_memory);
  for (const char* part : {"999", "12345", "54321"}) EXPECT_NE(words.find(part), std::string::npos) << words;
}

TEST_F(FakeDriver, OtherErrorsCarryTheDriversWords) {
  const auto device = Device::open(0);
  const LoadedKernel kernel(device, source(), image_);
  number("fake_launch_result") = 701;
  EXPECT_EQ(failure([&] { kernel.launch({1, 1, 1}, nullptr, nullptr); }).first, Status::unsupported);
  number("fake_launch_result") = 999;
  const auto [status, words] = failure([&] { kernel.launch({1, 1, 1}, nullptr, nullptr); });
  EXPECT_EQ(status, Status::internal);
  EXPECT_NE(words.find("launching kernel tested: CUDA_ERROR_FAKE (words of the driver)"), std::string::npos) << words;
}

// An illegal address is reported by the next call that waits, and by every later call.
TEST_F(FakeDriver, ALostContextIsNamedByEveryCallAndEverythingCanStillBeDestroyed) {
  const int kernels = number("fake_modules"), arrays = number("fake_allocations");
  {
    const auto device = Device::open(0);
    const LoadedKernel kernel(device, source(), image_);
    DeviceMemory memory(device, 100);
    const CudaBackend backend(direct_programs());
    const auto arrays_of_backend = backend.memory(0);
    void* const array = arrays_of_backend->allocate(64);
    for (const int code : {700, 716, 719}) {
      number("fake_lost_result") = code;
      char host[64] = {};
      const std::function<void()> calls[] = {[&] {
                                               kernel.launch({1, 1, 1}, nullptr, nullptr);
                                             },
                                             [&] { arrays_of_backend->wait(); },
                                             [&] { arrays_of_backend->upload(array, host, 64); },
                                             [&] { arrays_of_backend->download(host, array, 64); },
                                             [&] { DeviceMemory(device, 8); },
                                             [&] { LoadedKernel(device, source(), image_); }};
      for (const auto& call : calls) {
        const auto [status, words] = failure(call);
        EXPECT_EQ(status, Status::backend_unavailable) << words;
        EXPECT_NE(words.find("context is lost"), std::string::npos) << words;
      }
      EXPECT_EQ(number("fake_pushed"), 0);
    }
    arrays_of_backend->release(array);
  }
  EXPECT_EQ(number("fake_modules"), kernels);
  EXPECT_EQ(number("fake_allocations"), arrays);
}

TEST_F(FakeDriver, PartsOfAnArrayCanBeLookedAt) {
  const CudaBackend backend(direct_programs());
  const auto memory = backend.memory(0);
  auto* const array = static_cast<char*>(memory->allocate(64));
  char host[64] = {}, part[8] = {};
  for (int i = 0; i < 64; ++i) host[i] = static_cast<char>(i);
  memory->upload(array, host, 64);
  memory->download(part, array + 24, 8);
  EXPECT_EQ(part[0], 24);
  EXPECT_EQ(part[7], 31);
  memory->release(array);
}

TEST(MissingNvrtc, IsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("FOURTUNE_NVRTC", "/nowhere/libnvrtc.so", 1);
        try {
          compile(generator::KernelSource{}, 90);
        } catch (const Error& error) {
          const std::string words = error.what();
          std::exit(error.status() == Status::backend_unavailable && words.find("/nowhere") != words.npos ? 0 : 1);
        }
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fourtune::runtime::cuda
