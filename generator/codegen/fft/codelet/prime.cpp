// DFTs of primes: the symmetric direct form, Rader's convolution in halves, and Winograd's short ones; and of 9.
#include <cmath>
#include <numbers>
#include <tuple>

#include "generator/codegen/fft/codelet/builder.h"
#include "generator/codegen/fft/codelet/winograd.h"

namespace fourtune::generator::fft {

std::pair<double, NodeId> Builder::combination(const std::vector<double>& coefficients,
                                               const std::vector<NodeId>& values) {
  double common = 1;
  if (cost_ == CodeletCost::instructions) {
    common = 0;
    for (const double c : coefficients)
      if (std::abs(c) > std::abs(common)) common = c;
  }
  NodeId sum = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const NodeId term = dag_.mul(coefficients[i] / common, values[i]);
    sum = i == 0 ? term : dag_.add(sum, term);
  }
  return {common, sum};
}

void Builder::finish_pair(Values& out, std::size_t k, const NodeId even[2], const NodeId odd[2], double factor) {
  const NodeId re = dag_.mul(factor, odd[1]), im = dag_.mul(factor, odd[0]);
  out[k] = {dag_.add(even[0], re), dag_.sub(even[1], im)};
  out[out.size() - k] = {dag_.sub(even[0], re), dag_.add(even[1], im)};
}

Values Builder::direct(const Values& x) {
  const std::size_t n = x.size(), half = n / 2;
  std::vector<NodeId> plus[2], minus[2];
  for (std::size_t j = 1; j <= half; ++j) {
    const Complex p = add(x[j], x[n - j]), m = sub(x[j], x[n - j]);
    plus[0].push_back(p.re), plus[1].push_back(p.im), minus[0].push_back(m.re), minus[1].push_back(m.im);
  }
  Values out(n);
  const NodeId zero[2] = {x[0].re, x[0].im};
  NodeId total[2] = {plus[0][0], plus[1][0]};
  for (int part = 0; part < 2; ++part)
    for (std::size_t j = 1; j < half; ++j) total[part] = dag_.add(total[part], plus[part][j]);
  out[0] = {dag_.add(zero[0], total[0]), dag_.add(zero[1], total[1])};
  if (n == 5 || n == 3) return direct_small(x, out, plus, minus, total);
  for (std::size_t k = 1; k <= half; ++k) {
    NodeId even[2], odd[2];
    double factor = 1;
    for (int part = 0; part < 2; ++part) {
      std::vector<double> sines;
      NodeId sum = zero[part];
      for (std::size_t j = 1; j <= half; ++j) {
        const auto [c, s] = unit(static_cast<std::int64_t>(j * k), static_cast<std::int64_t>(n));
        sum = dag_.add(sum, dag_.mul(c, plus[part][j - 1]));
        sines.push_back(s);
      }
      even[part] = sum;
      std::tie(factor, odd[part]) = combination(sines, minus[part]);
    }
    finish_pair(out, k, even, odd, factor);
  }
  return out;
}

Values Builder::direct_small(const Values& x, Values out, const std::vector<NodeId> plus[2],
                             const std::vector<NodeId> minus[2], const NodeId total[2]) {
  const std::size_t n = x.size();
  const NodeId zero[2] = {x[0].re, x[0].im};
  NodeId even[2][2], odd[2][2];
  double factor[2] = {1, 1};
  for (int part = 0; part < 2; ++part) {
    const NodeId mean = dag_.sub(zero[part], dag_.mul(n == 3 ? 0.5 : 0.25, total[part]));
    if (n == 3) {
      even[0][part] = mean, odd[0][part] = minus[part][0], factor[0] = unit(1, 3).second;
      continue;
    }
    const NodeId spread = dag_.mul(std::sqrt(5.0) / 4, dag_.sub(plus[part][0], plus[part][1]));
    even[0][part] = dag_.add(mean, spread), even[1][part] = dag_.sub(mean, spread);
    const double s1 = unit(1, 5).second, s2 = unit(2, 5).second;
    std::tie(factor[0], odd[0][part]) = combination({s1, s2}, minus[part]);
    std::tie(factor[1], odd[1][part]) = combination({s2, -s1}, minus[part]);
  }
  for (std::size_t k = 1; k <= n / 2; ++k) finish_pair(out, k, even[k - 1], odd[k - 1], factor[k - 1]);
  return out;
}

std::vector<int> Builder::unit_powers(int p) {
  for (int g = 2;; ++g) {
    std::vector<int> power{1};
    while (power.back() * g % p != 1) power.push_back(power.back() * g % p);
    if (static_cast<int>(power.size()) == p - 1) return power;
  }
}

Values Builder::rader(const Values& x) {
  const int p = static_cast<int>(x.size()), h = (p - 1) / 2;
  const std::vector<int> power = unit_powers(p);
  Values sums, differences;
  std::vector<double> cosines, sines;
  for (int j = 0; j < h; ++j) {
    const auto i = static_cast<std::size_t>(power[static_cast<std::size_t>(j)]);
    sums.push_back(add(x[i], x[x.size() - i]));
    differences.push_back(sub(x[i], x[x.size() - i]));
    const auto [c, s] = unit(static_cast<std::int64_t>(i), p);
    cosines.push_back(c), sines.push_back(s);
  }
  Complex total;
  const Values even = correlate(sums, cosines, false, &x[0], &total);
  const Values odd = correlate(differences, sines, true, nullptr, nullptr);
  Values out(x.size());
  out[0] = add(x[0], total);
  for (int k = 0; k < h; ++k) {
    const auto i = static_cast<std::size_t>(power[static_cast<std::size_t>((p - 1 - k) % (p - 1))]);
    const Complex e = even[static_cast<std::size_t>(k)], turned = times_minus_i(odd[static_cast<std::size_t>(k)]);
    out[i] = add(e, turned);
    out[x.size() - i] = sub(e, turned);
  }
  return out;
}

