// The meaning of a plan's numbers: executed literally on the host, every plan of the paper and random plans compute the
// discrete Fourier transform in every output order, and every layout is a permutation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "generator/planner/gpu_fft/published_plans.h"
#include "tests/support/fft_plans.h"
#include "tests/support/fft_reference.h"

namespace fourtune::generator::fft {
namespace {

using test::Complex;

std::vector<Complex> noise(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<Complex> out(static_cast<std::size_t>(count));
  for (auto& c : out) c = {value(random), value(random)};
  return out;
}

double norm(const std::vector<Complex>& v) {
  double sum = 0;
  for (const auto& c : v) sum += std::norm(c);
  return std::sqrt(sum);
}

// Relative error of a line's transform at every `step`-th output position, against direct sums.
double line_error(const FftPlan& plan, Dim dim, int sign, std::int64_t step) {
  const auto in = noise(lengths(plan)[static_cast<std::size_t>(index(dim))], 7);
  auto out = in;
  test::run_line(plan, dim, sign, out);
  const auto k = test::frequencies(plan, dim);
  double error = 0;
  for (std::size_t at = 0; at < in.size(); at += static_cast<std::size_t>(step))
    error = std::max(error, std::abs(out[at] - test::direct_dft(in, sign, k[at])));
  return error / norm(in);
}

// The same in all dimensions, for a few output positions of a full transform.
double volume_error(const FftPlan& plan, int sign, int samples) {
  const auto n = lengths(plan);
  const auto in = noise(elements(plan), 11);
  auto out = in;
  test::run_kernels(plan, sign, 0, static_cast<int>(plan.kernels.size()), out);
  std::array<std::vector<std::int64_t>, most_dimensions> k;
  std::array<std::vector<Complex>, most_dimensions> wave;
  for (int d = 0; d < most_dimensions; ++d)
    k[static_cast<std::size_t>(d)] =
        d < rank(plan) ? test::frequencies(plan, static_cast<Dim>(d)) : std::vector<std::int64_t>{0};
  std::mt19937 random(3);
  double error = 0;
  for (int s = 0; s < samples; ++s) {
    std::array<std::int64_t, most_dimensions> at{};
    for (std::size_t d = 0; d < at.size(); ++d) {
      at[d] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n[d]));
      wave[d].resize(static_cast<std::size_t>(n[d]));
      for (std::int64_t j = 0; j < n[d]; ++j) {
        const std::int64_t turns = k[d][static_cast<std::size_t>(at[d])] * j % n[d];
        wave[d][static_cast<std::size_t>(j)] =
            std::polar(1.0, sign * 2 * M_PI * static_cast<double>(turns) / static_cast<double>(n[d]));
      }
    }
    Complex sum = 0;
    std::size_t i = 0;
    for (const auto& ww : wave[3])
      for (const auto& wz : wave[2])
        for (const auto& wy : wave[1]) {
          double re = 0, im = 0;
          for (const auto& wx : wave[0]) {
            const Complex& v = in[i++];
            re += v.real() * wx.real() - v.imag() * wx.imag();
            im += v.real() * wx.imag() + v.imag() * wx.real();
          }
          sum += Complex(re, im) * wy * wz * ww;
        }
    const auto position = static_cast<std::size_t>((at[2] * n[1] + at[1]) * n[0] + at[0]);
    error = std::max(error, std::abs(out[position] - sum));
  }
  return error / norm(in);
}

TEST(FftPlanSemantics, PaperPlansParseAndPrintBackAndTheMisprintedOnesAreRefused) {
  ASSERT_EQ(published_plans().size(), 12U);
  int misprinted = 0;
  for (const auto& paper : published_plans()) {
    SCOPED_TRACE(paper.section);
    const auto plan = parse_fft_plan(corrected(paper));
    EXPECT_EQ(lengths(plan), paper.lengths);
    EXPECT_TRUE(check(plan, paper.lengths).empty());
    EXPECT_EQ(parse_fft_plan(to_text(plan)), plan);
    // The canonical text in the paper's spelling equals the printed one, apart from blanks and typography.
    std::string canonical = to_text(plan), printed = corrected(paper);
    for (const std::string gone : {" ", "\n", "\xe2\x80\xa2", "{", "}", ","})
      for (auto* text : {&canonical, &printed})
        for (std::size_t at; (at = text->find(gone)) != std::string::npos;) text->erase(at, gone.size());
    for (std::size_t at; (at = printed.find("\xe2\x88\x92")) != std::string::npos;) printed.replace(at, 3, "-");
    EXPECT_EQ(canonical, printed);
    if (std::string(paper.misprint).empty()) {
      EXPECT_EQ(parse_fft_plan(paper.printed), plan);
      continue;
    }
    ++misprinted;
    try {
      parse_fft_plan(paper.printed);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind("rule " + std::string(paper.rule), 0), 0U) << message;
      EXPECT_NE(message.find("would be right"), std::string::npos) << message;
    }
  }
  EXPECT_EQ(misprinted, 3);
}

