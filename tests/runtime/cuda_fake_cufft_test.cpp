// Transforms of the CUDA backend by cuFFT, in host memory: with a driver that only counts and a library of direct sums.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "generator/plan/plan.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/cufft_api.h"
#include "tuner/measure/validate.h"

namespace fourtune::runtime::cuda {
namespace {

const char* const kFake = FOURTUNE_BUILD_DIR "/tests/peers/fake_cufft.so";
// Set before anything uses the driver. A loaded library is found by its own name before any other file.
void* const library =
    ::setenv("FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA, 1) == 0 ? ::dlopen(kFake, RTLD_NOW) : nullptr;

class FakeCufft : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(library, nullptr);
    ASSERT_EQ(why_no_cufft(), "");
    ASSERT_EQ(cufft().path, kFake);
    plan_.gpu().fft.family = generator::GpuFftFamily::cufft;
  }
  static int plans_held() { return reinterpret_cast<int (*)()>(::dlsym(library, "fake_cufft_plans"))(); }
  Status status_of(const char* token) {
    try {
      backend_.bind(parse_problem(token), plan_, {});
    } catch (const Error& error) {
      return error.status();
    }
    return Status::success;
  }
  // Without programs of ours every transform is cuFFT's.
  CudaBackend backend_{[](const Problem&, const generator::Plan&, const DeviceTraits&) {
                         return std::optional<generator::GpuProgram>();
                       },
                       "/nowhere/no.db"};
  generator::Plan plan_ = generator::plan_for("cuda");
};

TEST_F(FakeCufft, EveryTypePrecisionPlaceAndLayoutIsRight) {
  for (const char* token :
       {"fft:type=c2c,n=6x5x4,prec=f64,batch=2", "fft:type=c2c,n=8,prec=f32,place=in,sign=1",
        "fft:type=c2c,n=9x7,prec=f32,sign=-1", "fft:type=r2c,n=6x5,prec=f32,batch=2",
        "fft:type=r2c,n=6x5,prec=f64,place=in", "fft:type=c2r,n=7x4x2,prec=f64,sign=1",
        "fft:type=c2r,n=6x4,prec=f32,batch=2,place=in,sign=1", "fft:type=c2r,n=8x4,prec=f32,sign=1"}) {
    const Problem problem = parse_problem(token);
    tuner::ProblemData data(problem, 3);
    const auto executor = backend_.bind(problem, plan_, {});
    for (int round = 0; round < 2; ++round) {  // c2r out of place leaves its input as it was
      if (round == 0 || problem.place == Place::in) data.prepare();
      executor->execute(data.first(), data.second(), false);
      EXPECT_LT(data.error(), problem.precision == Precision::f64 ? 1e-13 : 1e-5) << token;
    }
    EXPECT_TRUE(executor->stage_times().empty()) << "nobody asked for times";
    EXPECT_EQ(plans_held(), 1);
  }
  EXPECT_EQ(plans_held(), 0);
}

TEST_F(FakeCufft, TimesAreThereOnceItHasRun) {
  const Problem problem = parse_problem("fft:type=c2c,n=8,prec=f32");
  tuner::ProblemData data(problem, 3);
  ExecutorOptions options;
  options.time_stages = true;
  const auto executor = backend_.bind(problem, plan_, options);
  EXPECT_TRUE(executor->stage_times().empty());
  executor->execute(data.first(), data.second(), false);
  ASSERT_EQ(executor->stage_times().size(), 1u);
  EXPECT_EQ(executor->stage_times()[0].stage, "fft");
  EXPECT_DOUBLE_EQ(executor->stage_times()[0].seconds, 2e-3) << "from one event to the next";
}

TEST_F(FakeCufft, WhatItCannotDoIsRefusedByNameAndLeavesNoPlan) {
  EXPECT_EQ(status_of("fft:type=c2c,n=17,prec=f32"), Status::unsupported) << "its error 8";
  EXPECT_EQ(status_of("fft:type=r2c,n=8,prec=f32,sign=1"), Status::unsupported);
  EXPECT_EQ(status_of("fft:type=c2c,n=4x3x2x2,prec=f32"), Status::unsupported) << "up to three dimensions";
  EXPECT_EQ(status_of("fft:type=c2r,n=8,prec=f32,sign=-1"), Status::unsupported);
  EXPECT_EQ(plans_held(), 0);
}

TEST_F(FakeCufft, ItsVersionIsPartOfTheSoftware) {
  ASSERT_TRUE(backend_.software());
  EXPECT_EQ(backend_.software()->libraries, "cufft 12004");
}

// Sizes and strides of our layouts count from x; cuFFT's from the slowest dimension.
TEST(CufftLayouts, EmbedsAreQuotientsOfStrides) {
  ArrayLayout layout;
  layout.stride = {2, 20, 240};
  layout.distance = 5000;
  const CufftLayout three = cufft_layout(layout, {7, 11, 4}, 3);
  EXPECT_EQ(three.stride, 2);
  EXPECT_EQ(three.distance, 5000);
  EXPECT_EQ(three.embed[2], 10);
  EXPECT_EQ(three.embed[1], 12);
  EXPECT_EQ(three.embed[0], 4);
  EXPECT_EQ(cufft_layout(layout, {10, 11, 1}, 2).embed[1], 10) << "rows that fill the stride exactly";
  EXPECT_THROW(cufft_layout(layout, {11, 11, 1}, 2), Error) << "rows that overlap";
  layout.stride[1] = 21;
  EXPECT_THROW(cufft_layout(layout, {7, 11, 1}, 2), Error) << "no multiple";
}

}  // namespace
}  // namespace fourtune::runtime::cuda
