// Emulated devices' memory that another process opens, here a child of this one.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "fourtune/status.h"
#include "runtime/backends/emulated/shared_memory.h"

namespace fourtune::runtime::emulated {
namespace {

class SharedMemory : public ::testing::Test {
 protected:
  char* array(std::size_t bytes) {
    arrays_.push_back(static_cast<char*>(memory_->allocate(bytes)));
    return arrays_.back();
  }
  ~SharedMemory() override {
    for (char* each : arrays_) memory_->release(each);
  }
  std::unique_ptr<ArrayMemory> memory_ = shared_memory();
  std::vector<char*> arrays_;
};

TEST_F(SharedMemory, KeepsItsBytesWhenItIsSharedAndHasThoseThatAnotherProcessWrites) {
  char* const own = array(10000);
  std::iota(own, own + 10000, char{1});
  const std::vector<char> before(own, own + 10000);
  const SharedPlace place = shared_place(own + 5000);
  EXPECT_EQ(std::vector<char>(own, own + 10000), before);
  EXPECT_EQ(place.offset, 5000);
  const pid_t child = fork();
  if (child == 0) {
    char* const begin = static_cast<char*>(open_shared(place));
    const bool same = std::memcmp(begin, before.data(), before.size()) == 0;
    std::memset(begin + place.offset, 7, 3);
    _exit(same && is_reached(begin + 9999) && !is_reached(own) ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(own[5000], 7);
  EXPECT_EQ(own[5002], 7);
  EXPECT_EQ(own[5003], before[5003]);
}

TEST_F(SharedMemory, PlacesOfAnAllocationDifferByTheirOffsetAlone) {
  char* const one = array(64);
  const SharedPlace first = shared_place(one), second = shared_place(one + 63), other = shared_place(array(64));
  EXPECT_EQ(first.handle, second.handle);
  EXPECT_EQ(first.allocation, second.allocation);
  EXPECT_EQ(second.offset, 63);
  EXPECT_NE(first.allocation, other.allocation);
}

TEST_F(SharedMemory, WhatIsNotADevicesMemoryIsRefused) {
  int number = 0;
  EXPECT_THROW(shared_place(&number), Error);
  SharedPlace gone = shared_place(array(64));
  gone.process = -1;
  EXPECT_THROW(open_shared(gone), Error);
}

}  // namespace
}  // namespace fourtune::runtime::emulated
