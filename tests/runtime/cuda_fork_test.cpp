// In a process forked from one that uses the GPU, every call fails with a named error, and nothing of the parent's
// changes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "runtime/backends/cuda/device.h"
#include "runtime/backends/cuda/driver_api.h"

namespace fourtune::runtime::cuda {
namespace {

// Set before anything uses the driver.
const int chosen = ::setenv("FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA, 1);

Status status_of(const std::function<void()>& action, std::string& words) {
  try {
    action();
  } catch (const Error& error) {
    words = error.what();
    return error.status();
  }
  return Status::success;
}

bool refused(const std::function<void()>& action) {
  std::string words;
  return status_of(action, words) == Status::backend_unavailable && words.find("forked") != std::string::npos;
}

int in_child(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work());
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CudaFork, BeforeTheFirstUseTheChildMayUseTheGpu) {
  ASSERT_EQ(chosen, 0);
  EXPECT_EQ(in_child([] { return why_no_driver().empty() && Device::open(0) != nullptr ? 0 : 1; }), 0);
}

TEST(CudaFork, AfterItEveryCallOfTheChildIsRefusedByName) {
  ASSERT_EQ(chosen, 0);
  const auto device = Device::open(0);
  const auto memory = std::make_unique<DeviceMemory>(device, 100);
  char bytes[100] = {};
  EXPECT_EQ(in_child([&] {
              if (why_no_driver().find("forked") == std::string::npos) return 1;
              if (!refused([&] { memory->upload(bytes, sizeof bytes); })) return 2;
              if (!refused([&] { memory->download(bytes, sizeof bytes); })) return 3;
              if (!refused([&] { DeviceMemory(device, 10); })) return 4;
              if (!refused([&] { const ContextGuard guard(*device); })) return 5;
              if (device_count() != 0) return 6;
              delete const_cast<std::unique_ptr<DeviceMemory>&>(memory).release();  // without an error
              return 0;
            }),
            0);
  memory->upload(bytes, sizeof bytes);  // the parent continues
  EXPECT_EQ(why_no_driver(), "");
}

}  // namespace
}  // namespace fourtune::runtime::cuda
