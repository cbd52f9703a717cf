// At every offered oversampling, the width chosen for a tolerance keeps a margin to the allowed error (3 tol): for
// uniform points and a cluster, types 1, 2 and 3, every dimension, and tolerances down to rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "fmt/format.h"
#include "fourtune/transform.h"
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

// Sources at x and targets at s; the error is relative to the sums or to what random signs would give.
double error_of_few(const std::string& token, const std::vector<double>& x, const std::vector<double>& s) {
  using Complex = std::complex<double>;
  Options options;
  options.default_databases = false;
  Transform transform(token, options);
  transform.set_points(
      {static_cast<std::int64_t>(x.size()), x.data(), nullptr, nullptr, static_cast<std::int64_t>(s.size()), s.data()});
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> of(-1, 1);
  std::vector<Complex> in(x.size()), out(s.size());
  double energy = 0;
  for (Complex& c : in) c = {of(random), of(random)}, energy += std::norm(c);
  transform.execute(in.data(), out.data());
  double error = 0, norm = 0;
  for (std::size_t l = 0; l < s.size(); ++l) {
    std::complex<long double> sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const long double phase = static_cast<long double>(s[l]) * x[j];
      sum += std::complex<long double>(std::cos(phase), -std::sin(phase)) * std::complex<long double>(in[j]);
    }
    error += static_cast<double>(std::norm(std::complex<long double>(out[l]) - sum));
    norm += std::max(static_cast<double>(std::norm(sum)), energy);
  }
  return std::sqrt(error / norm);
}

// Errors are largest at the edges of the box of targets, and few points may all lie there.
TEST(NufftMargin, FewSourcesOfAType3FaceTargetsAtTheEdges) {
  std::mt19937_64 random(20264701);
  std::uniform_real_distribution<double> of(-1, 1);
  for (const double tol : {1e-3, 1e-5, 6.6e-9, 9e-11, 1e-12})
    for (const double product : {0.2, 0.6, 3.0, 7.0})
      for (int draw = 0; draw < 8; ++draw) {
        const std::size_t m = 3 + random() % 15;
        std::vector<double> x(m), s(150);
        for (double& at : x) at = draw % 2 == 0 ? 10 * of(random) : std::copysign(10, of(random));
        for (double& at : s) at = std::copysign(product / 10, of(random));
        EXPECT_LE(error_of_few(fmt::format("nufft:type=3,dim=1,m={},k=150,prec=f64,tol={}", m, tol), x, s), 3 * tol)
            << m << " sources, tol " << tol << ", X S = " << product;
      }
}

// A tolerance may go down to half an epsilon for any number of points, on processors and GPUs.
TEST(NufftMargin, Type3HasPlansForEveryToleranceDownToHalfAnEpsilon) {
  for (const char* tol : {"1.2e-16", "5e-16", "1.5e-15", "3e-15"})
    for (int dim = 1; dim <= 3; ++dim)
      for (const int points : {1, 150, 250}) {
        const Problem problem =
            parse_problem(fmt::format("nufft:type=3,dim={0},m={1},k={1},prec=f64,tol={2}", dim, points, tol));
        EXPECT_NO_THROW(generator::default_plan(problem, runtime::find_backend("cpu").traits())) << to_token(problem);
        EXPECT_NO_THROW(generator::default_plan(problem, *generator::known_device("h100"))) << to_token(problem);
      }
  const std::vector<double> x{-3, -1, 0.5, 2, 2.5, 3}, s{-4, -2, 0.1, 1, 3.5, 4};
  EXPECT_LE(error_of_few("nufft:type=3,dim=1,m=6,k=6,prec=f64,tol=1.2e-16", x, s), 30 * 0x1p-52);
}

}  // namespace
}  // namespace fourtune
