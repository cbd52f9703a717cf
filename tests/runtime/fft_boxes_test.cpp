// Several dimensions that are transformed together, and the moves and levels that they brought: groups of fewer lines
// than a vector has lanes, and prime radices.
#include "generator/plan/fft_boxes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "runtime/backends/cpu/fft/boxes.h"
#include "runtime/backends/cpu/fft/library.h"
#include "runtime/backends/cpu/fft/simd.h"
#include "tests/runtime/fft_check.h"
#include "tests/support/turns.h"

namespace fourtune::runtime::cpu {
namespace {

using namespace fft_check;

FftOperation operation_of(const Problem& p, int threads) {
  FftOperation op;
  op.type = p.fft_type, op.sign = p.sign, op.dim = p.dim, op.n = p.n, op.batch = p.batch;
  op.in = resolved_input_layout(p), op.out = resolved_output_layout(p);
  op.in_place = p.place == Place::in;
  op.choice = plan_of(FftFamily::rows).cpu().fft;
  op.threads = threads;
  return op;
}
bool is_box(const Problem& p) {
  return (p.precision == Precision::f32 ? make_box_fft<float>(operation_of(p, 1))
                                        : make_box_fft<double>(operation_of(p, 1))) != nullptr;
}

// Sizes that are split after every dimension, with groups that are full, half full and a bit of one.
constexpr const char* kSizes[] = {"8x8x8",  "12x12x12", "9x7x5",   "15x15",    "16x4x6",    "5x3x64", "6x5x4x3",
                                  "3x2x40", "4x130x2",  "7x6x2x9", "17x6x4",   "10x23x3",   "2x2x2",  "38x3x3",
                                  "1x9x8",  "14x1x6",   "13x8x50", "53x3x2x2", "34x12x3x2", "3x97"};

TEST(FftBoxes, EveryTypePlaceAndSignMatchesTheDirectSumAndItsAdjoint) {
  if (simd_fft_kernels<float>().lanes == 1) GTEST_SKIP() << "this processor has no vectors";
  std::mt19937_64 random(20261118);
  int boxes = 0, all = 0;
  for (const char* n : kSizes)
    for (const char* type : {"c2c", "r2c", "c2r"})
      for (const char* tail : {"", ",place=in", ",sign=1", ",place=in,sign=-1"})
        for (const int batch : {1, 3, 19}) {
          const char* prec = (all + all / 7) % 2 == 0 ? "f32" : "f64";
          const Problem p = problem_of(fmt::format("type={},n={},prec={},batch={}{}", type, n, prec, batch, tail));
          boxes += is_box(p) ? 1 : 0, ++all;
          if (!test::next_has_turn_under_sanitizers()) continue;
          check(p, plan_of(FftFamily::rows, Rigor::estimate, 1 + all % 3), random);
        }
  EXPECT_GT(boxes, all / 2) << "of " << all;
}

// The first level of columns reads the array and the last one writes it: for every radix, with one level and with
// several, with a prime that can do neither, for full groups of lines and a bit of one, and for several axes. Offset
// arrays are not aligned to vectors.
TEST(FftBoxes, ColumnsOfEveryRadixMatchTheDirectSumAndItsAdjoint) {
  if (simd_fft_kernels<float>().lanes == 1) GTEST_SKIP() << "this processor has no vectors";
  std::mt19937_64 random(20264741);
  int all = 0;
  for (const char* columns : {"2",  "3",  "4",  "5",  "6",   "7",   "8",   "9",   "10",  "11",   "12",  "13",
                              "16", "17", "37", "34", "112", "130", "143", "289", "4x6", "17x2", "2x17"})
    for (const char* type : {"c2c", "r2c", "c2r"})
      for (const char* prec : {"f32", "f64"}) {
        const char* tail = all % 2 == 0 ? "" : ",sign=1";
        const Problem p = problem_of(fmt::format("type={},n=75x{},prec={},batch=2{}", type, columns, prec, tail));
        const int threads = 1 + all % 2;
        check(p, plan_of(FftFamily::rows, Rigor::estimate, threads, 64), random, ++all % 3);
      }
}

// The result of dense data in an array that is stored with this layout.
template <class T>
std::vector<LongComplex> result(const Problem& p, const std::vector<LongComplex>& values, int threads) {
  const auto executor = make_fft_executor(p, plan_of(FftFamily::rows, Rigor::estimate, threads, 64), {});
  const Side in = input_side(p), out = output_side(p);
  std::vector<T> first(static_cast<std::size_t>(in.span(p.batch) * (in.real ? 1 : 2)), T(7)),
      second(static_cast<std::size_t>(out.span(p.batch) * (out.real ? 1 : 2)), T(7));
  std::size_t next = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t element = 0; element < volume(in.sizes); ++element, ++next) {
      const auto at = static_cast<std::size_t>(in.at(element, b));
      if (in.real)
        first[at] = static_cast<T>(values[next].real());
      else
        first[2 * at] = static_cast<T>(values[next].real()), first[2 * at + 1] = static_cast<T>(values[next].imag());
    }
  executor->execute(first.data(), second.data(), false);
  std::vector<LongComplex> all;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (const LongComplex& v : read(out, second, b)) all.push_back(v);
  return all;
}

template <class T>
void expect_bits_of_any_layout(const std::string& token, std::mt19937_64& random) {
  const Problem dense = problem_of(token);
  ASSERT_TRUE(is_box(dense)) << token;
  // The dimensions in another order, x with gaps, gaps between the rows.
  Problem other = dense;
  const Side in = input_side(dense), out = output_side(dense);
  for (const bool input : {true, false}) {
    const Sizes& sizes = input ? in.sizes : out.sizes;
    ArrayLayout layout;
    std::int64_t stride = 1;
    for (int d = dense.dim; d-- > 0; stride *= sizes[static_cast<std::size_t>(d)] + 1)
      layout.stride[static_cast<std::size_t>(d)] = stride;
    layout.distance = stride + 3;
    (input ? other.input_layout : other.output_layout) = layout;
  }
  ASSERT_FALSE(is_box(other)) << token;
  const auto values = random_array<T>(random, 2 * volume(in.sizes) * dense.batch);
  std::vector<LongComplex> array;
  for (std::size_t i = 0; i < values.size(); i += 2) array.emplace_back(values[i], values[i + 1]);
  const auto expected_bits = result<T>(dense, array, 1);
  EXPECT_TRUE(result<T>(other, array, 1) == expected_bits) << token;
  EXPECT_TRUE(result<T>(dense, array, 3) == expected_bits) << token << " on three threads";
}

TEST(FftBoxes, OrdersOfAxesAndThreadsDoNotChangeABit) {
  if (simd_fft_kernels<float>().lanes == 1) GTEST_SKIP() << "this processor has no vectors";
  std::mt19937_64 random(4);
  const struct {
    const char *sizes, *tail;
  } cases[] = {{"c2c,n=8x8x8", ",batch=5"},   {"c2c,n=13x7x8", ""},          {"c2c,n=12x12x12", ",sign=1"},
               {"c2c,n=6x5x4x4", ",batch=2"}, {"r2c,n=12x6x10", ",batch=3"}, {"c2r,n=12x6x10", ",batch=3"},
               {"r2c,n=8x10x7", ",sign=1"},   {"c2r,n=8x10x7", ",sign=-1"},  {"c2c,n=17x6x6", ""}};
  for (const auto& one : cases) {
    expect_bits_of_any_layout<float>(fmt::format("type={},prec=f32{}", one.sizes, one.tail), random);
  }
  // Short dimensions of f64 alone, in arrays with strides, are FFTW's.
  for (const char* sizes : {"c2c,n=24x6x10", "r2c,n=24x6x10", "c2r,n=24x10x4"})
    expect_bits_of_any_layout<double>(fmt::format("type={},prec=f64,batch=2", sizes), random);
}

// FFTW's bits depend on strides, so deterministic transforms take our lines in f32.
TEST(FftBoxes, DeterministicTransformsOfF32LeaveFftwForOurLines) {
  if (!fft_library<float>()) GTEST_SKIP() << "this build has no FFTW";
  const auto family = [](const char* token, bool deterministic) {
    ExecutorOptions options;
    options.deterministic = deterministic;
    const auto executor = make_fft_executor(problem_of(token), plan_of(FftFamily::fftw, Rigor::estimate), options);
    return executor->plan().cpu().fft.family;
  };
  EXPECT_EQ(family("type=c2c,n=13x7x8,prec=f32", true), FftFamily::rows);
  EXPECT_EQ(family("type=c2c,n=13x7x8,prec=f32", false), FftFamily::fftw);
  EXPECT_EQ(family("type=c2c,n=13x7x8,prec=f64", true), FftFamily::fftw);
  EXPECT_EQ(family("type=c2c,n=13,prec=f32", true), FftFamily::fftw) << "one dimension has one order";
}

// As sums, as convolutions of their length less one, and as longer ones (107, 503, 1019).
TEST(FftBoxes, PrimesAndTheirProductsMatchTheDirectSum) {
  std::mt19937_64 random(97);
  for (const int n :
       {17, 19, 23, 29,  31,      37,     41,     43,     47,      53,  59,  61,  67,   71,       73,      79,
        83, 89, 97, 101, 17 * 17, 2 * 97, 6 * 41, 3 * 53, 16 * 31, 103, 107, 503, 1019, 12 * 101, 37 * 61, 5 * 107}) {
    EXPECT_TRUE(simd_fft_supports(n)) << n;
    for (const char* prec : {"f32", "f64"}) {
      check(problem_of(fmt::format("type=c2c,n={},prec={},batch=21", n, prec)), plan_of(FftFamily::rows), random);
      check(problem_of(fmt::format("type=r2c,n={}x3,prec={},batch=7", n, prec)), plan_of(FftFamily::rows), random);
    }
  }
}

// Lines that threads share, a matrix of which one side is a prime that is convolved.
TEST(FftBoxes, LongLinesWithALargePrimeMatchTheDirectSum) {
  std::mt19937_64 random(461);
  for (const char* rest : {"n=4141,prec={}", "n=5150,prec={},batch=2", "n=4099,prec={},place=in"})  // 41 101, 50 103
    for (const char* prec : {"f32", "f64"})
      for (const int threads : {1, 2})
        check(problem_of("type=c2c," + fmt::format(fmt::runtime(rest), prec)),
              plan_of(FftFamily::rows, Rigor::estimate, threads, 64), random);
}

template <class T>
void expect_bits_of_any_threads(const std::string& token, std::mt19937_64& random) {
  const Problem p = problem_of(token);
  const auto values = random_array<T>(random, 2 * volume(input_side(p).sizes) * p.batch);
  std::vector<LongComplex> array;
  for (std::size_t i = 0; i < values.size(); i += 2) array.emplace_back(values[i], values[i + 1]);
  const auto one = result<T>(p, array, 1);
  for (const int threads : {2, 3}) EXPECT_TRUE(result<T>(p, array, threads) == one) << token << " on " << threads;
}

// 4099 is convolved as a whole: threads share the only transform, or take whole ones of several.
TEST(FftBoxes, ThreadsThatTakeWholeConvolutionsMatchTheDirectSumAndChangeNoBit) {
  std::mt19937_64 random(4099);
  for (const char* rest : {"batch=2", "batch=2,place=in", "batch=7,sign=1"})
    for (const int threads : {2, 3}) {
      check(problem_of(fmt::format("type=c2c,n=4099,prec=f32,{}", rest)),
            plan_of(FftFamily::rows, Rigor::estimate, threads, 64), random);
      check(problem_of(fmt::format("type=c2c,n=4099,prec=f64,{}", rest)),
            plan_of(FftFamily::rows, Rigor::estimate, threads, 64), random);
    }
  expect_bits_of_any_threads<float>("type=c2c,n=4099,prec=f32,batch=7", random);
  expect_bits_of_any_threads<double>("type=c2c,n=4099,prec=f64,batch=4", random);
}

// Columns at powers of two of each other go through an array of their own between the steps, of one chunk of transforms
// for each thread or of all of them; chunks end unevenly, and the last block of columns is narrower than others.
TEST(FftBoxes, ColumnsAtPowersOfTwoMatchTheDirectSumAndChangeNoBit) {
  std::mt19937_64 random(128);
  for (const char* sizes : {"128x20", "256x18", "64x36", "320x24", "128x3x8", "16x16x17"})
    for (const char* type : {"c2c", "r2c", "c2r"})
      for (const char* prec : {"f32", "f64"}) {
        if (!test::next_has_turn_under_sanitizers()) continue;
        for (const char* tail : {"", ",place=in", ",batch=5,sign=1", ",batch=9,place=in"})
          check(problem_of(fmt::format("type={},n={},prec={}{}", type, sizes, prec, tail)),
                plan_of(FftFamily::rows, Rigor::estimate, 1 + static_cast<int>(random() % 3), 64), random);
        const auto token = [&](int batch) {
          return fmt::format("type={},n={},prec={},batch={}", type, sizes, prec, batch);
        };
        for (const int batch : {1, 7})
          prec[1] == '3' ? expect_bits_of_any_threads<float>(token(batch), random)
                         : expect_bits_of_any_threads<double>(token(batch), random);
      }
  for (const char* sizes : {"254x20", "126x40"}) {  // half spectra of 128 and 64 positions
    for (const char* type : {"r2c", "c2r"})
      for (const char* tail : {"", ",place=in", ",batch=5"})
        for (const int threads : {1, 2})
          check(problem_of(fmt::format("type={},n={},prec=f64{}", type, sizes, tail)),
                plan_of(FftFamily::rows, Rigor::estimate, threads, 64), random);
    expect_bits_of_any_threads<double>(fmt::format("type=r2c,n={},prec=f64,batch=3", sizes), random);
  }
}

// Vectors of half as many lanes, where threads would have unequal parts of wide ones, and lines that fill few lanes.
TEST(FftBoxes, ThreadsWithFewVectorsMatchTheDirectSum) {
  std::mt19937_64 random(8);
  for (const char* sizes : {"n=1024x16", "n=16x128x8", "n=512x8", "n=96x10", "n=14x20x10", "n=7x5x24"})
    for (const char* type : {"c2c", "r2c", "c2r"})
      for (const char* prec : {"f32", "f64"})
        for (const int threads : {1, 2, 3})
          if (test::next_has_turn_under_sanitizers())
            check(problem_of(fmt::format("type={},{},prec={}", type, sizes, prec)),
                  plan_of(FftFamily::rows, Rigor::estimate, threads, 64), random);
}

// Which dimensions are taken together, and in which vectors, depends on the threads. Of f64 there are dimensions so
// short that FFTW takes them otherwise, and of r2c odd lines.
TEST(FftBoxes, ThreadsThatChangeTheVectorsChangeNoBit) {
  std::mt19937_64 random(9);
  for (const char* sizes : {"64x16", "16x128x8", "1024x16", "512x8", "14x96x10", "101x6x7", "3x50", "200x2", "15x9x8",
                            "8x8x8", "16x16", "10x12x3", "36x15x2"})
    for (const char* type : {"c2c", "r2c", "c2r"}) {
      if (!test::next_has_turn_under_sanitizers()) continue;
      expect_bits_of_any_threads<float>(fmt::format("type={},n={},prec=f32", type, sizes), random);
      expect_bits_of_any_threads<double>(fmt::format("type={},n={},prec=f64", type, sizes), random);
    }
}

// Lines of every number up to more than a vector's lanes; each is checked alone, so that idle lanes cannot hide.
TEST(FftBoxes, AnyNumberOfLinesMatchesTheDirectSumAndTouchesNothingElse) {
  std::mt19937_64 random(18);
  for (int batch = 1; batch <= 35; ++batch)
    for (const char* n : {"6", "45", "15", "24"})
      for (const char* tail : {"", ",layout=2+{}/3+{}"}) {
        if (!test::next_has_turn_under_sanitizers()) continue;
        const int length = std::stoi(n);
        const std::string layout =
            *tail == 0 ? "" : fmt::format(fmt::runtime(tail), 2 * length + batch % 3, 3 * length + 1);
        const char* prec = (batch + length) % 2 == 0 ? "f32" : "f64";
        for (const char* type : {"c2c", "r2c", "c2r"})
          check(problem_of(fmt::format("type={},n={},prec={},batch={}{}", type, n, prec, batch, layout)),
                plan_of(FftFamily::rows, Rigor::estimate, 1, 64), random);
      }
}

// Real lines that are computed as complex ones of half the length.
template <class T>
void check_long_real(std::int64_t n, int sign, int threads, std::mt19937_64& random) {
  const char* prec = sizeof(T) == 4 ? "f32" : "f64";
  const auto run = [&](const std::string& token, std::vector<T> in, std::size_t numbers) {
    const Problem p = problem_of(token);
    std::vector<T> out(numbers, T(7));
    void* const to = p.place == Place::in ? in.data() : out.data();
    const auto executor = make_fft_executor(p, plan_of(FftFamily::rows, Rigor::estimate, threads, 64), {});
    EXPECT_EQ(executor->wisdom(), "") << "not a plan of FFTW's";
    executor->execute(in.data(), to, false);
    return p.place == Place::in ? in : out;
  };
  constexpr std::int64_t kBatch = 3;
  const std::int64_t row = n + 2;  // numbers of a half spectrum
  const auto line = random_array<T>(random, kBatch * n);
  std::vector<T> whole, padded;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    for (std::int64_t i = 0; i < n; ++i) whole.insert(whole.end(), {line[static_cast<std::size_t>(b * n + i)], T(0)});
    padded.insert(padded.end(), line.begin() + b * n, line.begin() + (b + 1) * n);
    padded.insert(padded.end(), 2, T(9));
  }
  const auto tail = [&](int to) { return fmt::format(",n={},prec={},batch={}{{}},sign={}", n, prec, kBatch, to); };
  const auto token = [&](const char* type, const char* place, int to) {
    return fmt::format("type={}", type) + fmt::format(fmt::runtime(tail(to)), place);
  };
  const auto spectrum = run(token("c2c", "", sign), whole, whole.size());
  const auto half = run(token("r2c", "", sign), line, static_cast<std::size_t>(kBatch * row));
  EXPECT_TRUE(run(token("r2c", ",place=in", sign), padded, 0) == half) << "in place";
  const Long allowed = 20 * std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<Long>(n)) * 20;
  for (std::int64_t b = 0; b < kBatch; ++b)
    for (std::int64_t i = 0; i < row; ++i)
      ASSERT_NEAR(half[static_cast<std::size_t>(b * row + i)], spectrum[static_cast<std::size_t>(b * 2 * n + i)],
                  allowed)
          << b << " " << i;
  const auto back = run(token("c2r", "", -sign), half, line.size());
  const auto back_in_place = run(token("c2r", ",place=in", -sign), half, 0);
  for (std::int64_t b = 0; b < kBatch; ++b)
    for (std::int64_t i = 0; i < n; ++i) {
      const T found = back[static_cast<std::size_t>(b * n + i)];
      ASSERT_NEAR(found / static_cast<T>(n), line[static_cast<std::size_t>(b * n + i)], allowed);
      ASSERT_EQ(found, back_in_place[static_cast<std::size_t>(b * row + i)]);
    }
}

