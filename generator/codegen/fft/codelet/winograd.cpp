#include "generator/codegen/fft/codelet/winograd.h"

#include <array>
#include <cmath>

namespace fourtune::generator::fft {
namespace {

class Correlation {
 public:
  explicit Correlation(Dag& dag) : dag_(dag) {}

  // Numbers a + b u with u u = -1, where a and b are real signals; b is -1 (absent) if all numbers are real.
  struct Pair {
    NodeId a = -1, b = -1;
  };
  struct Factor {
    double a = 0, b = 0;
  };
  template <class F>
  static Pair both(Pair x, Pair y, F f) {
    return {f(x.a, y.a), x.b < 0 ? -1 : f(x.b, y.b)};
  }
  Pair plus(Pair x, Pair y) {
    return both(x, y, [&](NodeId a, NodeId b) { return dag_.add(a, b); });
  }
  Pair minus(Pair x, Pair y) {
    return both(x, y, [&](NodeId a, NodeId b) { return dag_.sub(a, b); });
  }
  Pair product(Factor f, Pair x) {
    if (x.b < 0) return {dag_.mul(f.a, x.a), -1};
    return {dag_.sub(dag_.mul(f.a, x.a), dag_.mul(f.b, x.b)), dag_.add(dag_.mul(f.a, x.b), dag_.mul(f.b, x.a))};
  }
  static std::vector<Pair> lift(const std::vector<NodeId>& x) {
    std::vector<Pair> out;
    for (const NodeId value : x) out.push_back({value, -1});
    return out;
  }
  static std::vector<Factor> lift(const std::vector<double>& x) {
    std::vector<Factor> out;
    for (const double value : x) out.push_back({value, 0});
    return out;
  }
  static std::vector<NodeId> real_part(const std::vector<Pair>& x) {
    std::vector<NodeId> out;
    for (const Pair value : x) out.push_back(value.a);
    return out;
  }

