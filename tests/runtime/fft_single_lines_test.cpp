// Compares our FFT lines of every length, without FFTW, with direct sums.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/fft.h"
#include "runtime/backends/cpu/fft/lines.h"
#include "tests/runtime/random_values.h"
#include "tests/support/direct_dft.h"
#include "tests/support/turns.h"

namespace fourtune::runtime::cpu {
namespace {

using Long = long double;
using test::direct_dft;
using test::LongComplex;

// A bound of the largest error, for values of about the square root of n.
template <class T>
Long allowed(std::int64_t n) {
  return 20 * std::numeric_limits<T>::epsilon() * (1 + std::log2(static_cast<Long>(n))) *
         std::sqrt(static_cast<Long>(n));
}

LineFftChoice choice_of(std::int64_t n, int sign, std::int64_t available) {
  LineFftChoice choice;
  choice.n = n;
  choice.sign = sign;
  choice.available = available;
  choice.fft = {generator::FftFamily::rows, generator::Rigor::measure, 16};
  return choice;
}

// Two lines whose values are interleaved with those of others.
template <class T>
void check_complex(std::int64_t n, int sign) {
  SCOPED_TRACE("complex lines of " + std::to_string(n) + (sizeof(T) == 4 ? " f32" : " f64"));
  const auto lines = make_single_lines<T>(choice_of(n, sign, 2), false);
  const auto in = random_values<T>(5 * n, static_cast<unsigned>(n));
  std::vector<std::complex<T>> out(static_cast<std::size_t>(3 * n), std::complex<T>(77, 77));
  const AlignedBytes work(lines->work_bytes());
  for (int l = 0; l < 2; l += lines->lines()) {
    const int count = std::min(2 - l, lines->lines());
    lines->load(work.as<void>(), in.data() + 2 * l, {5, 2, count}, {0, n}, nullptr);
    lines->store(lines->transform(work.as<void>(), count), out.data() + l * n, {1, n, count}, {0, n}, nullptr);
  }
  for (int l = 0; l < 2; ++l) {
    const auto direct = direct_dft(in.data() + 2 * l, n, 5, sign);
    Long worst = 0;
    for (std::int64_t k = 0; k < n; ++k)
      worst = std::max(
          worst, std::abs(direct[static_cast<std::size_t>(k)] - LongComplex(out[static_cast<std::size_t>(l * n + k)])));
    EXPECT_LE(worst, allowed<T>(n)) << "line " << l;
  }
  for (std::int64_t i = 2 * n; i < 3 * n; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], std::complex<T>(77, 77));
}

template <class T>
void check_real(std::int64_t n) {
  SCOPED_TRACE("real lines of " + std::to_string(n) + (sizeof(T) == 4 ? " f32" : " f64"));
  const std::int64_t half = n / 2 + 1;
  const auto noise = random_values<T>(3 * n, static_cast<unsigned>(n) + 1);
  std::vector<T> in;
  for (const auto& v : noise) in.push_back(v.real());
  const auto forward = make_single_lines<T>(choice_of(n, -1, 1), true);
  const AlignedBytes work(forward->work_bytes());
  std::vector<std::complex<T>> spectrum(static_cast<std::size_t>(2 * half), std::complex<T>(77, 77));
  for (const bool conjugate : {false, true}) {
    forward->load_real(work.as<void>(), in.data(), {3, 1, 1});
    forward->store_half(forward->transform(work.as<void>(), 1), spectrum.data(), {2, 1, 1}, T(2), conjugate);
    std::vector<std::complex<T>> line;
    for (std::int64_t j = 0; j < n; ++j) line.push_back(in[static_cast<std::size_t>(3 * j)]);
    const auto direct = direct_dft(line.data(), n, 1, conjugate ? 1 : -1);
    Long worst = 0;
    for (std::int64_t k = 0; k < half; ++k) {
      const Long weight = k == 0 || 2 * k == n ? 1 : 2;
      worst = std::max(worst, std::abs(weight * direct[static_cast<std::size_t>(k)] -
                                       LongComplex(spectrum[static_cast<std::size_t>(2 * k)])));
      EXPECT_EQ(spectrum[static_cast<std::size_t>(2 * k + 1)], std::complex<T>(77, 77)) << "a gap";
    }
    EXPECT_LE(worst, 2 * allowed<T>(n));
    EXPECT_EQ(spectrum[0].imag(), T(0));
  }
  // Backward: the real part of the sum over both halves; imaginary parts at positions 0 and n/2 do not count.
  const auto backward = make_single_lines<T>(choice_of(n, 1, 1), true);
  const AlignedBytes back_work(backward->work_bytes());
  std::vector<T> out(static_cast<std::size_t>(2 * n), T(77));
  for (const bool conjugate : {false, true}) {
    backward->load_half(back_work.as<void>(), noise.data(), {2, 1, 1}, T(0.5), conjugate);
    backward->store_real(backward->transform(back_work.as<void>(), 1), out.data(), {2, 1, 1});
    std::vector<LongComplex> full(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < half; ++k) {
      const LongComplex z = LongComplex(noise[static_cast<std::size_t>(2 * k)]);
      const LongComplex v = conjugate ? std::conj(z) : z;
      if (k == 0 || 2 * k == n) {
        full[static_cast<std::size_t>(k)] = v.real();
      } else {
        full[static_cast<std::size_t>(k)] = v * Long(0.5);
        full[static_cast<std::size_t>(n - k)] = std::conj(v) * Long(0.5);
      }
    }
    const auto direct = direct_dft(full.data(), n, 1, 1);
    Long worst = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      worst =
          std::max(worst, std::abs(direct[static_cast<std::size_t>(j)].real() - out[static_cast<std::size_t>(2 * j)]));
      EXPECT_EQ(out[static_cast<std::size_t>(2 * j + 1)], T(77)) << "a gap";
    }
    EXPECT_LE(worst, allowed<T>(n));
  }
}