TEST(FftPlanSemantics, TheThreeMisprintsAreExplained) {
  const auto message = [](const char* section) {
    for (const auto& paper : published_plans())
      if (paper.section == std::string(section)) return check(parse_notation(paper.printed)).front().message;
    return std::string();
  };
  EXPECT_EQ(message("4.3.2"),
            "rule first-n: kernel 3, Z(16,16,16,156,tw): n of Z's first sub-FFT is its length 256, not 156; "
            "Z(16,16,16,256,tw) would be right");
  EXPECT_EQ(message("4.1"),
            "rule finished: kernel 7, Y(16,16,1,16,no-tw): Y is already finished by Y(16,16,1,16,no-tw); "
            "Z(16,16,1,16,no-tw) would be right");
  EXPECT_EQ(message("A.2.5"),
            "rule first-n: kernel 3, Z(32,32,32,512,tw): n of Z's first sub-FFT is its length 1024, not 512; "
            "Z(32,32,32,1024,tw) would be right");
}

TEST(FftPlanSemantics, AFragmentOfThePaperIsNotAPlanUntilItsBeginningIsThere) {
  const auto found = check(parse_notation(paper_fragment_512x256x256), Lengths{512, 256, 256});
  ASSERT_FALSE(found.empty());
  // Section 4.3.1, before X is distributed, and section 4.3.3, the share of one block.
  EXPECT_EQ(check(parse_notation("{Y(16,16,16,256,tw)}{Y(16,16,1,16,no-tw)}{Z(16,16,16,256,tw)}{Z(16,16,1,16,no-tw)}"))
                .front()
                .rule,
            Rule::dimensions);
  EXPECT_EQ(check(parse_notation("X(8,8,8,64,tw)")).front().rule, Rule::last);
  const auto two_left = check(parse_notation("{X(4,2,4,8,tw),X(4,2,2,4,tw)}"));
  ASSERT_EQ(two_left.size(), 1u);
  EXPECT_NE(two_left.front().message.find("X(4,2,1,2,no-tw) has to follow"), std::string::npos)
      << two_left.front().message;
  const auto whole = parse_fft_plan("{Y(16,16,16,256,tw)}{X(64,8,64,512,tw),Y(16,16,1,16,no-tw)}" +
                                    std::string(paper_fragment_512x256x256));
  EXPECT_EQ(lengths(whole), (Lengths{512, 256, 256}));
}

TEST(FftPlanSemantics, EveryPlanOfThePaperIsTheTransformInEveryOrder) {
  for (const auto& paper : published_plans())
    for (const DigitOrder order : {DigitOrder::reversed, DigitOrder::grouped, DigitOrder::natural}) {
      auto plan = parse_fft_plan(corrected(paper));
      plan.order = order;
      for (int d = 0; d < 3; ++d) {
        const auto dim = static_cast<Dim>(d);
        EXPECT_LT(line_error(plan, dim, -1, 7), 1e-14) << paper.section << " dim " << d;
        EXPECT_LT(line_error(plan, dim, 1, 61), 1e-14) << paper.section << " dim " << d;
        if (order != DigitOrder::natural) continue;
        const auto k = test::frequencies(plan, dim);
        for (std::size_t i = 0; i < k.size(); ++i) ASSERT_EQ(k[i], static_cast<std::int64_t>(i));
      }
    }
}

TEST(FftPlanSemantics, ThePapersWholeVolumeOf128CubedIsTheTransform) {
  for (const auto& paper : published_plans()) {
    if (paper.section != std::string("A.1.4")) continue;
    EXPECT_LT(volume_error(parse_fft_plan(corrected(paper)), -1, 3), 1e-14);
  }
}

TEST(FftPlanSemantics, RandomPlansAreTheTransformInEveryOrder) {
  std::mt19937 random(411);
  for (int i = 0; i < 150; ++i) {
    const auto plan = test::random_plan(random, {.dims = 3, .elements = 1 << 12});
    EXPECT_LT(volume_error(plan, i % 2 == 0 ? -1 : 1, 4), 1e-14) << to_text(plan);
  }
}