TEST(FftBoxes, LongRealLinesAreHalvesOfComplexOnes) {
  if (simd_fft_kernels<float>().lanes == 1) GTEST_SKIP() << "this processor has no vectors";
  std::mt19937_64 random(2026);
  int threads = 1;
  for (const std::int64_t n : {16640, 17160, 18 * 1001, 2 * 9135, 38 * 529, 65536})  // halves even and odd
    for (const int sign : {-1, 1}) {
      check_long_real<float>(n, sign, threads, random);
      check_long_real<double>(n, sign, 3 - threads, random);
      threads = 3 - threads;
    }
}

TEST(FftBoxes, TheAdjointsOfLongRealLinesAreRight) {
  std::mt19937_64 random(5);
  check(problem_of("type=r2c,n=8640,prec=f64"), plan_of(FftFamily::rows), random);
  check(problem_of("type=c2r,n=8640,prec=f32,place=in"), plan_of(FftFamily::rows), random);
}

// As complex lines, by the four-step method (4125, 8505) and by convolutions (4099, 8581).
TEST(FftBoxes, LongRealLinesOfOddLengthMatchTheDirectSumAndChangeNoBit) {
  if (simd_fft_kernels<float>().lanes == 1) GTEST_SKIP() << "this processor has no vectors";
  std::mt19937_64 random(4125);
  for (const char* type : {"r2c", "c2r"})
    for (const char* rest : {"n=4125,prec=f32", "n=4099,prec=f64,sign=1", "n=4125,prec=f64,batch=2,place=in",
                             "n=4099,prec=f32,batch=3,sign=-1"})
      for (const int threads : {1, 2})
        check(problem_of(fmt::format("type={},{}", type, rest)), plan_of(FftFamily::rows, Rigor::estimate, threads),
              random);
  expect_bits_of_any_threads<float>("type=r2c,n=8505,prec=f32,batch=3", random);
  expect_bits_of_any_threads<double>("type=c2r,n=8581,prec=f64,batch=2", random);
}

