// Nonuniform transforms on a real GPU. Without a GPU all tests here are skipped with a message.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

#include "runtime/backend_table.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/cuda/driver_api.h"
#include "tests/support/nufft_gpu_cases.h"

namespace fourtune {
namespace {

using test::NufftCase;
using test::NufftExperiment;

class GpuNufft : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = runtime::cuda::why_no_driver(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  }
};

Options on_gpu(const std::string& plan) {
  Options options;
  options.default_databases = false;
  options.backend = "cuda";
  options.plan = plan;
  return options;
}

template <class T>
void check(const NufftCase& c, const Options& options) {
  SCOPED_TRACE(to_token(c.problem) + "  " + options.plan);
  const auto memory = runtime::find_backend("cuda").memory(0);
  NufftExperiment<T> experiment(c);
  experiment.use(*memory);
  Transform transform(to_token(c.problem), options);
  experiment.expect_right(transform, 40);
}
void check_either(const NufftCase& c) {
  Options options = on_gpu(generator::to_text(c.plan, c.problem));
  options.mode_order = c.options.mode_order;
  c.problem.precision == Precision::f32 ? check<float>(c, options) : check<double>(c, options);
}

TEST_F(GpuNufft, EveryPairOfChoicesMeetsTheTolerance) {
  for (const auto& row : test::covering_rows()) check_either(test::covering_case(row, "cuda"));
}

TEST_F(GpuNufft, TheLibrarysTransformBetweenKernelsOfOurs) {
  for (const auto& row : test::covering_rows()) {
    if (row[5] > 1) continue;
    NufftCase c = test::covering_case(row, "cuda");
    c.plan.gpu().fft.family = generator::GpuFftFamily::cufft;
    for (auto* with : {&c.plan.gpu().points.spread_with, &c.plan.gpu().points.interp_with})
      with->group = 1, with->interleave = false;
    check_either(c);
  }
}

TEST_F(GpuNufft, FollowsTheStreamAndNamesBadPoints) {
  NufftCase c;
  c.problem = parse_problem("nufft:type=1,n=300,m=90,prec=f64,tol=1e-6");
  const auto memory = runtime::find_backend("cuda").memory(0);
  NufftExperiment<double> experiment(c);
  experiment.use(*memory);
  Transform transform(to_token(c.problem),
                      on_gpu("cuda;window=pswf(sigma=2,width=7,fine=600);sort=bins(bin=256);spread=tile_owned;"
                             "interp=points;fft=plain"));
  const auto device = runtime::cuda::Device::open(0);
  const runtime::cuda::Stream one(device), other(device);
  transform.set_stream(one.get());
  experiment.set_points(transform);
  one.synchronise();
  transform.set_stream(other.get());
  EXPECT_NO_THROW(transform.set_stream(nullptr));
  EXPECT_LE(experiment.error(transform, false), 3e-6);
  std::vector<double> x(90, 1.0);
  x[33] = std::numeric_limits<double>::infinity();
  void* const array = memory->allocate(x.size() * 8);
  memory->upload(array, x.data(), x.size() * 8);
  try {
    transform.set_points({90, array});
    ADD_FAILURE() << "an infinite coordinate was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_point);
    EXPECT_NE(std::string(error.what()).find("point 33: coordinate x"), std::string::npos) << error.what();
  }
  memory->release(array);
}

}  // namespace
}  // namespace fourtune
