// What first use loads: kernels that are compiled at the same time are asked for at the same time, and few.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/gpu/nufft_executor.h"
#include "tests/support/noting_queue.h"

namespace fourtune::runtime {
namespace {

using Loads = std::vector<std::vector<generator::KernelSource>>;

// Type 3: of points whose half-widths multiply to `product` in every dimension.
Loads loads_of(const std::string& token, double product = 150, bool crowded = false) {
  const Problem problem = parse_problem(token);
  const DeviceTraits h200 = *generator::known_device("h200");
  ExecutorOptions options;
  options.crowded = crowded;
  options.trust_points = problem.type == 3;  // with bounds it then needs no extents
  test::Noted noted;
  const auto executor = gpu::make_gpu_nufft_executor(problem, generator::default_plan(problem, h200), options,
                                                     std::make_unique<test::NotingQueue>(h200, noted));
  alignas(256) static double array[32];
  PointSet points = test::points_of(problem, array);
  if (problem.type == 3) {
    Bounds bounds;
    for (std::size_t d = 0; d < 3; ++d)
      bounds.low[d] = -3, bounds.high[d] = 3, bounds.low[3 + d] = -product / 3, bounds.high[3 + d] = product / 3;
    executor->set_bounds(bounds);
  }
  executor->set_points(points);
  executor->execute(array, array, false);
  return noted.loads;
}

using Counts = std::vector<std::size_t>;

Counts counts_of(const std::string& token) {
  Counts counts;
  for (const auto& load : loads_of(token)) counts.push_back(load.size());
  return counts;
}

TEST(KernelLoads, TypesOneAndTwoLoadAllTheirKernelsAtOnce) {
  EXPECT_EQ(counts_of("nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-3,points=spiral"), Counts({7}));
  EXPECT_EQ(counts_of("nufft:type=2,n=128x128,m=200000,prec=f32,tol=1e-3,points=spiral"), Counts({7}));
  EXPECT_EQ(counts_of("nufft:type=1,n=64x64x64,m=500000,prec=f64,tol=1e-6"), Counts({10}));
  EXPECT_EQ(counts_of("nufft:type=1,n=64x64x64,m=500000,prec=f64,tol=1e-6,points=radial"), Counts({8})) << "one level";
}

// Few points have crowded bins, whose kernels take a quarter of the time to compile a 3D sort.
TEST(KernelLoads, CrowdedBinsHaveKernelsOnlyWhereTheyAreAskedFor) {
  const auto has = [](const std::string& token, bool crowded) {
    int found = 0;
    for (const auto& load : loads_of(token, 150, crowded))
      for (const auto& kernel : load) found += kernel.entry.find("large_") != std::string::npos;
    return found;
  };
  const std::string token = "nufft:type=1,n=64x64x64,m=500000,prec=f64,tol=1e-6";
  EXPECT_EQ(has(token, false), 0);
  EXPECT_EQ(has(token, true), 3) << "as packs and prepare ask for them";
}

TEST(KernelLoads, TypeThreeLoadsAllItsKernelsAtOnce) {
  EXPECT_EQ(counts_of("nufft:type=3,dim=2,m=16384,k=16384,prec=f64,tol=1e-10"), Counts({14}));
}

TEST(KernelLoads, TheSlowestToCompileBeginFirst) {
  const Loads loads = loads_of("nufft:type=3,dim=2,m=16384,k=16384,prec=f64,tol=1e-10");
  const auto slowest = std::max_element(loads[0].begin(), loads[0].end(), [](const auto& a, const auto& b) {
    return cuda::compile_weight(a) < cuda::compile_weight(b);
  });
  EXPECT_EQ(slowest->entry.rfind("nufft_spread_window", 0), 0u) << slowest->entry << ", and not the longest text";
  for (const auto& kernel : loads[0]) EXPECT_GT(cuda::compile_weight(kernel), 0u) << kernel.entry << ": 0 is for found";
}

// So they can be compiled before the points are known (CudaBackend::prepare_for), and moving points keep them.
TEST(KernelLoads, TypeThreeHasTheSameKernelsForPointsThatNearlyFillItsExtent) {
  const std::string token = "nufft:type=3,dim=2,m=16384,k=16384,prec=f64,tol=1e-10";
  const double guess = 0.5 * 3.14159265358979323846 * 128;
  EXPECT_EQ(loads_of(token, guess), loads_of(token, guess * (1 - 1e-6))) << "rounding to f32";
  EXPECT_NE(loads_of(token, guess), loads_of(token, guess * 0.9));
  EXPECT_NE(loads_of(token, guess), loads_of(token, guess * 1.1));
  const std::string said = token + ",extent=150x150";
  EXPECT_EQ(loads_of(said, 150), loads_of(said, 125));
  EXPECT_NE(loads_of(said, 150), loads_of(said, 110)) << "grids that are much too large would take time";
}

}  // namespace
}  // namespace fourtune::runtime
