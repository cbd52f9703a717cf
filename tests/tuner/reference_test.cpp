#include "tuner/reference/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/layout.h"
#include "tests/support/quad.h"
#include "tuner/reference/check.h"
#include "tuner/reference/phase.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tuner {
namespace {

using Complex = std::complex<double>;
using ModeCounts = std::array<std::int64_t, 3>;
using std::numbers::pi;
using test::Quad;

// exp(i phase) with the phase reduced in quadruple precision: a reference that shares no code with the code under test.
Complex quad_phase(Quad phase) {
  const Quad two_pi = static_cast<Quad>(0xc.90fdaa22168c235p-1L) - static_cast<Quad>(0xe.ce675d1fc8f8cbbp-67L);
  const Quad rest = phase - two_pi * static_cast<Quad>(std::llrintl(static_cast<long double>(phase / two_pi)));
  const auto r = static_cast<long double>(rest);
  return {static_cast<double>(std::cos(r)), static_cast<double>(std::sin(r))};
}
template <typename A, typename B>
Quad product(A a, B b) {
  return static_cast<Quad>(a) * static_cast<Quad>(b);
}

double distance(const std::vector<Complex>& a, const std::vector<Complex>& b) { return relative_error(a, b).relative; }

template <typename T>
std::vector<std::complex<T>> random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<std::complex<T>> v(static_cast<std::size_t>(count));
  fill_random<T>(std::span<std::complex<T>>(v), seed);
  return v;
}
std::vector<std::int64_t> first(std::int64_t count) {
  std::vector<std::int64_t> v(static_cast<std::size_t>(count));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

TEST(Reference, PhasesOfAnyFiniteCoordinateAreRightToTheLastDigits) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const int exponent = static_cast<int>(random_bits(1, 0, i) % 1060) - 40;
    const double x = (random_unit(1, 1, i) - 0.5) * std::ldexp(1.0, std::min(exponent, 1023));
    const Turns t = fold_turns(x);
    EXPECT_LE(std::fabs(t.hi), 0.5);
    double re = 0, im = 0;
    unit_phases(1, &t.hi, &t.lo, &re, &im);
    ASSERT_NEAR(re, std::cos(x), 3e-16) << x;
    ASSERT_NEAR(im, std::sin(x), 3e-16) << x;
  }
}

TEST(Reference, FoldedTurnsKeepDigitsForFrequenciesOfMillions) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const double x = 200 * (random_unit(2, 0, i) - 0.5), k = std::floor(1e7 * (random_unit(2, 1, i) - 0.5));
    const Turns b = fold_turns(x);
    double hi = 0, lo = 0, re = 0, im = 0;
    add_turns(1, &k, b, &hi, &lo);
    unit_phases(1, &hi, &lo, &re, &im);
    const Complex exact = quad_phase(product(k, x));
    ASSERT_NEAR(re, exact.real(), 3e-16);
    ASSERT_NEAR(im, exact.imag(), 3e-16);
  }
}

template <typename T>
void check_types_1_and_2(int dim, const ModeCounts& n, int sign, double scale) {
  auto p = make_points<T>(PointClass::uniform, dim, n, 700, 3);
  for (auto& line : p.x)
    for (T& v : line) v *= static_cast<T>(scale);
  const std::int64_t total = n[0] * n[1] * n[2];
  const auto c = random_values<T>(700, 1), f = random_values<T>(total, 2);
  std::vector<std::array<std::int64_t, 3>> modes;
  std::vector<Complex> f_exact(static_cast<std::size_t>(total)), c_exact(700), f_found = f_exact, c_found = c_exact;
  for (std::int64_t i = 0; i < total; ++i) {
    const auto k = mode_of(i, n, ModeOrder::centred);
    modes.push_back(k);
    for (std::size_t j = 0; j < 700; ++j) {
      Quad phase = 0;
      for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) phase += product(k[d] * sign, p.x[d][j]);
      const Complex e = quad_phase(phase);
      f_exact[static_cast<std::size_t>(i)] += Complex(c[j]) * e;
      c_exact[j] += Complex(f[static_cast<std::size_t>(i)]) * e;
    }
  }
  type1_sums(view<T>(p), c.data(), sign, modes, f_found);
  EXPECT_LT(distance(f_exact, f_found), 1.5e-15);
  type2_sums(view<T>(p), f.data(), sign, n, ModeOrder::centred, first(700), c_found);
  EXPECT_LT(distance(c_exact, c_found), 1.5e-15);
  // The same modes, stored in FFT order.
  auto shifted = f;
  for (std::int64_t i = 0; i < total; ++i)
    shifted[static_cast<std::size_t>(index_of(modes[static_cast<std::size_t>(i)], n, ModeOrder::fft))] =
        f[static_cast<std::size_t>(i)];
  std::vector<Complex> again(700);
  type2_sums(view<T>(p), shifted.data(), sign, n, ModeOrder::fft, first(700), again);
  EXPECT_EQ(again, c_found);
}