TEST(FftPlanSemantics, KernelsRunOneByOneAreTheWholePlan) {
  std::mt19937 random(412);
  for (int i = 0; i < 40; ++i) {
    const auto plan = test::random_plan(random, {.dims = 3, .elements = 1 << 12});
    const int kernels = static_cast<int>(plan.kernels.size());
    auto whole = noise(elements(plan), 5), steps = whole;
    test::run_kernels(plan, -1, 0, kernels, whole);
    for (int k = 0; k < kernels; ++k) test::run_kernels(plan, -1, k, k + 1, steps);
    EXPECT_EQ(whole, steps) << to_text(plan);
  }
}

TEST(FftPlanSemantics, DigitReversedOrderOfRadix2IsBitReversal) {
  const auto plan = parse_fft_plan("{X(4,2,4,8,tw)}{X(4,2,2,4,tw)}{X(4,2,1,2,no-tw)}");
  EXPECT_EQ(test::frequencies(plan, Dim::x), (std::vector<std::int64_t>{0, 4, 2, 6, 1, 5, 3, 7}));
}

TEST(FftPlanSemantics, GroupedOrderIsNaturalInsideOneKernel) {
  const auto plan = parse_fft_plan("{X(4,2,4,8,tw),X(4,2,2,4,tw)}[store=grouped]{X(4,2,1,2,no-tw)}:order=grouped");
  EXPECT_EQ(test::frequencies(plan, Dim::x), (std::vector<std::int64_t>{0, 4, 1, 5, 2, 6, 3, 7}));
}

// Geometry and layouts agree: the axes of every kernel read and write each position once, and the kernels' moves lead
// from natural input to the output's frequencies.
TEST(FftPlanSemantics, AxesOfAKernelReachEveryPositionOnce) {
  std::mt19937 random(413);
  for (int i = 0; i < 200; ++i) {
    const auto plan = test::random_plan(random, {.dims = 3, .elements = 1 << 12});
    for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k) {
      const auto g = geometry(plan, k);
      for (const auto& dim : g.dims) {
        std::vector<std::int64_t> read{0}, write{0};
        const auto extend = [&](const std::vector<Axis>& axes) {
          for (const Axis& axis : axes) {
            const std::size_t before = read.size();
            for (std::int64_t digit = 1; digit < axis.extent; ++digit)
              for (std::size_t j = 0; j < before; ++j) {
                read.push_back(read[j] + digit * axis.read_stride);
                write.push_back(write[j] + digit * axis.write_stride);
              }
          }
        };
        extend(dim.own);
        extend(dim.free);
        std::vector<std::int64_t> all(static_cast<std::size_t>(dim.length));
        std::iota(all.begin(), all.end(), 0);
        std::sort(read.begin(), read.end());
        std::sort(write.begin(), write.end());
        ASSERT_EQ(read, all) << to_text(plan);
        ASSERT_EQ(write, all) << to_text(plan);
      }
    }
  }
}

TEST(FftPlanSemantics, TheTwoPassTileOf256CubedIs128KilobytesWithRunsOf128Bytes) {
  const auto plan = parse_fft_plan(
      "{X(16,16,16,256,tw),X(16,16,1,16,no-tw),Y(32,8,32,256,tw),Y(32,8,4,32,tw)}[threads=512,tile=1,parts=apart,store="
      "sorted]"
      "{Y(64,4,1,4,no-tw),Z(16,16,16,256,tw),Z(16,16,1,16,no-tw)}[threads=512,tile=16,parts=apart]:order=natural");
  const auto first = geometry(plan, 0), second = geometry(plan, 1);
  EXPECT_EQ(first.tile_elements, 16384);
  EXPECT_EQ(second.tile_elements, 16384);
  EXPECT_EQ(first.elements_per_thread, 32);
  EXPECT_EQ(second.elements_per_thread, 32);
  EXPECT_EQ(first.read_run, 256);        // an X line
  EXPECT_EQ(first.write_run, 256 * 64);  // 64 neighbouring X lines: the finished digits of Y come first
  EXPECT_EQ(second.read_run, 16);
  EXPECT_EQ(second.write_run, 16);
  EXPECT_TRUE(second.in_place);
  EXPECT_EQ(first.tiles, 1024);
  EXPECT_EQ(shared_bytes(plan, 0), 65536 + 2048);  // padded
  EXPECT_EQ(kernel_bytes(plan), std::int64_t{2} * 8 * 256 * 256 * 256);
}

}  // namespace
}  // namespace fourtune::generator::fft
