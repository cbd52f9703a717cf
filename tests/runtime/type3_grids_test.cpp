// Type 3 grids depend on the points: state of an earlier set_points is kept only if every grid stays the same.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "generator/candidates.h"
#include "runtime/backends/cpu/nufft/nufft_executor.h"

namespace fourtune::runtime::cpu {
namespace {

using Complex = std::complex<double>;
constexpr int kPoints = 9;

struct Experiment {
  // Sources up to `reach` from 0 along x, targets up to 6; the first and the last ones are at the ends.
  Experiment(int dims, double reach) : dim(dims) {
    for (int d = 0; d < 3; ++d)
      for (int j = 0; j < kPoints; ++j) {
        const double at = -1 + 2.0 * ((j * (d + 2) + (d ? 3 : 0)) % kPoints) / (kPoints - 1);
        x[d].push_back((d == 0 ? reach : 3) * at);
        s[d].push_back(6 * std::sin(1.5707963267948966 * at));
      }
    for (int j = 0; j < kPoints; ++j) c.emplace_back(std::cos(3.0 * j), std::sin(5.0 * j));
  }
  PointSet points() const {
    PointSet set;
    set.m = set.k = kPoints;
    set.x = x[0].data(), set.s = s[0].data();
    if (dim > 1) set.y = x[1].data(), set.t = s[1].data();
    if (dim > 2) set.z = x[2].data(), set.u = s[2].data();
    return set;
  }
  // Relative l2 error of `found`.
  double error(const std::vector<Complex>& found) const {
    double wrong = 0, norm = 0;
    for (int l = 0; l < kPoints; ++l) {
      Complex sum = 0;
      for (int j = 0; j < kPoints; ++j) {
        double angle = 0;
        for (int d = 0; d < dim; ++d) angle += s[d][l] * x[d][j];
        sum += c[j] * std::polar(1.0, -angle);
      }
      wrong += std::norm(sum - found[l]);
      norm += std::norm(sum);
    }
    return std::sqrt(wrong / norm);
  }
  int dim;
  std::array<std::vector<double>, 3> x, s;
  std::vector<Complex> c;
};

TEST(Type3Grids, FollowThePointsWhicheverGridChanges) {
  for (const int dim : {1, 2, 3}) {
    Problem problem = parse_problem("nufft:type=3,dim=" + std::to_string(dim) + ",m=9,k=9,prec=f64,tol=1e-8");
    DeviceTraits traits = cpu_traits();
    traits.cores = 1;
    const auto executor = make_type3_executor(problem, generator::default_plan(problem, traits), {});
    int only_inner = 0, only_outer = 0, both = 0, none = 0;
    std::array<std::int64_t, 3> outer{}, inner{};
    for (int step = 0; step < 240; ++step) {
      const Experiment experiment(dim, 2 + 0.06 * step);
      executor->set_points(experiment.points());
      std::vector<Complex> values = experiment.c, results(kPoints);
      executor->execute(values.data(), results.data(), false);
      ASSERT_LT(experiment.error(results), 3e-8) << dim << "D, step " << step;
      const auto& plan = executor->plan();
      if (step > 0) {
        const bool same_outer = plan.window.fine == outer, same_inner = plan.inner.fine == inner;
        ++(same_outer ? same_inner ? none : only_inner : same_inner ? only_outer : both);
      }
      outer = plan.window.fine, inner = plan.inner.fine;
    }
    // The test must have met each kind of change.
    EXPECT_GT(none, 0) << dim;
    EXPECT_GT(both + only_outer, 0) << dim;
    EXPECT_TRUE(dim == 1 || only_inner > 0) << dim;
  }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