Values Builder::correlate(Values x, const std::vector<double>& c, bool negacyclic, const Complex* plus,
                          Complex* total) {
  const auto h = static_cast<std::int64_t>(x.size());
  const bool alternate = negacyclic && h % 2 == 1;  // (-1)^j makes an odd negacyclic correlation cyclic
  const bool twist = negacyclic && h % 2 == 0;      // exp(-pi i j / h) does so for an even one
  for (std::int64_t j = 0; j < h; ++j) {
    auto& value = x[static_cast<std::size_t>(j)];
    if (alternate && j % 2) value = {dag_.neg(value.re), dag_.neg(value.im)};
    if (twist) value = twiddle(value, j, 2 * h);
  }
  x = dft(x);
  if (total) *total = x[0];
  for (std::int64_t f = 0; f < h; ++f) {
    // The transform of the constant at frequency -f (twist: -(2 f + 1) of 2 h), divided by h.
    long double re = 0, im = 0;
    for (std::int64_t m = 0; m < h; ++m) {
      const long double angle = 2 * std::numbers::pi_v<long double> *
                                static_cast<long double>(twist ? (2 * f + 1) * m : 2 * f * m) /
                                static_cast<long double>(2 * h);
      const long double value =
          (alternate && m % 2 ? -1.0L : 1.0L) * static_cast<long double>(c[static_cast<std::size_t>(m)]);
      re += value * std::cos(angle), im += value * std::sin(angle);
    }
    re /= static_cast<long double>(h), im /= static_cast<long double>(h);
    if (std::abs(re) < 1e-16L) re = 0;
    if (std::abs(im) < 1e-16L) im = 0;
    auto& value = x[static_cast<std::size_t>(f)];
    value = times(value, static_cast<double>(re), static_cast<double>(im));
    if (plus && f == 0) value = add(value, *plus);
    value = swapped(value);
  }
  x = dft(x);
  for (std::int64_t k = 0; k < h; ++k) {
    auto& value = x[static_cast<std::size_t>(k)];
    value = swapped(value);
    if (alternate && k % 2) value = {dag_.neg(value.re), dag_.neg(value.im)};
    if (twist) value = twiddle(value, -k, 2 * h);
  }
  return x;
}

Values Builder::winograd(const Values& x) {
  if (x.size() == 9) return winograd_9(x);
  const int p = static_cast<int>(x.size()), h = (p - 1) / 2;
  const std::vector<int> power = unit_powers(p);
  Values out(x.size());
  std::vector<NodeId> even[2], odd[2];
  NodeId zero[2] = {};
  for (int part = 0; part < 2; ++part) {
    std::vector<NodeId> sums, differences;
    std::vector<double> cosines, sines;
    const auto get = [&](std::size_t i) { return part == 0 ? x[i].re : x[i].im; };
    for (int j = 0; j < h; ++j) {
      const auto i = static_cast<std::size_t>(power[static_cast<std::size_t>(j)]);
      sums.push_back(dag_.add(get(i), get(x.size() - i)));
      differences.push_back(dag_.sub(get(i), get(x.size() - i)));
      const auto [c, s] = unit(static_cast<std::int64_t>(i), p);
      cosines.push_back(c), sines.push_back(s);
    }
    NodeId total = -1;
    even[part] = cyclic_correlation(dag_, sums, cosines, get(0), &total);
    odd[part] = negacyclic_correlation(dag_, differences, sines);
    zero[part] = dag_.add(get(0), total);
  }
  out[0] = {zero[0], zero[1]};
  for (int k = 0; k < h; ++k) {
    const auto i = static_cast<std::size_t>(power[static_cast<std::size_t>((p - 1 - k) % (p - 1))]),
               kk = static_cast<std::size_t>(k);
    const NodeId e[2] = {even[0][kk], even[1][kk]}, o[2] = {odd[0][kk], odd[1][kk]};
    out[i] = {dag_.add(e[0], o[1]), dag_.sub(e[1], o[0])};
    out[x.size() - i] = {dag_.sub(e[0], o[1]), dag_.add(e[1], o[0])};
  }
  return out;
}

Values Builder::winograd_9(const Values& x) {
  std::vector<NodeId> parts[2];
  for (const Complex& value : x) parts[0].push_back(value.re), parts[1].push_back(value.im);
  std::vector<double> cosine, sine;
  for (int k = 0; k < 5; ++k) cosine.push_back(unit(k, 9).first), sine.push_back(unit(k, 9).second);
  const Halves re = halves_of_9(dag_, parts[0], cosine, sine), im = halves_of_9(dag_, parts[1], cosine, sine);
  Values out(9);
  out[0] = {re.even[0], im.even[0]};
  for (std::size_t k = 1; k < 5; ++k) {
    out[k] = {dag_.add(re.even[k], im.odd[k]), dag_.sub(im.even[k], re.odd[k])};
    out[9 - k] = {dag_.sub(re.even[k], im.odd[k]), dag_.add(im.even[k], re.odd[k])};
  }
  return out;
}

}  // namespace fourtune::generator::fft
