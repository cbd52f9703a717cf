// Tables of GPU FFTs: roots of unity, chirps and filters of Bluestein's algorithm, against their definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/any_length/bluestein.h"
#include "generator/codegen/fft/lower/roots.h"

namespace fourtune::generator::fft {
namespace {

using LongComplex = std::complex<long double>;
constexpr long double kTurn = 2 * std::numbers::pi_v<long double>;
constexpr long double kTight = 1e-18L;  // a few roundings of a long double; the angles below have two of them

LongComplex exponential(std::int64_t k, std::int64_t n, int sign) {
  return std::polar<long double>(1, sign * kTurn * static_cast<long double>(k) / static_cast<long double>(n));
}

TEST(FftTables, RootsOfUnityAreRightBeyondDoublePrecision) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 64, 1000, 4099, 1 << 20, 2000006})
    for (const int sign : {-1, 1}) {
      const Roots roots(n, sign);
      for (std::int64_t k = 0; k < n; k += 1 + n / 997) EXPECT_LT(std::abs(roots[k] - exponential(k, n, sign)), kTight);
      EXPECT_LT(std::abs(roots[n - 1] - exponential(n - 1, n, sign)), kTight);
    }
}

TEST(FftTables, QuartersOfATurnAreExact) {
  for (const std::int64_t n : {4, 8, 400, 1 << 16}) {
    const Roots roots(n, 1);
    EXPECT_EQ(roots[0], LongComplex(1, 0));
    EXPECT_EQ(roots[n / 4], LongComplex(0, 1));
    EXPECT_EQ(roots[n / 2], LongComplex(-1, 0));
    EXPECT_EQ(roots[3 * n / 4], LongComplex(0, -1));
  }
}

TEST(FftTables, FiltersAreTheTransformsOfChirps) {
  for (const auto& [n, m] : {std::pair{1, 1}, {2, 4}, {11, 21}, {11, 24}, {17, 35}, {53, 105}, {101, 256}})
    for (const int sign : {-1, 1}) {
      const auto chirp = chirps(n, sign);
      ASSERT_EQ(chirp.size(), static_cast<std::size_t>(n));
      for (std::int64_t j = 0; j < n; ++j)
        EXPECT_LT(std::abs(chirp[static_cast<std::size_t>(j)] - exponential(j * j % (2 * n), 2 * n, sign)), kTight);
      const auto found = filter(n, m, sign);
      ASSERT_EQ(found.size(), static_cast<std::size_t>(m));
      for (std::int64_t k = 0; k < m; ++k) {
        LongComplex sum = 0;
        for (std::int64_t j = 1 - n; j < n; ++j)
          sum += std::conj(chirp[static_cast<std::size_t>(std::abs(j))]) * exponential((j + m) * k % m, m, -1);
        EXPECT_LT(std::abs(found[static_cast<std::size_t>(k)] - sum / static_cast<long double>(m)), 4 * kTight)
            << n << " " << m << " " << k;
      }
    }
}

// Whoever only asks whether there are kernels does not wait for texts and tables; blocks and their memory are the same.
TEST(FftTables, KernelsHaveTheSameBlocksWithoutContents) {
  for (const std::int64_t n : {67, 1009, 10007, 100003}) {
    EmitOptions with, without;
    with.n[0] = without.n[0] = n;
    without.contents = false;
    const GpuProgram a = emit_any_size(with), b = emit_any_size(without);
    ASSERT_EQ(a.kernels.size(), b.kernels.size()) << n;
    for (std::size_t i = 0; i < a.kernels.size(); ++i) {
      EXPECT_FALSE(a.kernels[i].text.empty());
      EXPECT_TRUE(b.kernels[i].text.empty());
      EXPECT_EQ(a.kernels[i].entry, b.kernels[i].entry);
      EXPECT_EQ(a.kernels[i].block, b.kernels[i].block);
      EXPECT_EQ(a.kernels[i].shared_bytes, b.kernels[i].shared_bytes);
    }
    ASSERT_EQ(a.launches.size(), b.launches.size()) << n;
    for (std::size_t i = 0; i < a.launches.size(); ++i) EXPECT_EQ(a.launches[i].grid, b.launches[i].grid) << n;
  }
}

}  // namespace
}  // namespace fourtune::generator::fft
