// The kernels of a GPU's calibration do what they say; rates of the emulator mean nothing.
#include <gtest/gtest.h>

#include <string>

#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "tuner/calibrate/calibrate.h"
#include "tuner/calibrate/gpu_kernels.h"
#include "tuner/calibrate/gpu_tests.h"

namespace fourtune::tuner {
namespace {

TEST(EmulatedCalibrate, EveryKernelDoesWhatItSays) {
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::generated_programs());
  std::size_t tests = 0;
  for (const RateTestMaker& maker : gpu_tests(backend, 0)) {
    const RateTest test = maker.make();
    EXPECT_NO_THROW(test.check());
    EXPECT_GT(test.amount, 0);
    EXPECT_GT(test.work.timed(2), 0);
    EXPECT_NO_THROW(test.check()) << "again, after it was timed";
    ++tests;
  }
  EXPECT_EQ(tests, 9u);
}

TEST(EmulatedCalibrate, GivesARateForEachField) {
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::generated_programs());
  CalibrateOptions options;
  options.seconds = 0.5;
  const CalibrateResult found = calibrate(backend, 0, options);
  EXPECT_EQ(found.calibration.traits.backend, "emulated");
  EXPECT_EQ(found.calibration.date, calibration_date());
  for (const RateField& field : rate_fields) {
    const bool of_processors = field.name == "clock" || field.name == "copy_all";
    EXPECT_EQ(found.calibration.traits.rates.*field.value > 0, !of_processors) << field.name;
  }
}

// The emulator's compiler takes more than NVRTC does. With 64 registers, half of a multiprocessor's threads are there.
TEST(CalibrateKernels, CompileForGpusAndFitTheirRegisters) {
  if (const std::string why = runtime::cuda::why_no_nvrtc(); !why.empty()) GTEST_SKIP() << why;
  const auto& known = runtime::cuda::nvrtc().architectures;
  for (const int target : {known.front(), 90, known.back()})
    for (const generator::KernelSource& kernel :
         {multiply_add_kernel(Precision::f32), multiply_add_kernel(Precision::f64), shared_load_kernel(),
          shared_store_kernel(), copy_kernel(), atomic_kernel(Precision::f32), atomic_kernel(Precision::f64),
          counting_kernel()}) {
      const auto compiled = runtime::cuda::compile(kernel, target);
      ASSERT_EQ(compiled.outcome, runtime::cuda::CompileOutcome::ok) << kernel.entry << "\n" << compiled.log;
      EXPECT_EQ(compiled.report.spill_store_bytes, 0) << kernel.entry;
      EXPECT_LE(compiled.report.registers, 64) << kernel.entry << " for " << target;
    }
}

}  // namespace
}  // namespace fourtune::tuner
