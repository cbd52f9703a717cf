// A machine without a GPU driver: what runs by default, and the message for those who request a GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fourtune/fourtune.h"
#include "fourtune/transform.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"

namespace fourtune {
namespace {

// Set before anything uses the driver.
const int chosen = ::setenv("FOURTUNE_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);

TEST(NoGpu, WithoutANameTheProcessorRuns) {
  ASSERT_EQ(chosen, 0);
  float in[32] = {1}, out[32] = {};
  fourtune_transform* transform = nullptr;
  ASSERT_EQ(fourtune_create("fft:type=c2c,n=16,prec=f32", nullptr, &transform), FOURTUNE_SUCCESS)
      << fourtune_last_error();
  EXPECT_NE(std::string(fourtune_explain(transform)).find("plan: cpu;"), std::string::npos);
  EXPECT_EQ(fourtune_execute(transform, in, out), FOURTUNE_SUCCESS);
  EXPECT_EQ(out[30], 1);
  fourtune_destroy(transform);
  EXPECT_EQ(&runtime::find_backend(""), &runtime::find_backend("cpu"));
}

TEST(NoGpu, CudaIsRefusedWithWhatIsMissingAndWhatThereIs) {
  Options options;
  options.backend = "cuda";
  options.default_databases = false;
  try {
    const Transform transform("fft:type=c2c,n=16,prec=f32", options);
    FAIL() << "it was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::backend_unavailable);
    for (const char* part : {"'cuda' is not available here", "available: cpu", "/nowhere/libcuda.so.1"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace fourtune
