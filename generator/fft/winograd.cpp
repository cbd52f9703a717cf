#include "generator/fft/winograd.h"

namespace fourtune::generator::fft {
namespace {

class Correlation {
 public:
  explicit Correlation(Dag& dag) : dag_(dag) {}

  // Numbers a + b u with u u = -1, one real signal each; b absent (-1) where all are real.
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
    Pair m0 = product(part([](double a, double b, double c) { return (a + b + c) / 3; }, g0, g1, g2), a0);
    const Pair m1 = product(part([](double a, double, double c) { return a - c; }, g0, g1, g2), a1);
    const Pair m2 = product(part([](double, double b, double c) { return b - c; }, g0, g1, g2), a2);
    const Pair m3 = product(part([](double a, double b, double c) { return (a + b - 2 * c) / 3; }, g0, g1, g2), a3);
    if (total) *total = a0.a;
    if (offset >= 0) m0.a = dag_.add(m0.a, offset);
    const Pair t1 = minus(m1, m3), t2 = minus(m2, m3);
    return {plus(m0, t1), minus(m0, plus(t1, t2)), plus(m0, t2)};
  }
  // Length 6 = 2 x 3: sums and differences over the 2.
  std::vector<NodeId> correlate6(const std::vector<NodeId>& x, const std::vector<double>& c, NodeId offset,
                                 NodeId* total) {
    std::vector<Pair> sum(3), difference(3);
    std::vector<Factor> c_sum(3), c_difference(3);
    for (std::size_t j = 0; j < 6; j += 2) {  // j and j + 3 agree mod 3; j is even
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
  // The sign change after 3 becomes (-1)^j.
  std::vector<NodeId> negacyclic3(std::vector<NodeId> x, std::vector<double> c) {
    x[1] = dag_.neg(x[1]), c[1] = -c[1];
    auto y = real_part(correlate3(lift(x), lift(c), -1, nullptr));
    y[1] = dag_.neg(y[1]);
    return y;
  }
  // With c of period 12 and c_(m+6) = -c_m, index m is (m mod 4, m mod 3): numbers a + b u along the 4, length 3
  // across.
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
  return Correlation::real_part(correlation.correlate3(Correlation::lift(x), Correlation::lift(c), offset, total));
}

std::vector<NodeId> negacyclic_correlation(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& c) {
  Correlation correlation(dag);
  return x.size() == 6 ? correlation.negacyclic6(x, c) : correlation.negacyclic3(x, c);
}

}  // namespace fourtune::generator::fft
