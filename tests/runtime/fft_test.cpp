#include "runtime/backends/cpu/fft/fft.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/backends/cpu/fft/simd.h"
#include "tests/runtime/fft_check.h"
#include "tests/support/turns.h"

namespace fourtune::runtime::cpu {
namespace {

using namespace fft_check;

// A layout whose dimensions are stored in random order with random gaps.
ArrayLayout random_layout(std::mt19937_64& random, int dim, const Sizes& sizes, bool batch_first) {
  ArrayLayout layout;
  std::array<int, most_dimensions> order{0, 1, 2, 3};
  std::shuffle(order.begin(), order.begin() + dim, random);
  std::int64_t stride = 1 + static_cast<std::int64_t>(random() % 2);
  if (batch_first) {
    layout.distance = stride;
    stride *= 5;
  }
  for (int i = 0; i < dim; ++i) {
    layout.stride[order[i]] = stride;
    stride *= sizes[order[i]] + static_cast<std::int64_t>(random() % 3);
  }
  if (!batch_first) layout.distance = stride;
  return layout;
}

Problem random_problem(std::mt19937_64& random) {
  constexpr std::int64_t sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12,  13, 15,
                                    16, 17, 20, 21, 24, 27, 32, 35, 49, 64, 100, 127};
  Problem p;
  p.kind = Kind::fft;
  p.fft_type = static_cast<FftType>(random() % 3);
  p.dim = 1 + static_cast<int>(random() % most_dimensions);
  p.precision = random() % 2 == 0 ? Precision::f32 : Precision::f64;
  p.sign = random() % 2 == 0 ? -1 : 1;
  p.batch = 1 + static_cast<std::int64_t>(random() % 4);
  p.place = random() % 2 == 0 ? Place::out : Place::in;
  do {
    for (int d = 0; d < p.dim; ++d) p.n[d] = sizes[random() % std::size(sizes)];
  } while (volume(p.n) > 2000);
  if (p.place == Place::out) {
    if (random() % 2 == 0) p.input_layout = random_layout(random, p.dim, input_sizes(p), random() % 3 == 0);
    if (random() % 2 == 0) p.output_layout = random_layout(random, p.dim, output_sizes(p), random() % 3 == 0);
  } else if (p.fft_type == FftType::c2c && random() % 2 == 0) {
    p.input_layout = p.output_layout = random_layout(random, p.dim, p.n, random() % 3 == 0);
  }
  return p;
}

TEST(Fft, RandomProblemsMatchTheDirectSumAndTheirAdjoint) {
  std::mt19937_64 random(20240501);
  for (int i = 0; i < 200; ++i) {
    const Problem p = random_problem(random);
    const FftFamily family = families()[static_cast<std::size_t>(i) % families().size()];
    const int block = 1 + static_cast<int>(random() % 20);
    check(p, plan_of(family, Rigor::estimate, 1 + static_cast<int>(random() % 3), block), random);
  }
}

TEST(Fft, EveryTypeAndPlaceWorksInBothFamiliesPrecisionsAndSigns) {
  std::mt19937_64 random(7);
  for (const char* type : {"c2c", "r2c", "c2r"})
    for (const char* n : {"48", "15x8", "12x9x10", "1x1x1", "7x1x4", "6x5x4x3"})
      for (const char* prec : {"f32", "f64"})
        for (const char* tail : {"", ",place=in", ",sign=1", ",place=in,sign=1"})
          for (const FftFamily family : families())
            check(problem_of(std::string("type=") + type + ",n=" + n + ",prec=" + prec + ",batch=3" + tail),
                  plan_of(family), random);
}

// Few threads and few transforms fuse more dimensions in a step than many.
TEST(Fft, FourDimensionsMatchTheDirectSumHoweverStepsAreJoined) {
  std::mt19937_64 random(17);
  for (const char* type : {"c2c", "r2c", "c2r"})
    for (const char* n : {"8x6x5x4", "4x6x2x1", "9x1x3x7"})
      for (const char* batch : {"1", "2", "7"})
        for (const int threads : {1, 3, 5})
          check(problem_of(fmt::format("type={},n={},prec=f64,batch={}", type, n, batch)),
                plan_of(FftFamily::rows, Rigor::estimate, threads, 4), random);
}

// Rows of real numbers and of their spectra that begin in different places: the input is copied first.
TEST(Fft, InPlaceRowsThatMoveMatchTheDirectSum) {
  std::mt19937_64 random(11);
  const struct {
    const char *sizes, *batch, *layout;
  } cases[] = {{"r2c,n=8x6", "", "1x8/1x5"},
               {"r2c,n=9x7x5", "", "1x9x63/1x6x50"},
               {"c2r,n=8x6", "", "1x5/1x8"},
               {"c2r,n=12x7", "", "1x7/1x20"},
               {"r2c,n=8x6", "", "2x20/1x10"},
               {"c2r,n=8x6", "", "3x30/1x9"},
               {"r2c,n=8x6", ",batch=3", "1x10+60/1x5+40"},
               {"c2r,n=16x3", ",batch=4", "1x9+30/1x18+54"},
               {"r2c,n=4x3x2x5", ",batch=2", "1x4x12x24+120/1x3x11x25+127"}};
  for (const char* precision : {"f32", "f64"})
    for (const auto& one : cases)
      check(
          problem_of(fmt::format("type={},prec={}{},place=in,layout={}", one.sizes, precision, one.batch, one.layout)),
          plan_of(FftFamily::rows, Rigor::estimate, 2, 8), random);
}

TEST(Fft, EveryLengthUpTo130MatchesTheDirectSum) {
  std::mt19937_64 random(11);
  for (int n = 1; n <= 130; ++n) {
    for (const char* prec : {"f32", "f64"}) {
      if (!test::next_has_turn_under_sanitizers()) continue;
      Problem p = problem_of("type=c2c,n=" + std::to_string(n) + "x19,prec=" + prec);
      check(p, plan_of(FftFamily::rows), random);
      p = problem_of("type=r2c,n=" + std::to_string(n) + "x3,prec=" + prec);
      check(p, plan_of(FftFamily::rows), random);
    }
  }
}

TEST(Fft, LongAndAwkwardLengthsMatchTheDirectSum) {
  std::mt19937_64 random(13);
  for (const char* n : {"1009", "1024", "1250", "2048", "2039"})
    for (const char* prec : {"f32", "f64"})
      for (const FftFamily family : families())
        check(problem_of(std::string("type=c2c,n=") + n + ",prec=" + prec), plan_of(family), random);
}

// Lines longer than the caches run by our own passes; FFTW, whose wisdom would tell, has the short single ones.
TEST(Fft, LongLinesOfOurOwnNeedNoFftw) {
  std::mt19937_64 random(14);
  for (const char* prec : {"f32", "f64"})
    for (const char* tail : {"", ",place=in", ",sign=1"}) {
      const Problem p = problem_of(std::string("type=c2c,n=16384,prec=") + prec + tail);
      EXPECT_EQ(make_fft_executor(p, plan_of(FftFamily::rows), {})->wisdom(), "") << to_token(p);
      const Problem brief = problem_of(std::string("type=c2c,n=64,prec=") + prec + tail);
      EXPECT_EQ(make_fft_executor(brief, plan_of(FftFamily::rows), {})->wisdom().empty(), !has_fftw());
    }
}

// Threads share long lines, or take whole ones where there are enough of them; of short lines they take blocks, which
// are smaller where there are few. One thread's results are right (above), and all others have the same bits.
TEST(Fft, BatchesHaveTheSameBitsOnAnyNumberOfThreads) {
  std::mt19937_64 random(23);
  const struct {
    const char *sizes, *tail;
  } cases[] = {{"c2c,n=8960", ""},    {"c2c,n=8960", ",place=in"}, {"c2c,n=12000", ",layout=2+24001/1+12007"},
               {"c2c,n=256", ""},     {"r2c,n=240", ""},           {"c2r,n=96x5", ""},
               {"c2c,n=10x12x14", ""}};
  for (const auto& one : cases)
    for (const int batch : {1, 2, 4, 7, 37}) {
      const Problem p = problem_of(fmt::format("type={},prec=f32,batch={}{}", one.sizes, batch, one.tail));
      const Side in = input_side(p), out = output_side(p);
      const std::int64_t reals = std::max(in.span(batch) * (in.real ? 1 : 2), out.span(batch) * (out.real ? 1 : 2));
      const auto data = random_array<float>(random, reals);
      const auto result = [&](int threads) {
        ExecutorOptions options;
        options.deterministic = true;  // few lines may be FFTW's, whose plans depend on its threads
        const auto executor = make_fft_executor(p, plan_of(FftFamily::rows, Rigor::estimate, threads, 64), options);
        std::vector<float> first = data, second(static_cast<std::size_t>(reals), 0);
        executor->execute(first.data(), p.place == Place::in ? first.data() : second.data(), false);
        return p.place == Place::in ? first : second;
      };
      const auto alone = result(1);
      for (const int threads : {2, 3, 4}) EXPECT_TRUE(result(threads) == alone) << to_token(p) << " on " << threads;
    }
}

TEST(Fft, FftwHasTheLinesThatLeaveLanesIdle) {
  const auto ours = [](std::int64_t n, std::int64_t available, bool real) {
    LineFftChoice choice;
    choice.n = n, choice.available = available;
    return make_simd_lines<float>(choice, real) != nullptr;
  };
  EXPECT_TRUE(ours(48, 64, true));
  EXPECT_TRUE(ours(45, 64, true));
  EXPECT_TRUE(ours(45, 64, false));
  const int lanes = simd_fft_kernels<float>().lanes;
  EXPECT_TRUE(ours(48, (lanes + 3) / 4, false));
  if (lanes > 4) {
    EXPECT_FALSE(ours(48, lanes / 4 - 1, false));
  }
}

TEST(Fft, ArraysOfAnyAlignmentWork) {
  std::mt19937_64 random(17);
  for (const char* type : {"c2c", "r2c", "c2r"})
    for (const char* prec : {"f32", "f64"})
      for (const FftFamily family : families())
        for (const char* n : {"60", "16x16"})
          for (const char* place : {"", ",place=in"})
            for (const std::int64_t shift : {1, 2, 3})
              check(problem_of(std::string("type=") + type + ",n=" + n + ",prec=" + prec + place), plan_of(family),
                    random, shift);
}

TEST(Fft, MeasuredPlansMatchTheDirectSum) {
  if (!has_fftw()) GTEST_SKIP() << "rigor is that of FFTW's planner";
  std::mt19937_64 random(19);
  for (const char* type : {"c2c", "r2c", "c2r"})
    check(problem_of(std::string("type=") + type + ",n=16x12,prec=f64"), plan_of(FftFamily::fftw, Rigor::measure),
          random);
  check(problem_of("type=c2c,n=8x8,prec=f32"), plan_of(FftFamily::fftw, Rigor::patient), random);
}

TEST(Fft, PointersThatContradictThePlaceAreRefused) {
  std::vector<double> a(64), b(64);
  const auto status = [&](const char* token, void* first, void* second) {
    const auto executor = make_fft_executor(problem_of(token), plan_of(FftFamily::rows), {});
    try {
      executor->execute(first, second, false);
    } catch (const Error& error) {
      return error.status();
    }
    return Status::success;
  };
  EXPECT_EQ(status("type=c2c,n=8,prec=f64", a.data(), b.data()), Status::success);
  EXPECT_EQ(status("type=c2c,n=8,prec=f64", a.data(), a.data()), Status::invalid_argument);
  EXPECT_EQ(status("type=c2c,n=8,prec=f64,place=in", a.data(), a.data()), Status::success);
  EXPECT_EQ(status("type=c2c,n=8,prec=f64,place=in", a.data(), b.data()), Status::invalid_argument);
  EXPECT_EQ(status("type=c2c,n=8,prec=f64", a.data(), nullptr), Status::invalid_argument);
  EXPECT_THROW(make_fft_executor(problem_of("type=c2c,n=8,prec=f64"), plan_of(FftFamily::pruned), {}), Error);
}

TEST(Fft, BatchedRealTransformsDoNotLeakIntoEachOther) {
  // One transform of a batch is 1e12 times larger than its neighbours, or not finite: it must not affect them.
  for (const double large : {1e12, std::numeric_limits<double>::infinity()}) {
    // In the last ones, neighbouring transforms are adjacent in memory.
    for (const char* n :
         {"n=48", "n=15", "n=4125", "n=12x6", "n=15x6", "n=15x1", "n=15x6|3x45+1/3x24+1", "n=12x6|3x36+1/3x21+1"}) {
      const std::string text(n), size = text.substr(0, text.find('|'));
      const std::string layout = size == text ? "" : ",layout=" + text.substr(size.size() + 1);
      const Problem p = problem_of("type=r2c," + size + ",prec=f64,batch=3" + layout);
      const Side in = input_side(p), out = output_side(p);
      std::mt19937_64 random(23);
      auto x = random_array<double>(random, in.span(3));
      for (std::int64_t element = 0; element < volume(in.sizes); ++element) x[in.at(element, 1)] *= large;
      std::vector<double> y(2 * out.span(3));
      make_fft_executor(p, plan_of(FftFamily::rows), {})->execute(x.data(), y.data(), false);
      for (const std::int64_t b : {0, 2}) {
        const auto reference = expected(p, read(in, x, b));
        EXPECT_LE(distance(read(out, y, b), reference), tolerance<double>(p) * norm(reference)) << n << " " << b;
      }
    }
  }
}

TEST(Fft, AnInputThatOverlapsItselfIsReadAndHasNoAdjoint) {
  // All rows are the same one.
  const Problem p = problem_of("type=c2c,n=6x4,prec=f64,layout=1x1/1x6");
  std::mt19937_64 random(3);
  auto x = random_array<double>(random, 2 * 9);
  std::vector<double> y(2 * 24);
  const auto executor = make_fft_executor(p, plan_of(FftFamily::rows), {});
  executor->execute(x.data(), y.data(), false);
  const auto reference = expected(p, read(input_side(p), x, 0));
  EXPECT_LE(distance(read(output_side(p), y, 0), reference), tolerance<double>(p) * norm(reference));
  try {
    executor->execute(x.data(), y.data(), true);
    ADD_FAILURE() << "the adjoint would write the same elements several times";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
  }
}

TEST(Fft, AFamilyThatTheBuildHasNotIsRefusedByName) {
  if (has_fftw()) GTEST_SKIP() << "this build has all of them";
  try {
    make_fft_executor(problem_of("type=c2c,n=8,prec=f64"), plan_of(FftFamily::fftw), {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
    EXPECT_NE(std::string(error.what()).find("no FFTW"), std::string::npos) << error.what();
  }
}

TEST(Fft, TwoExecutorsRunAtOnceOnTwoThreads) {
  const auto work = [](const char* token, FftFamily family, int seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20; ++i) check(problem_of(token), plan_of(family, Rigor::estimate, 2), random);
  };
  std::thread one(work, "type=c2c,n=16x10x6,prec=f64,batch=2", FftFamily::rows, 1);
  std::thread two(work, "type=r2c,n=20x12,prec=f64,batch=2", families()[0], 2);
  one.join();
  two.join();
}

TEST(Fft, ExecutorsRunInsideTheCallersParallelRegion) {
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (int i = 0; i < 4; ++i) {
    std::mt19937_64 random(31 + i);
    check(problem_of(i % 2 == 0 ? "type=c2c,n=12x10x6,prec=f32" : "type=c2c,n=4096,prec=f32"),
          plan_of(FftFamily::rows, Rigor::estimate, 1 + i / 2), random);
  }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
