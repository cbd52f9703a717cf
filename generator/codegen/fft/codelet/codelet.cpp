// DFT algorithms on the DAG. Each function below implements one algorithm; `choose` builds a size with every algorithm
// that applies and keeps the cheapest.
#include "generator/codegen/fft/codelet/codelet.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <mutex>
#include <numbers>
#include <numeric>

#include "fourtune/status.h"
#include "generator/codegen/fft/codelet/tangent.h"
#include "generator/codegen/fft/codelet/winograd.h"

namespace fourtune::generator::fft {
namespace {

struct Complex {
  NodeId re = -1, im = -1;
};
using Values = std::vector<Complex>;

enum class Method { trivial, split_radix, tangent, cooley_tukey, prime_factor, direct, rader, winograd };
struct Choice {
  Method method = Method::trivial;
  int radix = 1;  // for cooley_tukey (first factor) and prime_factor
};

// cos and sin of 2 pi k / n. Values at the octants' corners are exact, and angles that mirror each other give equal
// bits up to the sign.
std::pair<double, double> unit(std::int64_t k, std::int64_t n) {
  k = ((k % n) + n) % n;
  bool negate_sin = false, negate_cos = false, swap = false;
  std::int64_t a = 8 * k, full = 8 * n;  // angle in units of 1/(8n) turn
  if (2 * a > full) a = full - a, negate_sin = true;
  if (4 * a > full) a = full / 2 - a, negate_cos = true;
  if (8 * a > full) a = full / 4 - a, swap = true;
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(a) / static_cast<long double>(full);
  double c = static_cast<double>(std::cos(angle)), s = static_cast<double>(std::sin(angle));
  if (8 * a == full) c = s = static_cast<double>(std::sqrt(0.5L));
  if (swap) std::swap(c, s);
  return {negate_cos ? -c : c, negate_sin ? -s : s};
}

class Builder {
 public:
  Builder(Dag& dag, CodeletCost cost, const std::vector<Choice>& choices) : dag_(dag), cost_(cost), choices_(choices) {}

  Values dft(const Values& x) { return run(choices_[x.size()], x); }

  Values run(Choice choice, const Values& x) {
    switch (choice.method) {
      case Method::trivial:
        return x.size() == 2 ? Values{add(x[0], x[1]), sub(x[0], x[1])} : x;
      case Method::split_radix:
        return split_radix(x);
      case Method::tangent:
        return tangent(x);
      case Method::cooley_tukey:
        return cooley_tukey(x, choice.radix);
      case Method::prime_factor:
        return prime_factor(x, choice.radix);
      case Method::direct:
        return direct(x);
      case Method::rader:
        return rader(x);
      case Method::winograd:
        return winograd(x);
    }
    return x;
  }

 private:
  Complex add(Complex a, Complex b) { return {dag_.add(a.re, b.re), dag_.add(a.im, b.im)}; }
  Complex sub(Complex a, Complex b) { return {dag_.sub(a.re, b.re), dag_.sub(a.im, b.im)}; }
  Complex swapped(Complex a) { return {a.im, a.re}; }
  Complex times_minus_i(Complex a) { return {a.im, dag_.neg(a.re)}; }
  Complex scale(double c, Complex a) { return {dag_.mul(c, a.re), dag_.mul(c, a.im)}; }

