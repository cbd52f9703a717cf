// Which of our lines and FFTW's estimate the model holds for faster, and what follows for untuned plans.
#include "generator/planner/cpu/fft_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/candidates.h"
#include "generator/plan/fft_boxes.h"
#include "generator/planner/reference_rates.h"

namespace fourtune::generator {
namespace {

DeviceTraits processor(int cores, const std::string& name = {}) {
  DeviceTraits traits;
  traits.backend = "cpu", traits.isa = "avx512", traits.cores = cores, traits.name = name;
  return traits;
}

// Measured on one thread, where one family takes at least twice as long as the other one: the model must see it too.
struct Measured {
  const char* token;
  double rows_us, library_us;
};
class FftTimesOf : public ::testing::TestWithParam<Measured> {};
TEST_P(FftTimesOf, TellWhichFamilyIsFaster) {
  const FftTimes times = fft_times(parse_problem(GetParam().token), 1, processor(1));
  EXPECT_EQ(times.library < times.rows, GetParam().library_us < GetParam().rows_us)
      << GetParam().token << ": rows " << times.rows * 1e6 << " us, library " << times.library * 1e6 << " us";
  // Within a factor of three of what was measured, so that threads are weighed against the right time.
  EXPECT_LT(std::abs(std::log(times.rows * 1e6 / GetParam().rows_us)), std::log(3)) << GetParam().token;
  EXPECT_LT(std::abs(std::log(times.library * 1e6 / GetParam().library_us)), std::log(3)) << GetParam().token;
}
INSTANTIATE_TEST_SUITE_P(Drawn, FftTimesOf,
                         ::testing::Values(Measured{"fft:type=c2c,n=64,prec=f64,batch=2,place=in", 0.495, 0.161},
                                           Measured{"fft:type=r2c,n=2048,prec=f64,batch=3", 14.8, 5.3},
                                           Measured{"fft:type=c2r,n=4096,prec=f64,batch=2", 27.2, 10.2},
                                           Measured{"fft:type=r2c,n=7290,prec=f64,batch=2", 71.9, 34.3},
                                           Measured{"fft:type=c2c,n=4032,prec=f64,batch=2", 61.8, 29.5},
                                           Measured{"fft:type=c2c,n=3922,prec=f32,batch=5,place=in", 101, 602},
                                           Measured{"fft:type=c2c,n=31x28,prec=f32,batch=43", 54.5, 276},
                                           Measured{"fft:type=c2c,n=58x16,prec=f32,batch=4", 5.05, 22.4},
                                           Measured{"fft:type=c2r,n=27x27,prec=f64,batch=73", 99.7, 370},
                                           Measured{"fft:type=c2c,n=540x27,prec=f32", 20.9, 67.7},
                                           Measured{"fft:type=c2r,n=9x9x9,prec=f32", 0.908, 2.47},
                                           Measured{"fft:type=c2c,n=28x28x28,prec=f64", 69.7, 176},
                                           Measured{"fft:type=c2c,n=16384,prec=f32,batch=2", 42.9, 100},
                                           Measured{"fft:type=r2c,n=20x8,prec=f32,batch=329", 19.1, 59.7},
                                           Measured{"fft:type=c2c,n=21504,prec=f32,batch=2,place=in", 52.2, 108}));

TEST(FftTimes, OddRealLinesOfSeveralDimensionsNeverGoToTheLibrarysThreads) {
  EXPECT_EQ(fft_times(parse_problem("fft:type=r2c,n=21x21x21,prec=f32"), 2, processor(2)).library, INFINITY);
  EXPECT_LT(fft_times(parse_problem("fft:type=r2c,n=21x21x21,prec=f32"), 1, processor(1)).library, INFINITY);
  EXPECT_LT(fft_times(parse_problem("fft:type=r2c,n=22x21x21,prec=f32"), 2, processor(2)).library, INFINITY);
  EXPECT_LT(fft_times(parse_problem("fft:type=r2c,n=21,prec=f32,batch=500"), 2, processor(2)).library, INFINITY);
}

TEST(FftTimes, AreFiniteAndPositiveForEveryLength) {
  for (const std::string type : {"c2c", "r2c", "c2r"})
    for (const std::string rest :
         {"n=1,prec=f32", "n=2,prec=f64", "n=1x1x1,prec=f32", "n=65537,prec=f64", "n=1000003,prec=f32",
          "n=3x1,prec=f64,batch=7", "n=1073741824,prec=f32", "n=288230376151711717,prec=f32",
          "n=288230376151711744,prec=f64", "n=3x72057594037927936,prec=f32"})
      for (const int threads : {1, 2, 64}) {
        for (const char* name : {"Intel(R) Xeon(R) Processor", "AMD EPYC 9R14"}) {
          const Problem problem = parse_problem("fft:type=" + type + "," + rest);
          const FftTimes times = fft_times(problem, threads, processor(threads, name));
          EXPECT_TRUE(std::isfinite(times.rows) && times.rows > 0) << type << " " << rest;
          EXPECT_GT(times.library, 0) << type << " " << rest;
        }
      }
}

TEST(FftTimes, PricesAreThoseOfTheMakerScaledByTheRatesOfItsMachine) {
  EXPECT_EQ(fft_prices(processor(2, "AMD EPYC 9R14"), Precision::f32).machine, &reference_epyc);
  EXPECT_EQ(fft_prices(processor(2, "Intel(R) Xeon(R) Processor"), Precision::f64).machine, &reference_processor);
  EXPECT_EQ(fft_prices(processor(2), Precision::f32).machine, &reference_processor);
  // A calibration that finds what the prices were measured with changes nothing.
  const Problem problem = parse_problem("fft:type=c2c,n=48x128x8,prec=f64");
  DeviceTraits calibrated = processor(2, "AMD EPYC");
  const FftTimes before = fft_times(problem, 2, calibrated);
  calibrated.rates = reference_epyc;
  const FftTimes after = fft_times(problem, 2, calibrated);
  EXPECT_EQ(before.rows, after.rows);
  EXPECT_EQ(before.library, after.library);
  calibrated.rates.load /= 2;
  EXPECT_GT(fft_times(problem, 2, calibrated).rows, after.rows);
}

TEST(FftTimes, ThreadsShareALineWhoseFirstPassFillsTheirAreas) {
  const auto along = [](const char* token, int threads) {
    return fft_times(parse_problem(token), threads, processor(threads, "AMD EPYC")).along;
  };
  EXPECT_LT(along("fft:type=c2c,n=16384,prec=f64", 2), along("fft:type=c2c,n=16384,prec=f64", 1));
  EXPECT_GT(along("fft:type=c2c,n=9720,prec=f32", 2), along("fft:type=c2c,n=9720,prec=f32", 1)) << "an odd first pass";
}

// Threads that share a transform divide its columns by whole vectors, however many of these a block has.
TEST(FftTimes, ThreadsDivideTheColumnsOfBoxesByVectors) {
  int in_two_steps = 0;
  for (const Sizes& sizes :
       {Sizes{20, 64}, Sizes{48, 128, 8}, Sizes{64, 32, 9}, Sizes{12, 196, 16}, Sizes{9, 256, 32}}) {
    const FftBoxShape shape{sizes[2] > 1 ? 3 : 2, sizes, 1, 8, 16};
    const FftBoxes boxes = fft_boxes(shape);
    if (boxes.split == 0 || boxes.split == shape.dim) continue;
    std::int64_t first = 1, second = 1;
    for (int d = 0; d < shape.dim; ++d) (d < boxes.split ? first : second) *= sizes[static_cast<std::size_t>(d)];
    EXPECT_EQ(boxes.row_units, static_cast<double>((second + 7) / 8));
    EXPECT_EQ(boxes.column_units, static_cast<double>((first + 7) / 8));
    ++in_two_steps;
  }
  EXPECT_GT(in_two_steps, 0);
}

// A single step of a few transforms is one group of lines, which one thread alone would take.
TEST(FftTimes, ThreadsOfABatchHaveParts) {
  FftBoxShape shape{2, Sizes{53, 105}, 4, 8, 16};
  shape.narrow = true, shape.threads = 2, shape.odd_real = true;
  const FftBoxes boxes = fft_boxes(shape);
  EXPECT_TRUE(boxes.split == 1 || boxes.row_units >= 2) << boxes.split;
  // Two transforms are one for each thread, and nothing passes between them; of three, all are shared.
  const auto part = [](const char* token) {
    const Problem problem = parse_problem(token);
    return fft_times(problem, 2, processor(2, "AMD EPYC")).rows / fft_times(problem, 1, processor(2, "AMD EPYC")).rows;
  };
  EXPECT_LT(part("fft:type=r2c,n=270x270,prec=f64,batch=2"), 0.6);
  EXPECT_LT(part("fft:type=c2r,n=105x105,prec=f64,batch=4"), 0.7);
  EXPECT_GT(part("fft:type=r2c,n=270x270,prec=f64,batch=3"), 0.6);
}

// FFTW's threads have parts of each row of a plane: rows of a line or two belong to both.
TEST(FftTimes, RowsOfAFewCacheLinesAreNotForTheLibrarysThreads) {
  const DeviceTraits traits = processor(2, "AMD EPYC");
  const auto library = [&](const char* token, int threads) {
    return fft_times(parse_problem(token), threads, traits).library;
  };
  EXPECT_GT(library("fft:type=c2c,n=8x2048,prec=f32", 2), library("fft:type=c2c,n=8x2048,prec=f32", 1));
  EXPECT_LT(library("fft:type=c2c,n=256x256,prec=f32", 2), library("fft:type=c2c,n=256x256,prec=f32", 1));
}

TEST(FftTimes, LongOddRealLinesAreComplexOnesOfOurs) {
  const DeviceTraits traits = processor(1, "AMD EPYC");
  for (const char* n : {"178605", "235745", "8581"}) {
    const std::string rest = "n=" + std::string(n) + ",prec=f64";
    const double real = fft_times(parse_problem("fft:type=r2c," + rest), 1, traits).rows,
                 complex = fft_times(parse_problem("fft:type=c2c," + rest), 1, traits).rows;
    EXPECT_GT(real, complex) << n;
    EXPECT_LT(real, 1.5 * complex) << n;
  }
}

TEST(UntunedFft, UsesThreadsOnlyWhereTheyPay) {
  const auto threads = [](const char* token) { return default_plan(parse_problem(token), processor(2)).cpu().threads; };
  EXPECT_EQ(threads("fft:type=c2c,n=64,prec=f32"), 1);
  EXPECT_EQ(threads("fft:type=c2c,n=16x16,prec=f64"), 1);
  EXPECT_EQ(threads("fft:type=c2c,n=128x128x128,prec=f32"), 2);
  EXPECT_EQ(threads("fft:type=c2c,n=1024,prec=f64,batch=1000"), 2);
  // Meeting costs less than half a microsecond on an EPYC.
  const auto on_epyc = [](const char* token) {
    return default_plan(parse_problem(token), processor(2, "AMD EPYC")).cpu().threads;
  };
  EXPECT_EQ(on_epyc("fft:type=c2c,n=64,prec=f32"), 1);
  EXPECT_EQ(on_epyc("fft:type=c2c,n=512,prec=f64,batch=10"), 2);
}

TEST(UntunedFft, OfLinesWithoutGapsHasVectorsAlongThem) {
  const auto family = [](const char* token) {
    return default_plan(parse_problem(token), processor(1)).cpu().fft.family;
  };
  for (const char* token :
       {"fft:type=c2c,n=128,prec=f32,batch=172", "fft:type=c2c,n=1024,prec=f64", "fft:type=r2c,n=512,prec=f32,batch=7",
        "fft:type=c2r,n=2000,prec=f64,batch=3,place=in", "fft:type=c2c,n=256,prec=f64,batch=3,layout=1+300/1+300"})
    EXPECT_EQ(family(token), FftFamily::along) << token;
  for (const char* token : {"fft:type=c2c,n=128x128,prec=f32", "fft:type=c2c,n=53,prec=f32,batch=64",
                            "fft:type=r2c,n=1001,prec=f64", "fft:type=c2c,n=131072,prec=f32"}) {
    EXPECT_NE(family(token), FftFamily::along) << token;
    EXPECT_EQ(fft_times(parse_problem(token), 1, processor(1)).along, INFINITY) << token;
  }
}

TEST(UntunedFft, OfStridesAndOrdersKeepsOurLines) {
  for (const char* token :
       {"fft:type=c2c,n=256,prec=f64,batch=3,order=reversed", "fft:type=c2c,n=256,prec=f64,batch=3,layout=2+600/2+600",
        "fft:type=c2c,n=12x12x12,prec=f32,order=unreversed"}) {
    const Plan plan = default_plan(parse_problem(token), processor(1));
    EXPECT_EQ(plan.cpu().fft.family, FftFamily::rows) << token;
  }
}

}  // namespace
}  // namespace fourtune::generator
