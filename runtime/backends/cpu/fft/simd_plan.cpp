#include "runtime/backends/cpu/fft/simd_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

#include "base/fork_safe_mutex.h"
#include "generator/plan/lane_radices.h"
#include "runtime/backends/cpu/fft/simd.h"

namespace fourtune::runtime::cpu {
namespace {

// The least number that generates all others modulo a prime by its powers.
std::int64_t generator_of(int prime) {
  for (std::int64_t g = 2; g < prime; ++g) {
    std::int64_t power = g, order = 1;
    for (; power != 1; ++order) power = power * g % prime;
    if (order == prime - 1) return g;
  }
  return 1;
}

template <class T>
SimdFftPlan<T> make_plan(std::int64_t n, int most);

// The transform with sign -1, in double precision for every T: rounding errors in a filter would appear in every
// result.
std::vector<double> spectrum_of(std::vector<double> values) {
  const auto plan = make_plan<double>(static_cast<std::int64_t>(values.size()) / 2, generator::kLargestSummed);
  single_fft_kernels<double>().transform(plan, values.data(), nullptr);
  std::vector<double> result;
  for (const std::int32_t at : plan.output) result.insert(result.end(), {values[2 * at], values[2 * at + 1]});
  return result;
}

template <class T>
std::shared_ptr<const SimdFftConvolution<T>> make_convolution(int prime, std::int64_t length) {
  auto out = std::make_shared<SimdFftConvolution<T>>();
  out->plan = make_plan<T>(length, generator::kLargestSummed);
  const std::int64_t g = generator_of(prime), values = prime - 1;
  out->inputs.assign(1, 1);
  while (std::ssize(out->inputs) < values)
    out->inputs.push_back(static_cast<std::int32_t>(out->inputs.back() * g % prime));
  out->outputs.assign(1, 1);
  for (std::int64_t k = 1; k < values; ++k) out->outputs.push_back(out->inputs[static_cast<std::size_t>(values - k)]);
  // Where the convolution is longer than needed, those of negative numbers stand at its end.
  std::vector<double> filter(static_cast<std::size_t>(2 * length));
  for (std::int64_t k = 0; k < values; ++k)
    for (const std::int64_t at : {k, length == values ? k : length - values + k}) {
      if (at != k && k == 0) continue;
      const double turn = -2 * std::numbers::pi * out->outputs[static_cast<std::size_t>(k)] / prime;
      filter[static_cast<std::size_t>(2 * at)] = std::cos(turn);
      filter[static_cast<std::size_t>(2 * at + 1)] = std::sin(turn);
    }
  for (const double v : spectrum_of(std::move(filter)))
    out->filter.push_back(static_cast<T>(v / static_cast<double>(length)));
  return out;
}
// most: as in lane_radices().
template <class T>
SimdFftPlan<T> make_plan(std::int64_t n, int most) {
  SimdFftPlan<T> plan;
  plan.n = n;
  const std::vector<int> radices = generator::lane_radices(n, most);
  std::int64_t length = n;
  plan.output.assign(1, 0);
  for (const int r : radices) {
    const std::int64_t m = length / r;
    plan.levels.push_back({r, length, plan.twiddles.size(), 0, nullptr});
    for (std::int64_t i = 0; m > 1 && i < m; ++i) {
      for (int q = 1; q < r; ++q) {
        const double turn = -2 * std::numbers::pi * static_cast<double>(i * q % length) / static_cast<double>(length);
        plan.twiddles.push_back(static_cast<T>(std::cos(turn)));
        plan.twiddles.push_back(static_cast<T>(std::sin(turn)));
      }
    }
    plan.levels.back().roots = plan.twiddles.size();
    const bool prime = r > 13 && r % 2 != 0;
    const std::int64_t convolved = prime && most > generator::kLargestSummed ? generator::prime_level(r).length : 0;
    if (convolved > 0) {
      plan.levels.back().convolution = make_convolution<T>(r, convolved);
      plan.scratch = std::max(plan.scratch, 2 * convolved);
    }
    for (int q = 1; prime && convolved == 0 && q <= r / 2; ++q)
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
}  // namespace

bool simd_fft_supports(std::int64_t n) {
  return n <= std::numeric_limits<std::int32_t>::max() && generator::has_factors_up_to(n, generator::kLargestConvolved);
}

template <class T>
SimdFftPlan<T> make_simd_fft_plan(std::int64_t n) {
  return make_plan<T>(n, generator::kLargestConvolved);
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

}  // namespace fourtune::runtime::cpu
