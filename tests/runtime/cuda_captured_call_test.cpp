// Calls of a library as graphs, with a driver that only counts (fake_cuda_driver.c).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "runtime/backends/cuda/captured_call.h"
#include "tests/runtime/fake_driver.h"

namespace fourtune::runtime::cuda {
namespace {

// Set before anything uses the driver.
const int chosen = use_fake_driver();

// A call of one kernel that takes an address in the input, and in a structure one in the output, a number, and the
// input.
class CapturedCallTest : public FakeDriver {
 protected:
  struct Structure {
    std::uint64_t out = 0, number = 0, in = 0;
  };
  void SetUp() override {
    ASSERT_EQ(chosen, 0);
    FakeDriver::SetUp();
    number("fake_captures") = 1;
  }
  static std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }
  void launch(const void* in, const void* out, CUstream stream) {
    ++calls_;
    if (fails_) throw std::runtime_error("the library fails");
    std::uint64_t first = address(in) + 16;
    Structure second{address(out) + 64, number_, address(in)};
    if (counts_) ++number_;
    if (shifts_) second.number = address(in) / 2;
    std::array<void*, 2> arguments{&first, &second};
    driver().cuLaunchKernel(kernel_.function(), 3, 1, 1, 64, 1, 1, 0, stream, arguments.data(), nullptr);
  }
  bool start(void* in, void* out) {
    return call_.start(
        device_, [this](void* a, void* b, CUstream stream) { launch(a, b, stream); }, in, out, nullptr);
  }
  bool start(std::size_t in, std::size_t out) { return start(&memory_[in], &memory_[out]); }
  static std::vector<std::uint64_t> last_arguments() {
    std::array<std::uint64_t, 4> out{};
    std::memcpy(out.data(), &number("fake_last_arguments"), sizeof out);
    return {out.begin(), out.end()};
  }
  std::vector<std::uint64_t> arguments(std::size_t in, std::size_t out) const {
    return {address(&memory_[in]) + 16, address(&memory_[out]) + 64, 7, address(&memory_[in])};
  }

  std::shared_ptr<const Device> device_ = Device::open(0);
  LoadedKernel kernel_{device_, source(), image_};
  CapturedCall call_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(65536);
  std::uint64_t number_ = 7;
  int calls_ = 0;
  bool fails_ = false, counts_ = false, shifts_ = false;
};

TEST_F(CapturedCallTest, ACallThatComesAgainIsRecordedOnceAndStartsAsAGraph) {
  const int launches = number("fake_launches"), graphs = number("fake_graph_launches");
  EXPECT_FALSE(start(0, 4096)) << "a single call needs no graph";
  EXPECT_EQ(calls_, 0);
  EXPECT_TRUE(start(0, 4096));
  EXPECT_EQ(calls_, 3) << "recorded with its arrays, with others, and again";
  EXPECT_TRUE(start(0, 4096));
  EXPECT_EQ(calls_, 3);
  EXPECT_EQ(number("fake_graph_launches"), graphs + 2);
  EXPECT_EQ(number("fake_launches"), launches + 2) << "recording starts nothing";
}

TEST_F(CapturedCallTest, OtherArraysAreExchangedWhereverTheirAddressesAre) {
  const int updates = number("fake_node_updates");
  start(0, 4096), start(0, 4096);
  EXPECT_EQ(number("fake_node_updates"), updates) << "recorded with these";
  ASSERT_TRUE(start(8192, 16384));
  EXPECT_EQ(last_arguments(), arguments(8192, 16384));
  ASSERT_TRUE(start(8192, 512));
  EXPECT_EQ(last_arguments(), arguments(8192, 512));
  EXPECT_EQ(number("fake_node_updates"), updates + 2);
  ASSERT_TRUE(start(8192, 512));
  EXPECT_EQ(number("fake_node_updates"), updates + 2) << "nothing has changed";
}

TEST_F(CapturedCallTest, OneArrayInPlaceIsExchangedInEveryPlace) {
  start(256, 256), start(256, 256);
  ASSERT_TRUE(start(1024, 1024));
  EXPECT_EQ(last_arguments(), arguments(1024, 1024));
}

TEST_F(CapturedCallTest, ArraysThatLieOtherwiseAreTheCallersOwn) {
  start(0, 4096), start(0, 4096);
  EXPECT_FALSE(start(8, 4096));
  EXPECT_FALSE(start(0, 4096 + 128));
  EXPECT_TRUE(start(512, 4096 + 256)) << "these may take the recorded kernels again";
}

TEST_F(CapturedCallTest, WhatIsNoKernelIsRefusedForGood) {
  number("fake_node_type") = 2;
  start(0, 4096);
  EXPECT_FALSE(start(0, 4096));
  number("fake_node_type") = 0;
  EXPECT_FALSE(start(0, 4096));
  EXPECT_EQ(calls_, 3) << "it was not recorded again";
}

// cuFFT leaves some words of its structures unset.
TEST_F(CapturedCallTest, ParametersThatChangeByThemselvesStayAsTheyWere) {
  counts_ = true;
  start(0, 4096);
  ASSERT_TRUE(start(0, 4096));
  ASSERT_TRUE(start(8192, 16384));
  EXPECT_EQ(last_arguments(), arguments(8192, 16384)) << "the number of the first recording";
}

TEST_F(CapturedCallTest, WhatFollowsFromAnArrayAndIsNoAddressInItIsRefused) {
  shifts_ = true;
  start(0, 4096);
  EXPECT_FALSE(start(0, 4096));
}

TEST_F(CapturedCallTest, ACallThatFailsLeavesNothingCaptured) {
  const int graphs = number("fake_graphs");
  fails_ = true;
  start(0, 4096);
  EXPECT_FALSE(start(0, 4096)) << "the caller's own call shall say why";
  EXPECT_EQ(number("fake_graphs"), graphs);
  CUstream stream = nullptr;
  EXPECT_EQ(driver().cuStreamBeginCapture(stream, 0), CUDA_SUCCESS) << "no capture goes on";
  CUgraph graph = nullptr;
  driver().cuStreamEndCapture(stream, &graph);
  driver().cuGraphDestroy(graph);
}

TEST_F(CapturedCallTest, WithoutCapturesEveryCallIsTheCallersOwn) {
  number("fake_captures") = 0;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(start(0, 4096));
  EXPECT_EQ(calls_, 0);
}

TEST_F(CapturedCallTest, EveryGraphIsGivenBack) {
  const int graphs = number("fake_graphs");
  start(0, 4096), start(0, 4096);
  EXPECT_EQ(number("fake_graphs"), graphs + 1) << "the second recording is of no further use";
  call_.drop();
  EXPECT_EQ(number("fake_graphs"), graphs);
}

}  // namespace
}  // namespace fourtune::runtime::cuda
