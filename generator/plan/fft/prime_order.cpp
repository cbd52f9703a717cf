// Orders by prime factors: the rule that radices keep, and the plan that undoes another one.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/layout.h"
#include "generator/plan/fft/notation.h"
#include "generator/plan/fft/notation_keys.h"
#include "generator/plan/fft/parameter_rules.h"

namespace fourtune::generator::fft {

bool primes_ascend(const std::vector<int>& radices) {
  std::int64_t last = 1;
  for (const int radix : radices) {
    const auto primes = prime_factors(radix);
    if (!primes.empty() && primes.front() < last) return false;
    if (!primes.empty()) last = primes.back();
  }
  return true;
}

std::vector<Violation> check_order(const FftPlan& plan) {
  std::vector<Violation> found;
  const bool from = plan.from == DigitOrder::primes;
  if (!from && plan.order != DigitOrder::primes) return found;
  const auto add = [&](int kernel, const std::string& what) {
    found.push_back({Rule::order, kernel, -1, fmt::format("rule {}: {}", rule_name(Rule::order), what)});
  };
  if (from && plan.order != DigitOrder::natural)
    add(0, fmt::format("from=primes gives order=natural, not {}", name_of(orders, plan.order)));
  std::array<std::vector<int>, most_dimensions> radices;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    if (plan.kernels[k].with.store != Store::place)
      add(static_cast<int>(k), fmt::format("kernel {} stores={}; every value stays in its place, store=place", k + 1,
                                           name_of(stores, plan.kernels[k].with.store)));
    for (const SubFft& sub : plan.kernels[k].subs)
      radices[static_cast<std::size_t>(index(sub.dim))].push_back(sub.radix);
  }
  for (std::size_t d = 0; d < radices.size(); ++d) {
    if (from) std::reverse(radices[d].begin(), radices[d].end());
    if (!primes_ascend(radices[d]))
      add(0, fmt::format("{}: the prime factors of the radices {} from one sub-FFT to the next with {}=primes, as {}",
                         "XYZW"[d], from ? "descend" : "ascend", from ? "from" : "order", from ? "15, 8" : "8, 15"));
  }
  return found;
}

FftPlan mirrored(const FftPlan& plan) {
  FftPlan out = plan;
  out.from = plan.order == DigitOrder::primes ? DigitOrder::primes : DigitOrder::natural;
  out.order = plan.order == DigitOrder::primes ? DigitOrder::natural : DigitOrder::primes;
  std::reverse(out.kernels.begin(), out.kernels.end());
  Sizes rest = lengths(plan);
  for (std::size_t k = 0; k < out.kernels.size(); ++k) {
    Kernel& kernel = out.kernels[k];
    // The array between two kernels stays the same one.
    kernel.with.to = k + 1 < out.kernels.size() ? plan.kernels[out.kernels.size() - k - 2].with.to : Target::out;
    std::reverse(kernel.subs.begin(), kernel.subs.end());
    for (SubFft& sub : kernel.subs) {
      std::int64_t& n = rest[static_cast<std::size_t>(index(sub.dim))];
      sub.n = n, sub.stride = n /= sub.radix, sub.twiddle = sub.stride > 1;
    }
  }
  return out;
}

FftPlan facing(const FftPlan& plan, SpectrumOrder order) {
  const bool turned = (plan.order == DigitOrder::primes && order == SpectrumOrder::unreversed) ||
                      (plan.from == DigitOrder::primes && order == SpectrumOrder::reversed);
  return turned ? mirrored(plan) : plan;
}

}  // namespace fourtune::generator::fft