TEST(Reference, TypesOneAndTwoMatchQuadruplePrecisionSums) {
  check_types_1_and_2<double>(1, {701, 1, 1}, -1, 1);
  check_types_1_and_2<double>(2, {20, 17, 1}, 1, 1000);
  check_types_1_and_2<double>(3, {6, 7, 5}, -1, 1e6);
  check_types_1_and_2<float>(1, {300, 1, 1}, 1, 1e6);
  check_types_1_and_2<float>(3, {5, 8, 6}, 1, 1);
}

// Any modes in any order, as samples of a large transform are: the first of them in the order of sums is not the least
// in every dimension.
TEST(Reference, ScatteredModesMatchQuadruplePrecisionSums) {
  const std::vector<std::array<std::int64_t, 3>> modes{{5, -2, -3}, {-4, 7, 2}, {3, 0, -3}, {-6, 1, 0}, {5, 7, 2}};
  const auto p = make_points<double>(PointClass::uniform, 3, {16, 16, 8}, 300, 3);
  const auto c = random_values<double>(300, 1);
  std::vector<Complex> exact(modes.size()), found(modes.size());
  for (std::size_t i = 0; i < modes.size(); ++i)
    for (std::size_t j = 0; j < 300; ++j) {
      Quad phase = 0;
      for (std::size_t d = 0; d < 3; ++d) phase += product(modes[i][d], p.x[d][j]);
      exact[i] += Complex(c[j]) * quad_phase(phase);
    }
  type1_sums(view<double>(p), c.data(), 1, modes, found);
  EXPECT_LT(distance(exact, found), 1.5e-15);
}

TEST(Reference, TypeThreeMatchesQuadruplePrecisionSumsAtMillionsOfRadians) {
  for (int dim = 1; dim <= 3; ++dim) {
    Problem problem = parse_problem("nufft:type=3,dim=1,m=600,k=40,prec=f64,tol=1e-10");
    problem.dim = dim;
    problem.extent = std::array<double, 3>{4e6, 3e3, 1};
    const auto x = make_points<double>(problem, 1), s = make_targets<double>(problem, 2);
    const auto c = random_values<double>(600, 3);
    std::vector<Complex> exact(40), found(40);
    for (std::size_t l = 0; l < 40; ++l)
      for (std::size_t j = 0; j < 600; ++j) {
        Quad phase = 0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) phase -= product(s.x[d][l], x.x[d][j]);
        exact[l] += c[j] * quad_phase(phase);
      }
    type3_sums(view<double>(x), c.data(), -1, view<double>(s), first(40), found);
    EXPECT_LT(distance(exact, found), 1.5e-15);
  }
}

TEST(Reference, UniformTransformsMatchPlainSumsForEveryTypeLayoutAndBatch) {
  for (const char* token : {"fft:type=c2c,n=12,prec=f64,batch=2", "fft:type=c2c,n=5x6x4,prec=f32,sign=1",
                            "fft:type=r2c,n=6x5,prec=f64,batch=3", "fft:type=r2c,n=9,prec=f32",
                            "fft:type=r2c,n=5x2x3x4,prec=f64,batch=2"}) {
    const Problem p = parse_problem(token);
    const auto in = input_sizes(p), out = output_sizes(p);
    const std::int64_t size = element_count(in), outputs = element_count(out);
    std::vector<double> real(static_cast<std::size_t>(2 * size * p.batch));
    fill_random<double>(std::span<double>(real), 4);
    std::vector<float> narrow(real.begin(), real.end());
    const bool f32 = p.precision == Precision::f32, is_real = p.fft_type == FftType::r2c;
    const std::int64_t b = p.batch - 1;
    const auto value = [&](std::int64_t i) {
      const auto at = [&](std::int64_t q) {
        return f32 ? static_cast<double>(narrow[static_cast<std::size_t>(q)]) : real[static_cast<std::size_t>(q)];
      };
      return is_real ? Complex(at(b * size + i)) : Complex(at(2 * (b * size + i)), at(2 * (b * size + i) + 1));
    };
    std::vector<Complex> exact(static_cast<std::size_t>(outputs)), found(exact.size());
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t i = 0; i < size; ++i) {
        double turns = 0;
        std::int64_t k = o, j = i;
        for (std::size_t d = 0; d < p.n.size(); k /= out[d], j /= in[d], ++d)
          turns += static_cast<double>(k % out[d] * (j % in[d]) % p.n[d]) / static_cast<double>(p.n[d]);
        exact[static_cast<std::size_t>(o)] += value(i) * std::polar(1.0, p.sign * 2 * pi * turns);
      }
    fft_sums(p, f32 ? static_cast<const void*>(narrow.data()) : real.data(), b, first(outputs), found);
    EXPECT_LT(distance(exact, found), 3e-15) << token;
  }
}