  // y_k = offset + sum_j x_j d_(j-k mod 3) in 4 products. `total` receives sum x_j.
  std::vector<Pair> correlate3(const std::vector<Pair>& x, const std::vector<Factor>& d, NodeId offset, NodeId* total) {
    const Factor g0 = d[0], g1 = d[2], g2 = d[1];  // as a convolution
    const auto part = [](auto f, Factor a, Factor b, Factor c) { return Factor{f(a.a, b.a, c.a), f(a.b, b.b, c.b)}; };
    const Pair a0 = plus(plus(x[0], x[1]), x[2]), a1 = minus(x[0], x[2]), a2 = minus(x[1], x[2]), a3 = plus(a1, a2);
    const auto mean = [](double a, double b, double c) { return std::abs(a + b + c) < 1e-15 ? 0 : (a + b + c) / 3; };
    Pair m0 = product(part(mean, g0, g1, g2), a0);  // zero in DFTs of length 9
    const Pair m1 = product(part([](double a, double, double c) { return a - c; }, g0, g1, g2), a1);
    const Pair m2 = product(part([](double, double b, double c) { return b - c; }, g0, g1, g2), a2);
    const Pair m3 = product(part([](double a, double b, double c) { return (a + b - 2 * c) / 3; }, g0, g1, g2), a3);
    if (total) *total = a0.a;
    if (offset >= 0) m0.a = dag_.add(m0.a, offset);
    const Pair t1 = minus(m1, m3), t2 = minus(m2, m3);
    return {plus(m0, t1), minus(m0, plus(t1, t2)), plus(m0, t2)};
  }
  // Length 6 = 2 x 3: sums and differences over the factor 2.
  std::vector<NodeId> correlate6(const std::vector<NodeId>& x, const std::vector<double>& c, NodeId offset,
                                 NodeId* total) {
    std::vector<Pair> sum(3), difference(3);
    std::vector<Factor> c_sum(3), c_difference(3);
    for (std::size_t j = 0; j < 6; j += 2) {  // j and j + 3 are congruent mod 3; j is even
      const std::size_t i = j % 3, other = (j + 3) % 6;
      sum[i] = {dag_.add(x[j], x[other]), -1}, difference[i] = {dag_.sub(x[j], x[other]), -1};
      c_sum[i] = {(c[j] + c[other]) / 2, 0}, c_difference[i] = {(c[j] - c[other]) / 2, 0};
    }
    const auto s = correlate3(sum, c_sum, offset, total), d = correlate3(difference, c_difference, -1, nullptr);
    std::vector<NodeId> y(6);
    for (std::size_t k = 0; k < 6; ++k)
      y[k] = k % 2 == 0 ? dag_.add(s[k % 3].a, d[k % 3].a) : dag_.sub(s[k % 3].a, d[k % 3].a);
    return y;
  }
  // y_k = offset + sum_j x_j c_(j-k mod 5) in 10 products and 31 additions. It uses z^5 - 1 = (z - 1)(z^4 + z^3 + z^2 +
  // z + 1), and Karatsuba's method twice for the products of four by four. sum_k y_k sum_j x_j c_(j+k) is symmetric in
  // x and y, so y follows from the products by the transpose of the additions that formed them from x.
  std::vector<NodeId> correlate5(const std::vector<NodeId>& x, const std::vector<double>& c, NodeId offset,
                                 NodeId* total) {
    const auto add = [&](NodeId a, NodeId b) { return dag_.add(a, b); };
    const NodeId sum = add(add(x[0], x[1]), add(add(x[2], x[3]), x[4]));
    NodeId p[9];
    for (std::size_t i = 0; i < 4; ++i) p[i] = dag_.sub(x[i], x[4]);
    p[4] = add(p[0], p[1]), p[5] = add(p[2], p[3]), p[6] = add(p[0], p[2]), p[7] = add(p[1], p[3]);
    p[8] = add(p[6], p[7]);
    const std::array<double, 10> g = weights5(c);
    for (std::size_t r = 0; r < 9; ++r) p[r] = dag_.mul(g[r], p[r]);
    NodeId m = dag_.mul(g[9], sum);
    if (total) *total = sum;
    if (offset >= 0) m = add(offset, m);
    const NodeId e = add(p[6], p[8]), f = add(p[7], p[8]);
    const NodeId v[4] = {add(add(p[0], p[4]), e), add(add(p[1], p[4]), f), add(add(p[2], p[5]), e),
                         add(add(p[3], p[5]), f)};
    // The index is -k, since c has index j - k.
    return {add(m, v[0]), dag_.sub(m, add(add(v[0], v[1]), add(v[2], v[3]))), add(m, v[3]), add(m, v[2]), add(m, v[1])};
  }
  // The factor of each product: the share that coefficient m of the cyclic convolution mod z^5 - 1 takes of it, times
  // c_m, summed over m.
  static std::array<double, 10> weights5(const std::vector<double>& c) {
    std::array<double, 10> g{};
    for (std::size_t r = 0; r < 9; ++r) {
      double p[9] = {};
      p[r] = 1;
      // By Karatsuba's method: low, high and middle products of two by two, then the whole product of degree 6.
      const double low[3] = {p[0], p[4] - p[0] - p[1], p[1]}, high[3] = {p[2], p[5] - p[2] - p[3], p[3]},
                   middle[3] = {p[6], p[8] - p[6] - p[7], p[7]};
      double q[5] = {};
      for (std::size_t i = 0; i < 3; ++i) {
        q[i] += low[i], q[i + 2] += middle[i] - low[i] - high[i], q[(i + 4) % 5] += high[i];
      }
      double all = 0;
      for (double& value : q) all += value;
      for (std::size_t i = 0; i < 5; ++i) g[r] += c[i] * (q[i] - all / 5);  // zero mod z - 1
    }
    for (const double value : c) g[9] += value / 5;
    return g;
  }
  // The sign change after an odd number of values becomes (-1)^j.
  std::vector<NodeId> negacyclic_odd(std::vector<NodeId> x, std::vector<double> c) {
    for (std::size_t j = 1; j < x.size(); j += 2) x[j] = dag_.neg(x[j]), c[j] = -c[j];
    auto y = x.size() == 5 ? correlate5(x, c, -1, nullptr) : real_part(correlate3(lift(x), lift(c), -1, nullptr));
    for (std::size_t j = 1; j < y.size(); j += 2) y[j] = dag_.neg(y[j]);
    return y;
  }
  // If c has period 12 and c_(m+6) = -c_m, the index m becomes (m mod 4, m mod 3): numbers a + b u along the 4, and a
  // correlation of length 3 across them.
  std::vector<NodeId> negacyclic6(const std::vector<NodeId>& x, const std::vector<double>& c) {
    std::vector<Pair> pairs(3);
    std::vector<Factor> factors(3);
    for (int m = 0; m < 12; ++m) {
      const auto i = static_cast<std::size_t>(m % 3), j = static_cast<std::size_t>(m % 6);
      const double value = m < 6 ? c[j] : -c[j];
      const NodeId signal = m < 6 ? x[j] : dag_.neg(x[j]);
      if (m % 4 == 0) pairs[i].a = signal, factors[i].a = value;
      if (m % 4 == 1) pairs[i].b = signal, factors[i].b = -value;
    }
    const auto y = correlate3(pairs, factors, -1, nullptr);
    std::vector<NodeId> out(6);
    for (int m = 0; m < 12; ++m) {
      if (m % 4 > 1) continue;
      const NodeId value = m % 4 == 0 ? y[static_cast<std::size_t>(m % 3)].a : y[static_cast<std::size_t>(m % 3)].b;
      out[static_cast<std::size_t>(m % 6)] = m < 6 ? value : dag_.neg(value);
    }
    return out;
  }

