// Whole transforms by the published methods GM, GM-sort and SM on the emulated backend, through the public interface.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "generator/planner/gpu_nufft/published.h"
#include "tests/runtime/emulated_nufft_support.h"

namespace fourtune::published {
namespace {

using generator::gpu_nufft::kPublished;
using generator::gpu_nufft::Published;
using test::emulated;
using test::NufftCase;
using test::NufftExperiment;
using test::status_of;

std::string plan_of(const Problem& problem, Published method) {
  const auto plan = generator::gpu_nufft::published_plan(problem, runtime::emulated::emulated_traits(), method);
  return plan ? generator::to_text(*plan, problem) : "";
}

template <class T>
void check(const NufftCase& c, const std::string& plan) {
  SCOPED_TRACE(to_token(c.problem) + "  " + plan);
  const NufftExperiment<T> experiment(c);
  Transform transform(to_token(c.problem), emulated(plan));
  experiment.expect_right(transform, c.problem.type == 3 ? 100 : 40);
  const MemoryUse use = transform.memory();
  EXPECT_EQ(use.held, use.needed);
}

// Types 1 to 3 in two and three dimensions, both precisions, batches in uneven chunks; each with its adjoint.
TEST(EmulatedNufftPublished, MeetsItsToleranceForwardAndAdjoint) {
  int n = 0;
  for (const int type : {1, 2, 3})
    for (const int dim : {2, 3})
      for (const Published method : kPublished) {
        const bool single = ++n % 2 == 0;
        const char* const tol = single ? "1e-4" : dim == 3 && method == Published::sm ? "1e-3" : "1e-8";
        NufftCase c;
        c.problem = parse_problem(
            type == 3 ? fmt::format("nufft:type=3,dim={},m=60,k=50,prec={},tol={}", dim, single ? "f32" : "f64", tol)
                      : fmt::format("nufft:type={},n={},m=90,prec={},tol={},batch={}", type,
                                    dim == 2 ? "14x11" : "7x8x6", single ? "f32" : "f64", tol, n % 3 == 0 ? 3 : 1));
        std::string plan = plan_of(c.problem, method);
        ASSERT_NE(plan, "") << to_token(c.problem);
        if (c.problem.batch == 3) plan.replace(plan.rfind("chunk=1"), 7, "chunk=2");
        single ? check<float>(c, plan) : check<double>(c, plan);
      }
}

// Coordinates of many turns lose no digits, also where positions in cells are no integers of 32 bits: mode (1, 0) is
// the sum of exp(i x) of the exact numbers.
template <class T>
void expect_folded(const std::vector<T>& x, const char* rest, double allowed) {
  const Problem problem = parse_problem(std::string("nufft:type=1,n=14x11,") + rest);
  for (const Published method : kPublished) {
    Transform transform(to_token(problem), emulated(plan_of(problem, method)));
    const std::vector<T> y(x.size(), 0);
    transform.set_points({static_cast<std::int64_t>(x.size()), x.data(), y.data()});
    std::vector<std::complex<T>> ones(x.size(), 1), modes(14 * 11);
    transform.execute(ones.data(), modes.data());
    std::complex<double> want = 0;
    for (const double at : x) want += std::complex<double>(std::cos(at), std::sin(at));
    EXPECT_LE(std::abs(std::complex<double>(modes[5 * 14 + 8]) - want), allowed) << transform.plan();
  }
}
TEST(EmulatedNufftPublished, FoldsFarPointsAsTheNumbersThatTheyAre) {
  constexpr double kMost = std::numeric_limits<double>::max();
  expect_folded<double>({0.5, -7, 1e4, -1e8, 1e9, 1e10, -3e13, 1e16, -5e18, 1e22, -3e150, kMost, -kMost / 3},
                        "prec=f64,tol=1e-6,sign=1", 1e-5);
  constexpr float kMostSingle = std::numeric_limits<float>::max();
  expect_folded<float>({0.5F, -7, 1e4F, -1e6F, 3e8F, -3e9F, 7e12F, -1e13F, 1e20F, kMostSingle, -kMostSingle / 3},
                       "prec=f32,tol=1e-5,sign=1", 1e-4);
}

TEST(EmulatedNufftPublished, KeepsItsOwnCoordinatesAndNamesABadOne) {
  const Problem problem = parse_problem("nufft:type=1,n=14x11,prec=f32,tol=1e-3");
  for (const Published method : kPublished) {
    Transform transform(to_token(problem), emulated(plan_of(problem, method)));
    std::vector<float> x{0.1F, 2.5F, -2, 3, 1}, y{1, 2, -3, 0.5F, -1};
    std::vector<std::complex<float>> values(5, 1), before(14 * 11), after(14 * 11);
    transform.set_points({5, x.data(), y.data()});
    transform.execute(values.data(), before.data());
    x.assign(5, 0), y.assign(5, 0);
    transform.execute(values.data(), after.data());
    double change = 0;
    for (std::size_t i = 0; i < before.size(); ++i) change = std::max<double>(change, std::abs(before[i] - after[i]));
    EXPECT_LE(change, 1e-4);                             // sums in another order
    EXPECT_NEAR(std::abs(before[5 * 14 + 7]), 5, 0.02);  // mode (0, 0)
    x[3] = std::numeric_limits<float>::quiet_NaN();
    std::string message;
    EXPECT_EQ(status_of([&] { transform.set_points({5, x.data(), y.data()}); }, &message), Status::invalid_point);
    EXPECT_NE(message.find("point 3: coordinate x"), std::string::npos) << message;
    transform.set_points({0, nullptr, nullptr});
    transform.execute(values.data(), after.data());
    for (const auto& mode : after) ASSERT_EQ(mode, std::complex<float>());
  }
}

TEST(EmulatedNufftPublished, SpreadAndInterpolateAlone) {
  for (const Published method : kPublished) {
    const Problem problem = parse_problem("nufft:type=1,n=35x22,m=50,prec=f64,tol=1e-3");
    Options options = emulated(plan_of(problem, method));
    options.only = Only::spread;
    Transform spread(to_token(problem), options);
    std::vector<double> x, y;
    for (int j = 0; j < 50; ++j) x.push_back(0.12 * j - 3), y.push_back(std::sin(j));
    spread.set_points({50, x.data(), y.data()});
    std::vector<std::complex<double>> values(50), grid(35 * 22), other(35 * 22), back(50);
    for (int j = 0; j < 50; ++j) values[static_cast<std::size_t>(j)] = {std::cos(j), 1.0 / (j + 1)};
    for (std::size_t i = 0; i < other.size(); ++i) other[i] = std::cos(static_cast<double>(3 * i));
    spread.execute(values.data(), grid.data());
    spread.execute_adjoint(back.data(), other.data());
    std::complex<double> left = 0, right = 0;
    for (std::size_t i = 0; i < grid.size(); ++i) left += grid[i] * std::conj(other[i]);
    for (std::size_t j = 0; j < back.size(); ++j) right += values[j] * std::conj(back[j]);
    EXPECT_LE(std::abs(left - right), 1e-10);
    EXPECT_GT(std::abs(left), 0.01);
  }
}

// The shape of a plan's window holds on every backend and for every family, in spreading and in deconvolution alike.
TEST(EmulatedNufftPublished, AnyWindowMayHaveAShapeOfItsOwn) {
  NufftCase c;
  c.problem = parse_problem("nufft:type=1,n=14x11,m=90,prec=f64,tol=1e-5");
  const NufftExperiment<double> experiment(c);
  const auto error = [&](const std::string& backend, double beta) {
    const std::string rest = backend == "cpu" ? ";sort=none;spread=atomic;interp=direct;fft=pruned(rigor=estimate)"
                                              : ";sort=bins(bin=8x8);spread=points;interp=points;fft=plain";
    Options options = emulated(fmt::format("{};{}window=es(sigma=2,width=6,fine=28x24,beta={}){}", backend,
                                           backend == "cpu" ? "threads=1;" : "", beta, rest));
    options.backend = backend;
    Transform transform(to_token(c.problem), options);
    experiment.set_points(transform);
    return experiment.error(transform, false);
  };
  for (const char* const backend : {"cpu", "emulated"}) {
    EXPECT_LE(error(backend, 13.8), 3e-5) << backend;
    const double far_off = error(backend, 8);  // aliases more, but what is spread is what is divided by
    EXPECT_GE(far_off, 1e-4) << backend;
    EXPECT_LE(far_off, 1e-2) << backend;
  }
}

TEST(EmulatedNufftPublished, RefusesDeterministicSumsByName) {
  const Problem problem = parse_problem("nufft:type=2,n=14x11,m=50,prec=f32,tol=1e-3");
  Options options = emulated(plan_of(problem, Published::sm));
  options.deterministic = true;
  std::string message;
  EXPECT_EQ(status_of([&] { Transform(to_token(problem), options); }, &message), Status::unsupported);
  EXPECT_NE(message.find("gm, gm_sort and sm"), std::string::npos) << message;
}

}  // namespace
}  // namespace fourtune::published