  // a * (c + i s). The larger part is factored out for fused multiply-adds: c (a.re - t a.im), so that two of the four
  // products merge into the additions that follow.
  Complex times(Complex a, double c, double s) {
    if (c == 0) return {dag_.mul(-s, a.im), dag_.mul(s, a.re)};
    if (s == 0) return scale(c, a);
    if (c == s || c == -s) {  // an odd multiple of an eighth turn
      const NodeId plus = dag_.add(a.re, a.im), minus = dag_.sub(a.re, a.im);
      return c == s ? Complex{dag_.mul(c, minus), dag_.mul(c, plus)} : Complex{dag_.mul(c, plus), dag_.mul(s, minus)};
    }
    if (cost_ == CodeletCost::operations)
      return {dag_.sub(dag_.mul(c, a.re), dag_.mul(s, a.im)), dag_.add(dag_.mul(c, a.im), dag_.mul(s, a.re))};
    if (std::abs(c) >= std::abs(s)) {
      const double t = s / c;
      return {dag_.mul(c, dag_.sub(a.re, dag_.mul(t, a.im))), dag_.mul(c, dag_.add(a.im, dag_.mul(t, a.re)))};
    }
    const double t = c / s;
    return {dag_.mul(s, dag_.sub(dag_.mul(t, a.re), a.im)), dag_.mul(s, dag_.add(dag_.mul(t, a.im), a.re))};
  }
  // a * exp(-2 pi i k / n)
  Complex twiddle(Complex a, std::int64_t k, std::int64_t n) {
    const auto [c, s] = unit(-k, n);
    return times(a, c, s);
  }

  // n = 4 m: one DFT of the even values and two of a quarter of the values each, x[4j+1] and, as the conjugate pair,
  // x[4j-1]. The twiddle factors of the last two are conjugates of each other, so their common factor leaves sums and
  // differences of the two.
  Values split_radix(const Values& x) {
    const std::size_t n = x.size(), quarter = n / 4;
    Values even(n / 2), first(quarter), third(quarter), out(n);
    for (std::size_t j = 0; j < n / 2; ++j) even[j] = x[2 * j];
    for (std::size_t j = 0; j < quarter; ++j) first[j] = x[4 * j + 1], third[j] = x[(4 * j + n - 1) % n];
    even = dft(even), first = dft(first), third = dft(third);
    for (std::size_t k = 0; k < quarter; ++k) {
      const auto kk = static_cast<std::int64_t>(k), nn = static_cast<std::int64_t>(n);
      const Complex a = twiddle(first[k], kk, nn), b = twiddle(third[k], -kk, nn);
      const Complex sum = add(a, b), turned = times_minus_i(sub(a, b));
      out[k] = add(even[k], sum);
      out[k + 2 * quarter] = sub(even[k], sum);
      out[k + quarter] = add(even[k + quarter], turned);
      out[k + 3 * quarter] = sub(even[k + quarter], turned);
    }
    return out;
  }

  // n = radix * m: `m` DFTs of `radix` values that lie m apart, twiddle factors, then `radix` DFTs of m adjacent
  // values.
  Values cooley_tukey(const Values& x, int radix) {
    const std::size_t r = static_cast<std::size_t>(radix), m = x.size() / r;
    std::vector<Values> columns(m, Values(r));
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t i = 0; i < r; ++i) columns[j][i] = x[i * m + j];
      columns[j] = dft(columns[j]);
    }
    Values out(x.size());
    for (std::size_t k = 0; k < r; ++k) {
      Values row(m);
      for (std::size_t j = 0; j < m; ++j)
        row[j] = twiddle(columns[j][k], static_cast<std::int64_t>(j * k), static_cast<std::int64_t>(x.size()));
      row = dft(row);
      for (std::size_t i = 0; i < m; ++i) out[k + r * i] = row[i];
    }
    return out;
  }