TEST(Reference, RealTransformsThereAndBackGiveTheInputTimesItsLength) {
  for (const std::int64_t nx : {6, 7}) {
    Problem there = parse_problem("fft:type=r2c,n=6x5x4,prec=f64"),
            back = parse_problem("fft:type=c2r,n=6x5x4,prec=f64,sign=1");
    there.n[0] = back.n[0] = nx;
    std::vector<double> x(static_cast<std::size_t>(nx * 20));
    fill_random<double>(std::span<double>(x), 4);
    std::vector<Complex> spectrum(static_cast<std::size_t>((nx / 2 + 1) * 20)), again(x.size());
    fft_sums(there, x.data(), 0, first(static_cast<std::int64_t>(spectrum.size())), spectrum);
    fft_sums(back, spectrum.data(), 0, first(static_cast<std::int64_t>(x.size())), again);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(again[i].real(), x[i] * static_cast<double>(x.size()), 1e-12);
  }
}

TEST(Reference, StridedInputsAreReadByTheirLayout) {
  Problem p = parse_problem("fft:type=c2c,n=4x3,prec=f64,batch=2");
  const auto dense = random_values<double>(24, 5);
  std::vector<Complex> strided(200), a(12), b(12);
  p.input_layout = ArrayLayout{{2, 11, 0}, 50};
  for (std::size_t t = 0; t < 2; ++t)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 4; ++x) strided[t * 50 + y * 11 + x * 2] = dense[t * 12 + y * 4 + x];
  fft_sums(p, strided.data(), 1, first(12), a);
  p.input_layout.reset();
  fft_sums(p, dense.data(), 1, first(12), b);
  EXPECT_EQ(a, b);
}

TEST(Reference, TypeTwoIsTheAdjointOfTypeOne) {
  const ModeCounts n{9, 8, 1};
  const auto p = make_points<double>(PointClass::radial, 2, n, 500, 3);
  const auto c = random_values<double>(500, 1);
  std::vector<std::array<std::int64_t, 3>> modes;
  for (std::int64_t i = 0; i < 72; ++i) modes.push_back(mode_of(i, n, ModeOrder::centred));
  std::vector<Complex> f(72), back(500);
  type1_sums(view<double>(p), c.data(), -1, modes, f);
  type2_sums(view<double>(p), f.data(), 1, n, ModeOrder::centred, first(500), back);
  EXPECT_LT(adjoint_mismatch<double>(f, f, c, back), 1e-15);
  back[100] *= 1.01;
  EXPECT_GT(adjoint_mismatch<double>(f, f, c, back), 1e-8);
}

TEST(Reference, SamplesCountEveryOutputOnceOnAverageAndHoldTheEnds) {
  for (const std::int64_t total : {1, 2, 3, 20, 1000}) {
    const PointSample s = sample_points(total, 20, 1);
    EXPECT_EQ(static_cast<std::int64_t>(s.index.size()), std::min<std::int64_t>(total, 20));
    EXPECT_EQ(s.index.front(), 0);
    EXPECT_EQ(s.index.back(), total - 1);
    EXPECT_EQ(std::accumulate(s.weight.begin(), s.weight.end(), 0.0), static_cast<double>(total));
    for (std::size_t i = 1; i < s.index.size(); ++i) EXPECT_LT(s.index[i - 1], s.index[i]);
  }
  const ModeSample m = sample_modes({40, 1, 33}, 100, 1);
  EXPECT_EQ(m.mode.size(), 100u);
  EXPECT_EQ(m.mode.front(), (std::array<std::int64_t, 3>{-20, 0, -16}));
  EXPECT_EQ(m.mode.back(), (std::array<std::int64_t, 3>{19, 0, 16}));
  EXPECT_NEAR(std::accumulate(m.weight.begin(), m.weight.end(), 0.0), 40 * 33, 1e-9);
}

