#include "generator/codegen/fft/codelet/tangent.h"

#include <cmath>
#include <numbers>

namespace fourtune::generator::fft {
namespace {

using Values = std::vector<RealImaginary>;

long double angle(int k, int n) {
  return 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
}

// The paper's s(n, k), which has period n / 4 in k.
long double scale(int n, int k) {
  if (n <= 4) return 1;
  const int k4 = k % (n / 4);
  const long double part = k4 <= n / 8 ? std::cos(angle(k4, n)) : std::sin(angle(k4, n));
  return scale(n / 4, k4) * part;
}

class Tangent {
 public:
  explicit Tangent(Dag& dag) : dag_(dag) {}

  // DFT of x with value k divided by scale(wide * n, k); wide = 0: not divided. wide is 0, 1, 2 or 4.
  Values dft(const Values& x, int wide) {
    const int n = static_cast<int>(x.size());
    if (n == 1) return x;
    if (n == 2) return {divided(add(x[0], x[1]), wide * n, 0), divided(sub(x[0], x[1]), wide * n, 1)};
    Values even, first, third;
    for (int j = 0; j < n / 2; ++j) even.push_back(at(x, 2 * j));
    for (int j = 0; j < n / 4; ++j) first.push_back(at(x, 4 * j + 1)), third.push_back(at(x, 4 * j - 1 + n));
    // A scale of period n / 2 costs nothing here; a scale of 4 n must be compensated for at the end.
    even = dft(even, wide == 0 ? 0 : wide == 2 ? 4 : 2);
    first = dft(first, 1), third = dft(third, 1);
    Values out(x.size());
    for (int k = 0; k < n / 4; ++k) {
      const long double own = wide == 0 ? 1 : scale(n, k), quarter = scale(n / 4, k) / own;
      const long double c = std::cos(angle(k, n)) * quarter, s = std::sin(angle(k, n)) * quarter;
      const RealImaginary a = times(at(first, k), c, -s), b = times(at(third, k), c, s);
      const RealImaginary sum = add(a, b), difference = sub(a, b), turned{difference[1], dag_.neg(difference[0])};
      const auto place = [&](int q, RealImaginary from, RealImaginary with, bool minus) {
        const int i = k + q * n / 4;
        // wide = 2: `from` already has the scale of the result; 4: the whole result has the scale of n
        if (wide == 2) with = times(with, own / scale(2 * n, i));
        RealImaginary value = minus ? sub(from, with) : add(from, with);
        if (wide == 4) value = times(value, own / scale(4 * n, i));
        out[static_cast<std::size_t>(i)] = value;
      };
      place(0, at(even, k), sum, false);
      place(1, at(even, k + n / 4), turned, false);
      place(2, at(even, k), sum, true);
      place(3, at(even, k + n / 4), turned, true);
    }
    return out;
  }

 private:
  static RealImaginary at(const Values& x, int i) { return x[static_cast<std::size_t>(i) % x.size()]; }
  RealImaginary add(RealImaginary a, RealImaginary b) { return {dag_.add(a[0], b[0]), dag_.add(a[1], b[1])}; }
  RealImaginary sub(RealImaginary a, RealImaginary b) { return {dag_.sub(a[0], b[0]), dag_.sub(a[1], b[1])}; }
  // Rounds to double, and to 0 and 1 exactly where these are meant.
  static double constant(long double c) {
    for (const long double exact : {-1.0L, 0.0L, 1.0L})
      if (std::abs(c - exact) < 1e-17L) return static_cast<double>(exact);
    return static_cast<double>(c);
  }
  RealImaginary times(RealImaginary a, long double c) {
    return {dag_.mul(constant(c), a[0]), dag_.mul(constant(c), a[1])};
  }
  RealImaginary times(RealImaginary a, long double c, long double s) {
    const double re = constant(c), im = constant(s);
    if (re == im || re == -im) {
      const NodeId plus = dag_.add(a[0], a[1]), minus = dag_.sub(a[0], a[1]);
      return re == im ? RealImaginary{dag_.mul(re, minus), dag_.mul(re, plus)}
                      : RealImaginary{dag_.mul(re, plus), dag_.mul(im, minus)};
    }
    return {dag_.sub(dag_.mul(re, a[0]), dag_.mul(im, a[1])), dag_.add(dag_.mul(re, a[1]), dag_.mul(im, a[0]))};
  }
  RealImaginary divided(RealImaginary a, int n, int k) { return n == 0 ? a : times(a, 1 / scale(n, k)); }

  Dag& dag_;
};

}  // namespace

std::vector<RealImaginary> tangent_fft(Dag& dag, const std::vector<RealImaginary>& x) { return Tangent(dag).dft(x, 0); }

}  // namespace fourtune::generator::fft
