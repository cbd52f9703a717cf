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
        check(p, along(1 + checked % 2), random, checked % 3);
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
