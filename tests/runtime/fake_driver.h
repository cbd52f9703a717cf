// The CUDA backend with a driver that only counts (fake_cuda_driver.c).
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fourtune/status.h"
#include "generator/codegen/kernel_source.h"
#include "runtime/backends/cuda/driver_api.h"
#include "tests/runtime/transform_support.h"

namespace fourtune::runtime::cuda {

// To be called before anything uses the driver; 0 if it worked.
inline int use_fake_driver() {
  return ::setenv("FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA, 1) | ::setenv("FOURTUNE_CUDA_OVERLAP", "1", 1);
}

class FakeDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(why_no_driver(), "");
    for (const char* result :
         {"fake_load_result", "fake_alloc_result", "fake_launch_result", "fake_optin_result", "fake_capture_status",
          "fake_captures", "fake_node_type", "fake_graph_result", "fake_lost_result"})
      number(result) = 0;
  }
  static int& number(const char* name) {
    static void* const library = ::dlopen(FOURTUNE_FAKE_CUDA, RTLD_NOW);
    return *static_cast<int*>(::dlsym(library, name));
  }
  static generator::KernelSource source() {
    generator::KernelSource kernel;
    kernel.entry = "tested";
    kernel.block = {64, 1, 1};
    return kernel;
  }
  std::vector<std::byte> image_ = std::vector<std::byte>(100);
};

}  // namespace fourtune::runtime::cuda