TEST(SingleLines, EveryLengthUpTo600MatchesTheDirectSum) {
  for (std::int64_t n = 1; n <= 600; ++n) {
    if (!test::next_has_turn_under_sanitizers()) continue;
    check_complex<float>(n, n % 2 ? 1 : -1);
    check_complex<double>(n, n % 2 ? -1 : 1);
  }
}

TEST(SingleLines, EveryRealLengthUpTo300MatchesTheDirectSum) {
  for (std::int64_t n = 1; n <= 300; ++n) {
    if (!test::next_has_turn_under_sanitizers()) continue;
    check_real<float>(n);
    check_real<double>(n);
  }
}

TEST(SingleLines, PrimesAndTheirMultiplesMatchTheDirectSum) {
  for (const std::int64_t n : {1021, 1999, 2 * 997, 3 * 641, 1 << 11}) {
    check_complex<float>(n, -1);
    check_complex<double>(n, 1);
    check_real<double>(n);
  }
}

TEST(SingleLines, LinesTooLongForTheirIndicesAreRefusedByName) {
  try {
    make_single_lines<float>(choice_of(std::int64_t{1} << 40, -1, 1), false);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
  }
}

// Checks dense input: some positions by direct sums, all of them by their energy.
template <class T>
void check_long(std::int64_t n, bool long_transform) {
  SCOPED_TRACE(std::to_string(n) + (sizeof(T) == 4 ? " f32" : " f64") +
               (long_transform ? " as a whole" : " as a line"));
  const auto in = random_values<T>(n, 5);
  std::vector<std::complex<T>> out(static_cast<std::size_t>(n));
  if (long_transform) {  // uses several threads, as a problem of one dimension does
    Problem problem =
        parse_problem("fft:type=c2c,n=" + std::to_string(n) + (sizeof(T) == 4 ? ",prec=f32" : ",prec=f64"));
    generator::Plan plan;
    plan.cpu().threads = 2;
    plan.cpu().fft = {generator::FftFamily::rows, generator::Rigor::measure, 64};
    make_fft_executor(problem, plan, {})->execute(const_cast<std::complex<T>*>(in.data()), out.data(), false);
  } else {
    const auto lines = make_single_lines<T>(choice_of(n, -1, 1), false);
    const AlignedBytes work(lines->work_bytes());
    lines->load(work.as<void>(), in.data(), {1, n, 1}, {0, n}, nullptr);
    lines->store(lines->transform(work.as<void>(), 1), out.data(), {1, n, 1}, {0, n}, nullptr);
  }
  const LongComplex* const root = test::roots(n).data();
  for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 3, n / 2, 7 * n / 11}) {
    const auto [opposite, direct] = test::direct_sums(root, n, k, in.data(), 1);
    EXPECT_LE(std::abs(direct - LongComplex(out[static_cast<std::size_t>(k)])), allowed<T>(n)) << k;
    EXPECT_LE(std::abs(opposite - LongComplex(out[static_cast<std::size_t>((n - k) % n)])), allowed<T>(n)) << n - k;
  }
  Long before = 0, after = 0;
  for (const auto& v : in) before += std::norm(LongComplex(v));
  for (const auto& v : out) after += std::norm(LongComplex(v));
  EXPECT_NEAR(static_cast<double>(after / (before * n)), 1, 100 * std::numeric_limits<T>::epsilon());
}

TEST(SingleLines, LongLengthsMatchTheDirectSum) {
  for (const std::int64_t n : {65537, 131071 * 2, 3 << 18, 1000003}) {
    if (!test::next_has_turn_under_sanitizers()) continue;
    check_long<float>(n, false);
    check_long<double>(n, false);
    check_long<float>(n, true);
    check_long<double>(n, true);
  }
  // Matrices with rows at powers of two, and with blocks that are not whole groups of lines.
  for (const std::int64_t n : {1 << 17, 1 << 18, 101250, 17 * 8192}) {
    check_long<float>(n, true);
    check_long<double>(n, true);
  }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
