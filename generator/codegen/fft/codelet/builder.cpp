// What all algorithms use.
#include "generator/codegen/fft/codelet/builder.h"

#include <cmath>
#include <numbers>

namespace fourtune::generator::fft {

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

Values Builder::run(Choice choice, const Values& x) {
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

Complex Builder::times(Complex a, double c, double s) {
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

Complex Builder::twiddle(Complex a, std::int64_t k, std::int64_t n) {
  const auto [c, s] = unit(-k, n);
  return times(a, c, s);
}

}  // namespace fourtune::generator::fft
