// An NVRTC that does not know the options that only save time.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/nvrtc_api.h"

namespace fourtune::runtime::cuda {
namespace {

// Set before anything uses the compiler.
const int chosen = ::setenv("FOURTUNE_NVRTC", FOURTUNE_FAKE_NVRTC, 1);

int number(const char* name) {
  static void* const library = ::dlopen(FOURTUNE_FAKE_NVRTC, RTLD_NOW);
  return *static_cast<int*>(::dlsym(library, name));
}

TEST(OldCompiler, IsAskedForTheUnknownOptionOnce) {
  ASSERT_EQ(chosen, 0);
  ASSERT_EQ(why_no_nvrtc(), "");
  generator::KernelSource source;
  source.entry = "one";
  for (int k = 1; k <= 3; ++k) {
    const CompiledKernel made = compile(source, 90);
    EXPECT_EQ(made.outcome, CompileOutcome::ok) << made.log;
    EXPECT_EQ(made.image.size(), 4u);
    EXPECT_EQ(number("fake_compiled"), k);
    EXPECT_EQ(number("fake_refused"), 1);
  }
}

}  // namespace
}  // namespace fourtune::runtime::cuda
