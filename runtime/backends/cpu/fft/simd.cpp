#include "runtime/backends/cpu/fft/simd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>

#include "base/fork_safe_mutex.h"

// Instruction sets beyond AVX-512 foundation gain nothing here. Vectors of unknown length do not fit the fixed squares
// that moves transpose.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/fft/simd.cpp"
#include "hwy/foreach_target.h"
// This must follow foreach_target.h, which includes this file once per target.
#include "hwy/highway.h"
#if HWY_TARGET != HWY_SCALAR
#include "runtime/backends/cpu/fft/simd_halves-inl.h"
#include "runtime/backends/cpu/fft/simd_kernels-inl.h"
#include "runtime/backends/cpu/fft/simd_move-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
SimdFftKernels<float> float_kernels() { return {}; }
SimdFftKernels<double> double_kernels() { return {}; }
#else

template <class T>
SimdFftKernels<T> kernels() {
  using D = hn::ScalableTag<T>;
  return {kLanes<D>,      &transform<D>, &transform_axis<D>, &load<T>,       &store<T>,
          &twiddle<D>,    &multiply<D>,  &split<D>,          &merge<D>,      &spread_pairs<D>,
          &join_pairs<D>, &halve<D>,     &extend<D>,         &split_line<D>, &merge_line<D>};
}
SimdFftKernels<float> float_kernels() { return kernels<float>(); }
SimdFftKernels<double> double_kernels() { return kernels<double>(); }

#endif

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
namespace {

HWY_EXPORT(float_kernels);
HWY_EXPORT(double_kernels);

// Cost per element of a level of each radix, in operations, with loads and stores included. The ratios come from
// timings of the levels on an AVX-512 server core. Larger primes are sums (prime_cost).
struct RadixCost {
  int radix;
  double cost;
};
constexpr RadixCost kRadices[] = {{16, 3.3}, {12, 3.2}, {10, 3.2}, {9, 3.2}, {8, 2.5},  {6, 2.6}, {5, 2.6},
                                  {4, 2.1},  {3, 2.3},  {2, 2.0},  {7, 3.4}, {11, 5.0}, {13, 6.0}};
double prime_cost(int p) { return 1 + 0.42 * p; }

// The least prime factor above 13, if there is one of at most kLargestRadix; else 0.
int larger_prime(std::int64_t n) {
  for (int p = 17; p <= kLargestRadix; p += 2) {
    if (n % p != 0) continue;
    bool prime = true;
    for (int q = 3; q * q <= p; q += 2) prime &= p % q != 0;
    if (prime) return p;
  }
  return 0;
}

// The cheapest factorisation, by dynamic programming over divisors.
struct Choice {
  double cost = std::numeric_limits<double>::infinity();
  int radix = 0;
};
const Choice& cheapest(std::int64_t n, std::map<std::int64_t, Choice>& known) {
  auto [entry, fresh] = known.try_emplace(n);
  if (!fresh) return entry->second;
  Choice best;
  if (n == 1) best.cost = 0;
  for (const RadixCost& r : kRadices) {
    if (n == 1 || n % r.radix != 0) continue;
    const double cost = r.cost + cheapest(n / r.radix, known).cost;
    if (cost < best.cost) best = {cost, r.radix};
  }
  if (const int p = larger_prime(n); p > 0) best = {prime_cost(p) + cheapest(n / p, known).cost, p};
  return known[n] = best;
}

}  // namespace

bool simd_fft_supports(std::int64_t n) { return n <= std::numeric_limits<std::int32_t>::max() && has_small_factors(n); }

bool has_small_factors(std::int64_t n) {
  if (n < 1) return false;
  for (const int p : {2, 3, 5, 7, 11, 13}) {
    while (n % p == 0) n /= p;
  }
  for (int p = larger_prime(n); p > 0; p = larger_prime(n)) n /= p;
  return n == 1;
}

template <class T>
SimdFftPlan<T> make_simd_fft_plan(std::int64_t n) {
  SimdFftPlan<T> plan;
  plan.n = n;
  std::map<std::int64_t, Choice> known;
  std::vector<int> radices;
  for (std::int64_t rest = n; rest > 1; rest /= radices.back()) radices.push_back(cheapest(rest, known).radix);
  std::sort(radices.begin(), radices.end());
  std::int64_t length = n;
  plan.output.assign(1, 0);
  for (const int r : radices) {
    const std::int64_t m = length / r;
    plan.levels.push_back({r, length, plan.twiddles.size(), 0});
    for (std::int64_t i = 0; m > 1 && i < m; ++i) {
      for (int q = 1; q < r; ++q) {
        const double turn = -2 * std::numbers::pi * static_cast<double>(i * q % length) / static_cast<double>(length);
        plan.twiddles.push_back(static_cast<T>(std::cos(turn)));
        plan.twiddles.push_back(static_cast<T>(std::sin(turn)));
      }
    }
    plan.levels.back().roots = plan.twiddles.size();
    for (int q = 1; r > 13 && r % 2 != 0 && q <= r / 2; ++q)
      for (int j = 1; j <= r / 2; ++j) {
        const double turn = 2 * std::numbers::pi * (q * j % r) / r;
        plan.twiddles.push_back(static_cast<T>(std::cos(turn)));
        plan.twiddles.push_back(static_cast<T>(std::sin(turn)));
      }
    length = m;
  }
  // Output k = q1 + r1 (q2 + r2 (...)) is at q1 m1 + q2 m2 + ...
  plan.output.resize(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t rest = k, at = 0;
    for (const auto& level : plan.levels) {
      at += rest % level.radix * (level.length / level.radix);
      rest /= level.radix;
    }
    plan.output[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(at);
  }
  return plan;
}
template SimdFftPlan<float> make_simd_fft_plan(std::int64_t);
template SimdFftPlan<double> make_simd_fft_plan(std::int64_t);

template <class T>
std::shared_ptr<const SimdFftPlan<T>> shared_simd_fft_plan(std::int64_t n) {
  static ForkSafeMutex& mutex = *new ForkSafeMutex;
  static std::map<std::int64_t, std::weak_ptr<const SimdFftPlan<T>>> plans;
  const std::lock_guard lock(mutex);
  auto plan = plans[n].lock();
  if (!plan) {
    plan = std::make_shared<const SimdFftPlan<T>>(make_simd_fft_plan<T>(n));
    plans[n] = plan;
  }
  return plan;
}
template std::shared_ptr<const SimdFftPlan<float>> shared_simd_fft_plan(std::int64_t);
template std::shared_ptr<const SimdFftPlan<double>> shared_simd_fft_plan(std::int64_t);

template <>
const SimdFftKernels<float>& simd_fft_kernels() {
  static const SimdFftKernels<float> kernels = HWY_DYNAMIC_DISPATCH(float_kernels)();
  return kernels.lanes > 0 ? kernels : single_fft_kernels<float>();
}
template <>
const SimdFftKernels<double>& simd_fft_kernels() {
  static const SimdFftKernels<double> kernels = HWY_DYNAMIC_DISPATCH(double_kernels)();
  return kernels.lanes > 0 ? kernels : single_fft_kernels<double>();
}

}  // namespace fourtune::runtime::cpu
#endif
