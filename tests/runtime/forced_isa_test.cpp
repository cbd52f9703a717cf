// The gridder and the FFT lines use the instruction set that a test program was asked to run on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "runtime/backends/cpu/fft/simd.h"
#include "runtime/backends/cpu/gridder/kernels.h"
#include "tests/runtime/forced_targets.h"

namespace fourtune::runtime::cpu {
namespace {

TEST(ForcedIsa, IsTheOneThatKernelsOfGridderAndFftTake) {
  const char* asked = std::getenv("FOURTUNE_TEST_ISA");
  const std::string widest = can_run(HWY_AVX3) ? "avx512" : can_run(HWY_AVX2) ? "avx2" : "portable";
  const std::string isa = asked ? asked : widest;
  const Tiling tiling = make_tiling(2, {32, 32, 1}, 6, {16, 16, 1}, 8);
  const WeightTables<float> tables;
  EXPECT_EQ(select_kernels<float>(tiling, tables).isa, isa);
  const int f32 = simd_fft_kernels<float>().lanes * 4, f64 = simd_fft_kernels<double>().lanes * 8;
  if (isa == "portable") {  // one number at a time, or the vectors of the compiler's default target
    EXPECT_LE(f32, 16);
    EXPECT_LE(f64, 16);
  } else {
    EXPECT_EQ(f32, isa == "avx512" ? 64 : 32) << isa;
    EXPECT_EQ(f64, f32) << isa;
  }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
