// Streams of a GPU beside those of the application, with a driver that does everything at once (fake_cuda_driver.c).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/backends/cuda/cuda_backend.h"
#include "tests/runtime/fake_driver.h"
#include "tests/runtime/gpu_programs.h"

namespace fourtune::runtime::cuda {
namespace {

using Lane = DeviceStreams::Lane;

// Set before anything uses the driver.
const int chosen = use_fake_driver();

class CudaStreamsTest : public FakeDriver {
 protected:
  void SetUp() override {
    ASSERT_EQ(chosen, 0);
    FakeDriver::SetUp();
    streams_ = backend_.streams(0);
  }
  CudaBackend backend_{runtime::testing::direct_programs()};
  std::unique_ptr<DeviceStreams> streams_;
};

TEST_F(CudaStreamsTest, RowsAreCopiedWithGapsOnEitherSide) {
  const std::array<char, 13> from{"abcdefghijkl"};
  std::array<char, 9> to{"........"};
  streams_->copy(Lane::copies, {to.data() + 1, 4}, {const_cast<char*>(from.data()) + 2, 5}, 3, 2);
  EXPECT_EQ(std::string(to.data()), ".cde.hij");
  streams_->copy(Lane::exchange, {to.data(), 2}, {const_cast<char*>(from.data()), 2}, 2, 4);  // no gaps
  EXPECT_EQ(std::string(to.data()), "abcdefgh");
  streams_->copy(Lane::copies, {nullptr, 1}, {nullptr, 1}, 0, 5);  // nothing
}

// A row that is farther from the next than copies of rows reach.
TEST_F(CudaStreamsTest, RowsFarApartAreCopiedOneByOne) {
  const std::array<char, 5> from{"abcd"};
  std::array<char, 5> to{"...."};
  const std::int64_t far = std::int64_t{1} << 32;
  number("fake_row_copies") = 0;
  streams_->copy(Lane::copies, {to.data(), 2}, {const_cast<char*>(from.data()), far}, 2, 1);
  EXPECT_EQ(std::string(to.data()), "ab..");
  EXPECT_EQ(number("fake_row_copies"), 0);
  streams_->copy(Lane::copies, {to.data(), 2}, {const_cast<char*>(from.data()) + 1, 1}, 1, 2);
  EXPECT_EQ(number("fake_row_copies"), 1);
}

TEST_F(CudaStreamsTest, LanesAreStreamsThatFollowEachOtherWhereTheyAreTold) {
  EXPECT_NE(streams_->stream(Lane::work), streams_->stream(Lane::copies));
  EXPECT_NE(streams_->stream(Lane::copies), streams_->stream(Lane::exchange));
  const int before = number("fake_stream_waits"), waits = number("fake_waits");
  streams_->follow(Lane::copies, Lane::work);
  streams_->mark(3, Lane::copies);
  streams_->follow_mark(Lane::work, 3);
  EXPECT_EQ(number("fake_stream_waits"), before + 2);
  EXPECT_EQ(number("fake_waits"), waits);
  streams_->wait_for_mark(3);
  streams_->wait(Lane::work);
  EXPECT_EQ(number("fake_waits"), waits + 2);
}

TEST_F(CudaStreamsTest, ArraysOfThisDeviceAreReached) {
  const DeviceMemory memory(backend_.device(0), 64);
  EXPECT_TRUE(streams_->reaches(memory.pointer()));
  EXPECT_FALSE(streams_->reaches(static_cast<char*>(memory.pointer()) + 1));  // the fake one knows no odd addresses
}

// The fake driver takes this process for another one.
TEST_F(CudaStreamsTest, AnAllocationOfAnotherProcessIsOpenedOnceAndClosedWhenItIsForgotten) {
  const int before = number("fake_opened");
  auto one = std::make_unique<DeviceMemory>(backend_.device(0), 64);
  char* const begin = static_cast<char*>(one->pointer());
  const SharedPlace first = streams_->share(begin + 2), second = streams_->share(begin + 40);
  EXPECT_EQ(first.offset, 2);
  EXPECT_EQ(streams_->reach(first), begin + 2);
  EXPECT_EQ(streams_->reach(second), begin + 40);
  EXPECT_EQ(number("fake_opened"), before + 1);
  // A later allocation with the same handle is another one.
  SharedPlace later = second;
  ++later.allocation;
  EXPECT_EQ(streams_->reach(later), begin + 40);
  EXPECT_EQ(number("fake_opened"), before + 1);
  const DeviceMemory another(backend_.device(0), 64);
  streams_->reach(streams_->share(another.pointer()));
  EXPECT_EQ(number("fake_opened"), before + 2);
  streams_->forget_shared();
  EXPECT_EQ(number("fake_opened"), before);
  streams_->reach(first);
  streams_.reset();
  EXPECT_EQ(number("fake_opened"), before);
}

TEST_F(CudaStreamsTest, MemoryOfTheHostIsNotShared) {
  int number = 0;
  EXPECT_EQ(failure([&] { streams_->share(&number); }).first, Status::internal);
}

TEST_F(CudaStreamsTest, PinnedMemoryNeedsADriverThatHasIt) {
  const auto [status, message] = failure([this] { streams_->allocate_host(100); });
  EXPECT_EQ(status, Status::backend_unavailable);
  EXPECT_NE(message.find("cuMemAllocHost"), std::string::npos) << message;
  streams_->release_host(nullptr);
}

TEST_F(CudaStreamsTest, ADeviceIsKnownByItsNumber) {
  EXPECT_EQ(streams_->identity(), "000102030405060708090a0b0c0d0e0f");
  EXPECT_EQ(number("fake_pushed"), 0);
  {
    const auto current = streams_->current();
    EXPECT_EQ(number("fake_pushed"), 1);
  }
  EXPECT_EQ(number("fake_pushed"), 0);
}

}  // namespace
}  // namespace fourtune::runtime::cuda