// Threads that take whole volumes run planes and columns of each as they do together.
TEST(FftBoxes, ThreadsThatTakeWholeTransformsMatchTheDirectSumAndChangeNoBit) {
  std::mt19937_64 random(48);
  for (const char* type : {"c2c", "r2c", "c2r"}) {
    check(problem_of(fmt::format("type={},n=10x12x9,prec=f64,batch=2", type)),
          plan_of(FftFamily::rows, Rigor::estimate, 2), random);
    check(problem_of(fmt::format("type={},n=105x15,prec=f64,batch=4", type)),
          plan_of(FftFamily::rows, Rigor::estimate, 2), random);
    expect_bits_of_any_threads<float>(fmt::format("type={},n=48x70x48,prec=f32,batch=2", type), random);
    expect_bits_of_any_threads<double>(fmt::format("type={},n=40x66x48,prec=f64,batch=4", type), random);
  }
}

TEST(FftBoxes, CubesAreTakenTogetherWhereLanesWouldIdle) {
  const auto split = [](int dim, Sizes sizes, std::int64_t batch, int lanes = 16) {
    return generator::fft_boxes({dim, sizes, batch, lanes, 8}).split;
  };
  EXPECT_EQ(split(3, {8, 8, 8, 1}, 8), 2);
  EXPECT_GT(split(2, {8, 70, 1, 1}, 278), 0);
  EXPECT_EQ(split(2, {256, 256, 1, 1}, 1), 0) << "full vectors either way";
  EXPECT_EQ(split(3, {256, 256, 256, 1}, 1), 0) << "a plane does not stay in the cache";
  EXPECT_EQ(split(2, {8, 8, 1, 1}, 640), 2) << "whole transforms in each lane";
}

}  // namespace
}  // namespace fourtune::runtime::cpu