  // n = p q without a common factor: the index maps of Good and of the Chinese remainder theorem need no twiddle
  // factors.
  Values prime_factor(const Values& x, int radix) {
    const int n = static_cast<int>(x.size()), p = radix, q = n / p;
    std::vector<Values> columns(static_cast<std::size_t>(q), Values(static_cast<std::size_t>(p)));
    for (int j = 0; j < q; ++j) {
      auto& column = columns[static_cast<std::size_t>(j)];
      for (int i = 0; i < p; ++i)
        column[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>((q * i + p * j) % n)];
      column = dft(column);
    }
    int p_unit = 0, q_unit = 0;  // 1 mod p and 0 mod q; 0 mod p and 1 mod q
    for (int k = 0; k < n; ++k) {
      if (k % p == 1 % p && k % q == 0) p_unit = k;
      if (k % p == 0 && k % q == 1 % q) q_unit = k;
    }
    Values out(x.size());
    for (int k = 0; k < p; ++k) {
      Values row(static_cast<std::size_t>(q));
      for (int j = 0; j < q; ++j)
        row[static_cast<std::size_t>(j)] = columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(k)];
      row = dft(row);
      for (int j = 0; j < q; ++j)
        out[static_cast<std::size_t>((k * p_unit + j * q_unit) % n)] = row[static_cast<std::size_t>(j)];
    }
    return out;
  }

  // Sum of coefficient * value. For fused multiply-adds, the largest coefficient is factored out and returned
  // separately.
  std::pair<double, NodeId> combination(const std::vector<double>& coefficients, const std::vector<NodeId>& values) {
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

  // Odd n: x[j] + x[n-j] is multiplied by cosines, x[j] - x[n-j] by sines.
  Values direct(const Values& x) {
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

  // out[k], out[n-k] = even -+ i factor odd
  void finish_pair(Values& out, std::size_t k, const NodeId even[2], const NodeId odd[2], double factor) {
    const NodeId re = dag_.mul(factor, odd[1]), im = dag_.mul(factor, odd[0]);
    out[k] = {dag_.add(even[0], re), dag_.sub(even[1], im)};
    out[out.size() - k] = {dag_.sub(even[0], re), dag_.add(even[1], im)};
  }

  // n = 3 and 5: the mean of the cosines is -1/(n-1), which saves products.
  Values direct_small(const Values& x, Values out, const std::vector<NodeId> plus[2],
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

  // Rader's algorithm in halves. With a generator g of the units mod p and h = (p-1)/2, g^h = -1, so
  //   X[g^-k], X[g^-(k+h)] = x0 + C_k -+ i D_k,   C_k = sum_j (x[g^j] + x[g^(j+h)]) cos(2 pi g^(j-k) / p),
  //   D_k = sum_j (x[g^j] - x[g^(j+h)]) sin(2 pi g^(j-k) / p):
  // C is a cyclic and D a negacyclic correlation of length h. Both use DFTs of length h, with constants that are known
  // when the code is generated.
  Values rader(const Values& x) {
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

  static std::vector<int> unit_powers(int p) {
    for (int g = 2;; ++g) {
      std::vector<int> power{1};
      while (power.back() * g % p != 1) power.push_back(power.back() * g % p);
      if (static_cast<int>(power.size()) == p - 1) return power;
    }
  }

  // Rader's algorithm in halves for 7, 11 and 13, whose correlations of length 3, 5 and 6 need few products (Winograd),
  // and a similar form for 9. Real and imaginary parts of x are transformed separately.
  Values winograd(const Values& x) {
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

  Values winograd_9(const Values& x) {
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

  Values tangent(const Values& x) {
    std::vector<RealImaginary> values;
    for (const Complex& value : x) values.push_back({value.re, value.im});
    Values out;
    for (const auto& [re, im] : tangent_fft(dag_, values)) out.push_back({re, im});
    return out;
  }

  // y_k = sum_j x_j c_(j-k), where c has period h or, if negacyclic, changes sign after h. `plus` is added to every
  // y_k, and `total` receives sum x_j.
  Values correlate(Values x, const std::vector<double>& c, bool negacyclic, const Complex* plus, Complex* total) {
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

  Dag& dag_;
  CodeletCost cost_;
  const std::vector<Choice>& choices_;
};

Codelet build(int n, CodeletCost cost, Choice choice, const std::vector<Choice>& choices) {
  Codelet codelet;
  codelet.n = n;
  Values x;
  for (int j = 0; j < n; ++j) x.push_back({codelet.dag.input(2 * j), codelet.dag.input(2 * j + 1)});
  for (const Complex value : Builder(codelet.dag, cost, choices).run(choice, x)) {
    codelet.outputs.push_back(value.re);
    codelet.outputs.push_back(value.im);
  }
  return codelet;
}

int cost_of(const Codelet& codelet, CodeletCost cost) {
  return cost == CodeletCost::operations ? count_operations(codelet.dag, codelet.outputs).total()
                                         : static_cast<int>(make_schedule(codelet).instructions.size());
}

std::vector<Choice> candidates(int n) {
  if (n <= 2) return {{Method::trivial, n}};
  std::vector<Choice> out;
  if (n % 4 == 0 && n > 4) out.push_back({Method::split_radix, 4});
  if (n == 64) out.push_back({Method::tangent, n});
  for (int radix = 2; radix < n; ++radix) {
    if (n % radix) continue;
    if (std::gcd(radix, n / radix) == 1) {
      if (radix < n / radix) out.push_back({Method::prime_factor, radix});
    } else {
      out.push_back({Method::cooley_tukey, radix});
    }
  }
  if (n == 9) out.push_back({Method::winograd, n});
  if (out.empty()) {
    out.push_back({Method::direct, n});
    if (n == 7 || n == 11 || n == 13) out.push_back({Method::winograd, n});
    if (n >= 11) out.push_back({Method::rader, n});
  }
  return out;
}

std::string describe(int n, const std::vector<Choice>& choices) {
  const Choice choice = choices[static_cast<std::size_t>(n)];
  switch (choice.method) {
    case Method::trivial:
      return fmt::format("{}", n);
    case Method::split_radix:
      return fmt::format("split-radix {}", n);
    case Method::tangent:
      return fmt::format("scaled split-radix {}", n);
    case Method::cooley_tukey:
      return fmt::format("Cooley-Tukey {} x ({})", choice.radix, describe(n / choice.radix, choices));
    case Method::prime_factor:
      return fmt::format("prime factors ({}) x ({})", describe(choice.radix, choices),
                         describe(n / choice.radix, choices));
    case Method::direct:
      return fmt::format("symmetric {}", n);
    case Method::winograd:
      return fmt::format("Winograd {}", n);
    case Method::rader:
      return fmt::format("Rader {} by ({})", n, describe((n - 1) / 2, choices));
  }
  return {};
}

// The best choice for every size up to n; computed once per process.
const std::vector<Choice>& best_choices(int n, CodeletCost cost) {
  static std::mutex mutex;
  static std::vector<Choice> known[2];
  static std::vector<char> done[2];
  const auto which = static_cast<std::size_t>(cost);
  const std::lock_guard lock(mutex);
  auto& choices = known[which];
  choices.resize(65);
  done[which].resize(65);
  const std::function<void(int)> need = [&](int size) {
    if (done[which][static_cast<std::size_t>(size)]) return;
    for (int d = 1; d < size; ++d)
      if (size % d == 0) need(d);
    const auto list = candidates(size);
    if (list.back().method == Method::rader) need((size - 1) / 2);
    int least = 0;
    for (const Choice choice : list) {
      const int price = list.size() == 1 ? 1 : cost_of(build(size, cost, choice, choices), cost);
      if (least != 0 && price >= least) continue;
      least = price;
      choices[static_cast<std::size_t>(size)] = choice;
    }
    done[which][static_cast<std::size_t>(size)] = 1;
  };
  need(n);
  return choices;
}

}  // namespace

Codelet make_codelet(int n, CodeletCost cost) {
  if (n < 1 || n > 64) throw Error(Status::invalid_argument, fmt::format("codelet of {} points: sizes are 1 to 64", n));
  const auto& choices = best_choices(n, cost);
  Codelet codelet = build(n, cost, choices[static_cast<std::size_t>(n)], choices);
  codelet.algorithm = describe(n, choices);
  return codelet;
}

}  // namespace fourtune::generator::fft
