// GM, GM-sort and SM as the paper on cuFINUFFT has them: kernels against direct sums that evaluate its window, in
// several orders and under the race checker; the rules that refuse what the paper does not have; its parameters.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/plan/accuracy.h"
#include "generator/plan/nufft/rules.h"
#include "generator/planner/gpu_nufft/published.h"
#include "tests/generator/nufft_support.h"

namespace fourtune::generator::nufft::testing::published {
namespace {

using gpu_nufft::Published;
using gpu_nufft::published_plan;

constexpr Precision kF32 = Precision::f32, kF64 = Precision::f64;
constexpr const char* kNames[] = {"Gm", "GmSort", "Sm"};

void as_published(Case& c, bool sorted) {
  c.shape.semicircle = 2.3 * c.shape.width;
  c.parameters.cap = 40;  // several subproblems per bin
  if (sorted) c.parameters.bin = c.shape.dim == 3 ? std::array{8, 5, 2} : std::array{16, 7, 1};  // cut at the ends
}
Case spreads(Published method, int dim, Precision precision, int width) {
  const auto at = static_cast<std::size_t>(method);
  constexpr Spread families[] = {Spread::gm, Spread::gm_sort, Spread::sm};
  Case c = spreading(kNames[at], dim, precision, width, families[at]);
  as_published(c, method != Published::gm);
  return c;
}
Case interpolates(bool sorted, int dim, Precision precision, int width) {
  Case c = spreading(sorted ? "GmSortReads" : "GmReads", dim, precision, width, Spread::points);
  c.spreads = false;
  c.interpolate = sorted ? Interpolate::gm_sort : Interpolate::gm;
  c.parameters = default_parameters(c.shape, c.interpolate);
  as_published(c, sorted);
  return c;
}

// Every width of equation 6, each method in both dimensions and precisions.
std::vector<Case> every_width() {
  std::vector<Case> cases;
  for (int width = 2; width <= 16; ++width)
    for (const Published method : gpu_nufft::kPublished) {
      const int dim = 2 + (width + static_cast<int>(method)) % 2;
      const Precision precision = width > 7 || width % 3 == 0 ? kF64 : kF32;
      if (method == Published::sm && dim == 3 && width > 8) {
        cases.push_back(spreads(method, 2, precision, width));
        continue;
      }
      cases.push_back(spreads(method, dim, precision, width));
      if (method != Published::sm) cases.push_back(interpolates(method == Published::gm_sort, dim, precision, width));
    }
  return cases;
}

// Kinds of points, batches, whole bins of the paper, counts beyond 32 bits.
std::vector<Case> other_cases() {
  std::vector<Case> cases;
  int n = 0;
  for (const Points points : {Points::clustered, Points::edges, Points::one, Points::none, Points::uniform})
    for (const int dim : {2, 3}) {
      const Precision precision = ++n % 2 == 0 ? kF32 : kF64;
      for (const Published method : gpu_nufft::kPublished) cases.push_back(spreads(method, dim, precision, 4 + n % 2));
      for (const bool sorted : {false, true}) cases.push_back(interpolates(sorted, dim, precision, 5 - n % 2));
      for (auto c = cases.end() - 5; c != cases.end(); ++c) {
        c->points = points;
        c->name += "Points" + std::to_string(static_cast<int>(points));
        if (points == Points::uniform) c->transforms = 3;
        if (points == Points::clustered) c->shape.large_counts = true;
        if (points == Points::edges) c->parameters.bin = default_parameters(c->shape, c->spread).bin;
        if (points == Points::edges && c->parameters.order == RecordOrder::caller) c->parameters.bin = {1, 1, 1};
      }
    }
  Case small = spreads(Published::sm, 2, kF32, 7);  // a grid that is smaller than a padded bin on both sides
  small.shape.fine = {14, 8, 1};
  small.parameters.bin = {32, 32, 1};
  cases.push_back(small);
  return cases;
}

class NufftPublished : public ::testing::TestWithParam<Case> {};
TEST_P(NufftPublished, AgreesWithTheDirectSumInEveryOrderWithoutRaces) {
  const Case& c = GetParam();
  ASSERT_EQ(broken_rule(c.shape, c.parameters), "");
  const Prepared p = prepare(c);
  using runtime::emulated::ExecutionOrder;
  for (const auto order : {ExecutionOrder::forward, ExecutionOrder::reverse}) {
    RunOptions options;
    options.threads = options.blocks = order;
    options.instrumented = options.undefined = order == ExecutionOrder::reverse;
    std::vector<std::byte> first = p.first, second = p.second;
    if (options.instrumented)
      run_program(p.program, first, second, options);
    else
      compiled_quickly(p.program).run(first, second, options);
    if (p.right.empty()) continue;
    EXPECT_EQ(wrong(c, p, second), "");
  }
}
INSTANTIATE_TEST_SUITE_P(Widths, NufftPublished, ::testing::ValuesIn(every_width()), name_of);
INSTANTIATE_TEST_SUITE_P(Others, NufftPublished, ::testing::ValuesIn(other_cases()), name_of);

TEST(NufftPublishedRules, RefuseByNameWhatThePaperDoesNotHave) {
  const auto why = [](Published method, int dim, const std::function<void(Case&)>& change) {
    Case c = spreads(method, dim, kF32, 6);
    change(c);
    return broken_rule(c.shape, c.parameters, c.spread);
  };
  const auto nothing = [](Case&) {};
  for (const Published method : gpu_nufft::kPublished) {
    EXPECT_EQ(why(method, 2, nothing), "");
    EXPECT_EQ(why(method, 3, nothing), "");
    EXPECT_NE(why(method, 1, nothing).find("two and three dimensions"), std::string::npos);
    const auto refused = [&](const char* words, const std::function<void(Case&)>& change) {
      const std::string said = why(method, 2, change);
      EXPECT_NE(said.find(words), std::string::npos) << said;
    };
    refused("exponential of semicircle", [](Case& c) { c.shape.semicircle = 0; });
    refused("deterministic", [](Case& c) { c.parameters.deterministic = true; });
    refused("groups", [](Case& c) { c.parameters.group = 2; });
    refused("slices", [](Case& c) { c.parameters.slice = 100; });
    refused("sort=", [](Case& c) { c.parameters.placement = Placement::scatter; });
    refused("sort=", [](Case& c) {
      c.parameters.order = c.parameters.order == RecordOrder::caller ? RecordOrder::bins : RecordOrder::caller;
    });
  }
  Case records = spreading("", 2, kF32, 6, Spread::points);
  records.parameters.placement = Placement::index;
  for (const Spread family : {Spread::points, Spread::tile_owned, Spread::tile_atomic, Spread::window})
    EXPECT_NE(broken_rule(records.shape, records.parameters, family).find("no records"), std::string::npos);
  for (const Interpolate family : {Interpolate::points, Interpolate::tiled, Interpolate::window, Interpolate::matrix})
    EXPECT_NE(broken_rule(records.shape, records.parameters, family).find("no records"), std::string::npos);
}

// Remark 2: 16 (m1 + w) (m2 + w) (m3 + w) bytes of 49 kB, with the paper's bins.
TEST(NufftPublishedRules, SmFitsTheSharedMemoryOfThePaper) {
  const auto fits = [](int dim, Precision precision, int width) {
    Case c = spreading("", dim, precision, width, Spread::sm);
    c.shape.semicircle = 2.3 * width;
    return broken_rule(c.shape, c.parameters, Spread::sm).empty();
  };
  for (int width = 2; width <= 16; ++width) {
    EXPECT_TRUE(fits(2, kF32, width));
    EXPECT_TRUE(fits(2, kF64, width));
    EXPECT_EQ(fits(3, kF32, width), width <= 8);
    EXPECT_EQ(fits(3, kF64, width), width <= 4);
  }
}

Plan of(const char* token, Published method) {
  const auto plan = published_plan(parse_problem(token), *known_device("h200"), method);
  if (!plan) throw Error(Status::internal, token);
  return *plan;
}

TEST(NufftPublishedPlans, HaveTheParametersOfThePaper) {
  const char* const token = "nufft:type=1,n=500x300,m=100000,prec=f32,tol=1e-5";
  const Problem problem = parse_problem(token);
  EXPECT_EQ(to_text(of(token, Published::gm), problem),
            "cuda;window=es(sigma=2,width=6,fine=1000x600,beta=13.8);sort=none;spread=gm(warps=8);interp=gm(warps=8);"
            "fft=cufft");
  const std::string sorted =
      "cuda;window=es(sigma=2,width=6,fine=1000x600,beta=13.8);sort=bins(bin=32x32,order=bins,placement=index,cap=1024);"
      "spread=";
  EXPECT_EQ(to_text(of(token, Published::gm_sort), problem),
            sorted + "gm_sort(warps=8);interp=gm_sort(warps=8);fft=cufft");
  EXPECT_EQ(to_text(of(token, Published::sm), problem), sorted + "sm(warps=8);interp=gm_sort(warps=8);fft=cufft");
  const Plan solid = of("nufft:type=2,n=41x41x41,m=1000000,prec=f64,tol=1e-12", Published::gm_sort);
  EXPECT_EQ(solid.window.width, 13);
  EXPECT_EQ(solid.gpu().points.spread_with.bin, (std::array{16, 16, 2}));
  const auto none = [](const char* one, Published method) {
    return !published_plan(parse_problem(one), *known_device("h200"), method);
  };
  EXPECT_TRUE(none("nufft:type=1,n=41x41x41,m=1000000,prec=f64,tol=1e-12", Published::sm));
  EXPECT_TRUE(none("nufft:type=1,n=41,m=1000000,prec=f64,tol=1e-12", Published::gm));
  EXPECT_TRUE(none("fft:type=c2c,n=41x8,prec=f64", Published::gm));
}

TEST(NufftPublishedPlans, PrintBackUnchangedAndAreNoCandidates) {
  for (const char* const token :
       {"nufft:type=1,n=50x30,m=100000,prec=f32,tol=1e-5", "nufft:type=2,n=50x30x20,m=1000,prec=f32,tol=1e-2,batch=3",
        "nufft:type=3,dim=2,m=100000,k=1000,prec=f64,tol=1e-6,extent=20x30"}) {
    const Problem problem = parse_problem(token);
    for (const Published method : gpu_nufft::kPublished) {
      const Plan plan = of(token, method);
      EXPECT_EQ(parse_plan(to_text(plan, problem), problem), plan) << to_text(plan, problem);
      // A neighbour's plan keeps method and rule of the shape.
      const Plan near = adapt(plan, problem, *known_device("h200"));
      EXPECT_EQ(near.gpu().points, plan.gpu().points) << to_text(near, problem);
      EXPECT_DOUBLE_EQ(near.window.beta, 2.3 * near.window.width);
    }
    for (const Candidate& candidate : candidates(problem, *known_device("h200")).candidates)
      ASSERT_FALSE(is_published(candidate.plan.gpu().points.spread) ||
                   is_published(candidate.plan.gpu().points.interp));
  }
}

// The paper's rule misses its tolerances, 1e-1 to 1e-12, by a little; three times it is what counts as right.
TEST(NufftPublishedPlans, MeetTheirTolerancesUpToAFactor) {
  for (const int dim : {2, 3})
    for (int digits = 1; digits <= 12; ++digits) {
      const double tol = std::pow(10.0, -digits);
      const Problem problem = parse_problem(
          fmt::format("nufft:type=1,n={},m=100000,prec=f64,tol={}", dim == 2 ? "64x64" : "64x64x64", tol));
      const auto plan = published_plan(problem, *known_device("h200"), Published::gm_sort);
      ASSERT_TRUE(plan);
      const double error = aliasing_error(window_of(plan->window), dim);
      EXPECT_LE(error, 3 * tol) << digits;
      EXPECT_GE(error, 0.05 * tol) << digits;
    }
}

}  // namespace
}  // namespace fourtune::generator::nufft::testing::published
