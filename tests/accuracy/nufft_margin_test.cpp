// At every offered oversampling, the width chosen for a tolerance keeps a margin to the allowed error (3 tol): for
// uniform points and a cluster, types 1, 2 and 3, every dimension, and tolerances down to rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "generator/candidates.h"
#include "generator/plan/binding.h"
#include "generator/plan/type3_windows.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "tuner/measure/validate.h"

namespace fourtune {
namespace {

using generator::Plan;
using generator::WindowKind;

constexpr double kMargin = 2.0 / 3;  // relative to the allowed error

Plan plan_of(int dim) {
  Plan plan;
  plan.cpu().sort.tile = {dim == 1 ? 128 : 16, dim > 1 ? 16 : 1, dim > 2 ? 16 : 1};
  plan.cpu().fft = {generator::FftFamily::pruned, generator::Rigor::estimate, 8};
  return plan;
}

// Error divided by the allowed error.
double badness(const Problem& problem, const Plan& plan, tuner::ProblemData& data) {
  const auto executor = runtime::find_backend("cpu").bind(problem, plan, {});
  executor->set_points(data.points());
  return data.validate(*executor).error / allowed_error(problem);
}

TEST(NufftMargin, Types1And2AtEveryToleranceAndOversampling) {
  constexpr const char* kSizes[] = {"900", "40x36", "18x15x16"};
  for (int type = 1; type <= 2; ++type)
    for (int dim = 1; dim <= 3; ++dim)
      for (const double tol : {1e-2, 1e-4, 1e-6, 2e-7, 3e-8, 4.4e-9, 2.4e-10, 3e-11, 4e-12}) {
        const Problem problem =
            parse_problem(fmt::format("nufft:type={},n={},m=600,prec=f64,tol={},batch=4,points={}", type,
                                      kSizes[dim - 1], tol, dim % 2 == type % 2 ? "cluster" : "uniform"));
        tuner::ProblemData data(problem, 1);
        for (const double sigma : {1.2, 1.25, 1.5, 2.0}) {
          const generator::Binding binding = generator::bind_window(problem, WindowKind::pswf, sigma, 0);
          if (binding.width == 0) continue;
          Plan plan = plan_of(dim);
          plan.window = plan.inner = {WindowKind::pswf, binding.sigma, binding.width, binding.fine, 0};
          EXPECT_LE(badness(problem, plan, data), kMargin)
              << to_token(problem) << " width " << binding.width << " sigma " << binding.sigma;
        }
      }
}

TEST(NufftMargin, Type3WithEveryPairOfWindows) {
  for (int dim = 1; dim <= 3; ++dim)
    for (const double tol : {1e-3, 1e-6, 4e-9, 8.4e-12, 2.6e-13}) {
      const Problem problem = parse_problem(fmt::format("nufft:type=3,dim={},m=700,k=600,prec=f64,tol={}", dim, tol));
      tuner::ProblemData data(problem, 3);
      for (const auto& pair : generator::type3_windows(problem, WindowKind::pswf, generator::type3_tolerance(problem)))
        for (const generator::WindowChoice& inner : {pair.inner.front(), pair.inner.back()}) {
          Plan plan = plan_of(dim);
          plan.window = pair.outer, plan.inner = inner;
          EXPECT_LE(badness(problem, plan, data), kMargin)
              << to_token(problem) << " outer " << pair.outer.width << " at " << pair.outer.sigma << " inner "
              << inner.width << " at " << inner.sigma;
        }
    }
}

// With phases of 26000 radians, a map with factors rounded to 53 bits would exceed the tolerance.
TEST(NufftMargin, Type3OfALargeExtentKeepsTheDigitsOfItsMaps) {
  const Problem problem = parse_problem("nufft:type=3,dim=1,m=2000,k=1500,prec=f64,tol=3e-13,extent=26000");
  tuner::ProblemData data(problem, 3);
  EXPECT_LE(badness(problem, generator::default_plan(problem, runtime::find_backend("cpu").traits()), data), kMargin);
}

}  // namespace
}  // namespace fourtune
