// Family along: lines whose vectors hold neighbours of the line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fourtune/status.h"
#include "generator/plan/along.h"
#include "runtime/backends/cpu/fft/along.h"
#include "tests/runtime/fft_check.h"
#include "tests/support/turns.h"

namespace fourtune::runtime::cpu {
namespace {

using namespace fft_check;
using generator::along_length;
using generator::along_passes;

Plan along(int threads = 1) { return plan_of(FftFamily::along, Rigor::measure, threads, 64); }

// Complex and real lines of every length up to 200, and longer ones of three passes and more.
std::vector<int> lengths() {
  std::vector<int> all;
  for (int n = 1; n <= 200; ++n) all.push_back(n);
  for (const int n : {225, 256, 300, 350, 512, 625, 720, 1000, 1024, 1040, 1232, 1350, 1875, 2048}) all.push_back(n);
  return all;
}

TEST(FftAlong, EveryLengthPlaceAndSignMatchesTheDirectSumAndItsAdjoint) {
  std::mt19937_64 random(20261126);
  int checked = 0;
  for (const int n : lengths())
    for (const char* type : {"c2c", "r2c", "c2r"})
      for (const char* prec : {"f32", "f64"}) {
        static constexpr const char* tails[] = {"", ",place=in", ",sign=1", ",place=in,sign=-1", ",sign=-1"};
        const int real = std::string(type) == "c2c" ? 1 : 2;
        const std::string token = fmt::format("type={},n={},prec={},batch={}{}", type, real * n, prec,
                                              n < 225 ? 1 + checked % 3 : 1, tails[checked % 5]);
        const Problem p = problem_of(token);
        if (along_length(p) == 0 || (real == 2 && n > 720)) continue;
        EXPECT_EQ(along_length(p), n) << token;
        if (test::next_has_turn_under_sanitizers()) check(p, along(1 + checked % 2), random, checked % 3);
        ++checked;
      }
  EXPECT_GT(checked, 250);
}

// What the test above runs over: each radix in the first pass, in the last one and between them.
TEST(FftAlong, PassesMultiplyToTheLengthAndTakeEveryRadix) {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    std::set<int> first, middle, last;
    for (const int n : lengths()) {
      const auto radices = along_passes(n, precision).radices;
      if (radices.empty()) continue;
      ASSERT_GE(radices.size(), 2U) << n;
      int product = 1;
      for (const int r : radices) product *= r;
      EXPECT_EQ(product, n);
      EXPECT_GE(n / radices[0], precision == Precision::f32 ? 8 : 4) << n;
      first.insert(radices.front()), last.insert(radices.back());
      middle.insert(radices.begin() + 1, radices.end() - 1);
    }
    EXPECT_GE(first.size(), 6U);
    EXPECT_GE(last.size(), 10U);
    EXPECT_GE(middle.size(), 5U);
  }
}

TEST(FftAlong, LinesWithGapsBetweenThemMatchTheDirectSumAndTouchNothingElse) {
  std::mt19937_64 random(18);
  int at = 0;
  for (const int n : {64, 72, 96, 100, 150, 240})
    for (const char* type : {"c2c", "r2c", "c2r"}) {
      const Problem p = problem_of(fmt::format("type={},n={},prec={},batch=5,layout=1+{}/1+{}", type, 2 * n,
                                               at % 2 == 0 ? "f32" : "f64", 2 * n + 3 + at % 2, 2 * n + 7));
      ASSERT_GT(along_length(p), 0);
      check(p, along(1 + at++ % 3), random);
    }
}

// A line's bits depend on nothing but its values: not on its place in memory, its batch or the threads.
template <class T>
void expect_same_bits(std::int64_t n, std::mt19937_64& random) {
  const char* prec = sizeof(T) == 4 ? "f32" : "f64";
  const auto lines = random_array<T>(random, 2 * n * 7);
  const Problem many = problem_of(fmt::format("type=c2c,n={},prec={},batch=7", n, prec));
  const Problem one = problem_of(fmt::format("type=c2c,n={},prec={}", n, prec));
  std::vector<T> first(lines.size()), in = lines, shifted(lines.size() + 1), alone(static_cast<std::size_t>(2 * n));
  make_fft_executor(many, along(1), {})->execute(in.data(), first.data(), false);
  make_fft_executor(many, along(3), {})->execute(in.data(), shifted.data() + 1, false);
  EXPECT_EQ(0, std::memcmp(first.data(), shifted.data() + 1, first.size() * sizeof(T))) << n;
  const auto executor = make_fft_executor(one, along(1), {});
  for (std::int64_t b = 0; b < 7; ++b) {
    executor->execute(in.data() + 2 * n * b, alone.data(), false);
    EXPECT_EQ(0, std::memcmp(alone.data(), first.data() + 2 * n * b, alone.size() * sizeof(T))) << n;
  }
}
TEST(FftAlong, PlaceBatchAndThreadsDoNotChangeABit) {
  std::mt19937_64 random(4);
  for (const int n : {64, 90, 128, 1000, 1875, 8192, 65536})
    expect_same_bits<float>(n, random), expect_same_bits<double>(n, random);
}

// Threads share a line that is alone. The parts and areas run in any order here, on one thread.
template <class T>
void expect_shared_bits(std::int64_t n, std::mt19937_64& random) {
  const Precision precision = sizeof(T) == 4 ? Precision::f32 : Precision::f64;
  const int most = generator::along_areas(n, precision, 64);
  ASSERT_GE(most, 2) << n;
  const auto in = random_array<T>(random, 2 * n);
  std::vector<T> whole(in.size()), out(in.size());
  for (const bool swap : {false, true}) {
    const AlongPlan<T> plan = make_along_plan<T>(n);
    const AlignedBytes work(plan.work_bytes());
    along_kernels<T>().transform(plan, {in.data(), whole.data()}, work.template as<T>(), swap);
    for (int areas = 2; areas <= most; areas *= 2) {
      const AlongPlan<T> shared = make_along_plan<T>(n, areas);
      const AlignedBytes all(shared.work_bytes());
      std::fill(out.begin(), out.end(), T(0));
      for (int part = areas; part-- > 0;) along_kernels<T>().first(shared, part, in.data(), all.template as<T>(), swap);
      for (int area = areas; area-- > 0;)
        along_kernels<T>().later(shared, area, all.template as<T>(), out.data(), swap);
      EXPECT_EQ(0, std::memcmp(whole.data(), out.data(), out.size() * sizeof(T))) << n << ", areas " << areas;
    }
  }
}
TEST(FftAlong, PartsOfASharedLineGiveTheBitsOfAWholeOne) {
  if (along_kernels<float>().lanes == 0) GTEST_SKIP() << "a processor without vectors";
  std::mt19937_64 random(18);
  for (const int n : {2048, 3360, 11200, 42336, 65536})
    expect_shared_bits<float>(n, random), expect_shared_bits<double>(n, random);
  for (const int n : {2240, 9720}) expect_shared_bits<double>(n, random);
}

TEST(FftAlong, SingleLinesHaveTheSameBitsOnAnyNumberOfThreads) {
  std::mt19937_64 random(19);
  for (const int n : {2048, 16384})
    for (const char* type : {"c2c", "r2c", "c2r"})
      for (const char* tail : {"", ",place=in", ",sign=1", ",batch=2,sign=-1"}) {
        if (std::string(type) != "c2c" && std::string(tail) == ",place=in") continue;
        const Problem p = problem_of(fmt::format("type={},n={},prec=f32{}", type, 2 * n, tail));
        const auto in = random_array<float>(random, 3 * (4 * n + 8));
        std::vector<float> one(in.size()), other(in.size());
        for (const int threads : {1, 2, 3, 4, 8}) {
          auto from = in;
          const auto executor = make_fft_executor(p, along(threads), {});
          std::vector<float>& to = threads == 1 ? one : other;
          executor->execute(from.data(), p.place == Place::in ? from.data() : to.data(), false);
          if (p.place == Place::in) to = from;
          EXPECT_EQ(0, std::memcmp(one.data(), to.data(), to.size() * sizeof(float))) << type << n << tail << threads;
        }
      }
}

TEST(FftAlong, LinesAreSharedByAsManyAreasAsTheFirstPassFills) {
  EXPECT_EQ(generator::along_areas(65536, Precision::f32, 1), 1);
  EXPECT_EQ(generator::along_areas(65536, Precision::f32, 3), 2);
  EXPECT_EQ(generator::along_areas(65536, Precision::f32, 64), 2) << "16 results, vectors of 8";
  EXPECT_EQ(generator::along_areas(65536, Precision::f64, 64), 4);
  EXPECT_EQ(generator::along_areas(5670, Precision::f32, 2), 1) << "an odd first pass";
  EXPECT_EQ(generator::along_areas(1024, Precision::f32, 2), 1) << "too short";
}

TEST(FftAlong, OtherProblemsAreRefused) {
  for (const char* token : {"type=c2c,n=64x64,prec=f32", "type=c2c,n=64,prec=f32,layout=3/3", "type=r2c,n=225,prec=f64",
                            "type=c2c,n=1088,prec=f32", "type=c2c,n=56,prec=f32", "type=c2c,n=131072,prec=f64"}) {
    const Problem p = problem_of(token);
    EXPECT_EQ(along_length(p), 0) << token;
    EXPECT_THROW(generator::parse_plan("cpu;threads=1;fft=along", p), Error) << token;
    EXPECT_THROW(make_fft_executor(p, along(), {}), Error) << token;
  }
  const Problem p = problem_of("type=c2c,n=64,prec=f32");
  EXPECT_EQ(generator::to_text(generator::parse_plan("cpu;threads=1;fft=along", p), p), "cpu;threads=1;fft=along");
}

}  // namespace
}  // namespace fourtune::runtime::cpu