  Dag& dag_;
};

}  // namespace

std::vector<NodeId> cyclic_correlation(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& c,
                                       NodeId offset, NodeId* total) {
  Correlation correlation(dag);
  if (x.size() == 6) return correlation.correlate6(x, c, offset, total);
  if (x.size() == 5) return correlation.correlate5(x, c, offset, total);
  return Correlation::real_part(correlation.correlate3(Correlation::lift(x), Correlation::lift(c), offset, total));
}

std::vector<NodeId> negacyclic_correlation(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& c) {
  Correlation correlation(dag);
  return x.size() == 6 ? correlation.negacyclic6(x, c) : correlation.negacyclic_odd(x, c);
}

Halves halves_of_9(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& cosine,
                   const std::vector<double>& sine) {
  NodeId plus[5] = {}, minus[5] = {};
  for (std::size_t j = 1; j < 5; ++j) plus[j] = dag.add(x[j], x[9 - j]), minus[j] = dag.sub(x[j], x[9 - j]);
  Correlation correlation(dag);
  NodeId total = -1;
  const auto correlate = [&](const std::vector<NodeId>& values, const std::vector<double>& with, NodeId offset) {
    return Correlation::real_part(
        correlation.correlate3(Correlation::lift(values), Correlation::lift(with), offset, &total));
  };
  Halves out;
  const auto even =
      correlate({plus[1], plus[2], plus[4]}, {cosine[1], cosine[2], cosine[4]}, dag.sub(x[0], dag.mul(0.5, plus[3])));
  const NodeId third = dag.add(x[0], plus[3]);
  out.even = {dag.add(third, total), even[0], even[2], dag.sub(third, dag.mul(0.5, total)), even[1]};
  const NodeId shared = dag.mul(sine[3], minus[3]);
  const auto odd = correlate({minus[1], dag.neg(minus[2]), minus[4]}, {sine[1], -sine[2], sine[4]}, shared);
  out.odd = {-1, odd[0], dag.neg(odd[2]), dag.mul(sine[3], total), odd[1]};
  return out;
}

}  // namespace fourtune::generator::fft