// Three values, by hand: their errors' squares are 4, 1 and 0, of norms 25, 4 and 9.
TEST(Reference, ErrorsOfAWeightedSampleAreTheFormulas) {
  const std::vector<Complex> reference{{3, 4}, {0, 2}, {3, 0}}, value{{3, 2}, {1, 2}, {3, 0}};
  const ErrorEstimate whole = relative_error(reference, value);
  EXPECT_EQ(whole.samples, 3);
  EXPECT_DOUBLE_EQ(whole.distance, std::sqrt(5.0));
  EXPECT_DOUBLE_EQ(whole.norm, std::sqrt(38.0));
  EXPECT_DOUBLE_EQ(whole.relative, std::sqrt(5.0 / 38));
  EXPECT_EQ(whole.standard_error, 0);
  const std::vector<double> weight{10, 5, 1};  // the last one stands for itself and adds no variance
  const double error = 10 * 4 + 5 * 1, norm = 10 * 25 + 5 * 4 + 9, ratio = error / norm;
  const ErrorEstimate some = relative_error(reference, value, weight);
  EXPECT_DOUBLE_EQ(some.distance, std::sqrt(error));
  EXPECT_DOUBLE_EQ(some.norm, std::sqrt(norm));
  EXPECT_DOUBLE_EQ(some.relative, std::sqrt(ratio));
  const double first = 10 / norm * (4 - ratio * 25), second = 5 / norm * (1 - ratio * 4);
  EXPECT_NEAR(some.standard_error, std::sqrt((first * first + second * second) / (4 * ratio)), 1e-15);
  EXPECT_EQ(relative_error(reference, reference).relative, 0);
  const std::vector<Complex> zero(3);
  EXPECT_EQ(relative_error(zero, zero).relative, 0);
  EXPECT_EQ(relative_error(zero, value).relative, std::numeric_limits<double>::infinity());
  const std::vector<Complex> broken{{std::numeric_limits<double>::quiet_NaN(), 0}, {}, {}};
  EXPECT_TRUE(std::isnan(relative_error(zero, broken).relative));
  EXPECT_THROW(relative_error(reference, std::span(value).first(2)), Error);
  EXPECT_THROW(relative_error(reference, value, std::span(weight).first(2)), Error);
}

// Errors grow towards the ends of the band, as those of a window do. The estimate must agree with the full error within
// its standard error, and a damaged end must be detected.
TEST(Reference, SampledErrorsEstimateTheWholeError) {
  std::vector<Complex> reference(10000), value(10000);
  for (std::size_t i = 0; i < 10000; ++i) {
    reference[i] = {random_unit(1, 0, i) - 0.5, random_unit(1, 1, i) - 0.5};
    const double edge = std::fabs(static_cast<double>(i) / 5000 - 1);
    value[i] = reference[i] + 1e-6 * std::pow(edge, 4) * (random_unit(1, 2, i) - 0.5);
  }
  const double whole = relative_error(reference, value).relative;
  const PointSample s = sample_points(10000, 256, 5);
  std::vector<Complex> r, v;
  for (const auto i : s.index) {
    r.push_back(reference[static_cast<std::size_t>(i)]);
    v.push_back(value[static_cast<std::size_t>(i)]);
  }
  const ErrorEstimate estimate = relative_error(r, v, s.weight);
  EXPECT_GT(estimate.standard_error, 0);
  EXPECT_LT(estimate.standard_error, 0.2 * whole);
  EXPECT_NEAR(estimate.relative, whole, 4 * estimate.standard_error);
  v.front() += 10.0;
  EXPECT_GT(relative_error(r, v, s.weight).relative, 0.05);
  v.front() = {std::nan(""), 0};
  EXPECT_FALSE(relative_error(r, v, s.weight).relative <= 1e300);
}

TEST(Reference, FinishedTransformsAreCheckedInEveryPartOfABatch) {
  const Problem p = parse_problem("nufft:type=1,n=6x5,m=300,prec=f64,tol=1e-9,batch=5");
  const auto x = make_points<double>(p, 1);
  const auto c = random_values<double>(1500, 2);
  std::vector<std::array<std::int64_t, 3>> modes;
  for (std::int64_t i = 0; i < 30; ++i) modes.push_back(mode_of(i, p.n.xyz(), ModeOrder::centred));
  std::vector<Complex> f(150);
  for (std::size_t b = 0; b < 5; ++b)
    type1_sums(view<double>(x), c.data() + b * 300, -1, modes, ComplexSpan(f).subspan(b * 30, 30));
  EXPECT_LT(nufft_error<double>(p, view<double>(x), {}, c.data(), f.data()).relative, 1e-15);
  for (const std::size_t broken : {3u, 75u, 149u}) {
    auto damaged = f;
    damaged[broken] *= 1.001;
    EXPECT_GT(nufft_error<double>(p, view<double>(x), {}, c.data(), damaged.data()).relative, 1e-6) << broken;
  }
}

}  // namespace
}  // namespace fourtune::tuner
