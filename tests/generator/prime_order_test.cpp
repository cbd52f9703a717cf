// Plans whose order is by prime factors: their rule, their mirror image, and that every listed plan keeps both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/fitted_plan.h"
#include "generator/planner/gpu_fft/planner.h"

namespace fourtune::generator::fft {
namespace {

DeviceTraits h200() { return *known_device("h200"); }

std::string first_violation(const std::string& text) {
  const auto found = check(parse_notation(text));
  return found.empty() ? "" : found.front().message;
}

TEST(PrimeOrder, RadicesHaveTheirPrimeFactorsInOrder) {
  EXPECT_TRUE(primes_ascend({4, 8, 6, 9, 15, 5, 7}));
  EXPECT_TRUE(primes_ascend({}));
  EXPECT_FALSE(primes_ascend({6, 2}));
  EXPECT_FALSE(primes_ascend({3, 8}));
  const std::string with = "[threads=32,tile=1]";
  EXPECT_EQ(first_violation("{X(15,8,15,120,tw),X(8,15,1,15,no-tw)}" + with + ":order=primes"), "");
  EXPECT_EQ(first_violation("{X(8,15,8,120,tw),X(15,8,1,8,no-tw)}" + with + ":order=natural,from=primes"), "");
  EXPECT_NE(first_violation("{X(8,15,8,120,tw),X(15,8,1,8,no-tw)}" + with + ":order=primes").find("rule order: X"),
            std::string::npos);
  EXPECT_NE(
      first_violation("{X(15,8,15,120,tw),X(8,15,1,15,no-tw)}" + with + ":order=natural,from=primes").find("descend"),
      std::string::npos);
  EXPECT_NE(first_violation("{X(1,8,1,8,no-tw)}" + with + ":from=primes").find("order=natural, not reversed"),
            std::string::npos);
  EXPECT_NE(
      first_violation("{X(8,8,8,64,tw)}[threads=32,tile=1,store=sorted]{X(8,8,1,8,no-tw)}" + with + ":order=primes")
          .find("store=place"),
      std::string::npos);
}

TEST(PrimeOrder, TheMirroredPlanRunsTheSameTilesTheOtherWay) {
  const FftPlan plan = parse_fft_plan(
      "{X(15,8,15,120,tw),Y(1,4,1,4,no-tw)}[threads=32,tile=5,to=work]{X(40,3,5,15,tw),X(24,5,1,5,no-tw)}[threads=64,"
      "tile=2]:order=primes");
  const FftPlan back = mirrored(plan);
  EXPECT_EQ(
      to_text(back),
      "{X(24,5,24,120,tw),X(40,3,8,24,tw)}[threads=64,tile=2,to=work]{Y(1,4,1,4,no-tw),X(15,8,1,8,no-tw)}[threads=32,"
      "tile=5]:order=natural,from=primes");
  EXPECT_EQ(mirrored(back), plan);
  for (int k = 0; k < 2; ++k) {
    const KernelGeometry there = geometry(plan, k), here = geometry(back, 1 - k);
    for (std::size_t d = 0; d < there.dims.size(); ++d) {
      EXPECT_EQ(there.dims[d].free, here.dims[d].free);
      EXPECT_EQ(there.dims[d].transformed, here.dims[d].transformed);
      EXPECT_EQ(there.dims[d].tiles, here.dims[d].tiles);
    }
  }
}

TEST(PrimeOrder, EveryCandidateHasTheProblemsOrderAndCuFftIsNone) {
  for (const char* token :
       {"fft:type=c2c,n=65536,prec=f32,order=reversed", "fft:type=c2c,n=360x96,prec=f64,order=unreversed",
        "fft:type=c2c,n=64x64x64,prec=f32,place=in,order=reversed"}) {
    SCOPED_TRACE(token);
    const Problem problem = parse_problem(token);
    fft::EnumerationLimits limits;
    limits.plans = 200;
    const GpuFftSpace found = gpu_fft_candidates(problem, h200(), limits);
    EXPECT_GT(found.space.candidates.size(), 50u);
    for (const Candidate& candidate : found.space.candidates) {
      const GpuFftChoice& fft = candidate.plan.gpu().fft;
      EXPECT_NE(fft.family, GpuFftFamily::cufft);
      if (fft.family != GpuFftFamily::interleaved) continue;
      const auto wrong = check(fft.plan, problem);
      EXPECT_TRUE(wrong.empty()) << wrong.front().message;
      const auto mirror = check(mirrored(fft.plan));
      EXPECT_TRUE(mirror.empty()) << to_text(fft.plan) << mirror.front().message;
    }
    EXPECT_THROW(parse_plan("cuda;fft=cufft", problem), Error);
  }
}

TEST(PrimeOrder, APlanOfAnotherOrderIsRefusedByName) {
  const Problem natural = parse_problem("fft:type=c2c,n=64,prec=f32"),
                reversed = parse_problem("fft:type=c2c,n=64,prec=f32,order=reversed");
  const std::string plan = "cuda;fft=interleaved{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1]:order=";
  EXPECT_NO_THROW(parse_plan(plan + "primes", reversed));
  for (const auto& [text, problem] : {std::pair(plan + "primes", natural), std::pair(plan + "natural", reversed)}) {
    try {
      parse_plan(text, problem);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("the plan has order="), std::string::npos) << error.what();
    }
  }
}

// Lines of several kernels carry neighbours on the line: as many as both directions may.
TEST(PrimeOrder, UntunedPlansOfLongLinesRunBothWays) {
  std::vector<std::int64_t> sizes = {18750, 28350, 93750, 193536, 207636, 238140};
  for (std::int64_t n = 4116; n < 300000; n += 4116)
    if (has_codelets(n)) sizes.push_back(n);
  ASSERT_GT(sizes.size(), 25u);
  for (const std::int64_t n : sizes)
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      EmitOptions options;
      options.n = {n, 1, 1, 1};
      options.precision = precision;
      for (const bool mirror : {false, true}) {
        options.order = mirror ? DigitOrder::natural : DigitOrder::primes;
        options.from = mirror ? DigitOrder::primes : DigitOrder::natural;
        SCOPED_TRACE(fmt::format("n={} {} {}", n, precision == Precision::f32 ? "f32" : "f64", mirror));
        EXPECT_NO_THROW({ EXPECT_EQ(lower(fitted_plan(options, h200()), options).refusal, ""); });
      }
    }
}

// The plan of a reversed problem serves the unreversed one, mirrored.
TEST(PrimeOrder, AStoredPlanIsAdaptedToTheInverse) {
  const Problem reversed = parse_problem("fft:type=c2c,n=64,prec=f32,order=reversed"),
                inverse = parse_problem("fft:type=c2c,n=64,prec=f32,sign=1,order=unreversed");
  const Plan plan =
      parse_plan("cuda;fft=interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=32,tile=1]:order=primes", reversed);
  EXPECT_EQ(to_text(gpu_fft_adapt(plan, inverse, h200()), inverse),
            "cuda;fft=interleaved{X(16,4,16,64,tw),X(4,16,1,16,no-tw)}[threads=32,tile=1]:order=natural,from=primes");
}

}  // namespace
}  // namespace fourtune::generator::fft
