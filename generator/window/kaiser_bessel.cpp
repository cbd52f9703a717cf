// The Kaiser-Bessel window I0(beta sqrt(1-x^2)) / I0(beta) as a series: a plane wave's expansion in spherical
// harmonics, averaged around the axis, gives, with the modified spherical Bessel functions i_n,
//   I0(beta sqrt(1-x^2)) = sum_j (4j+1) P_2j(0) i_2j(beta) P_2j(x).
#include "generator/window/detail.h"
#include "generator/window/formula.h"

namespace fourtune::generator {
namespace {

struct KaiserBessel {
  static std::vector<double> series(double beta) {
    // The modified spherical Bessel functions by Miller's downward recurrence i_n-1 = i_n+1 + (2n+1)/beta i_n; scaling
    // the series to 1 at the origin removes their common factor.
    const std::size_t terms = detail::series_length(beta);
    std::vector<long double> v(terms);
    long double above = 0, bessel = 1e-60L;
    for (std::size_t n = 2 * terms + 20; n > 0; --n) {
      const long double below = above + static_cast<long double>(2 * n + 1) / beta * bessel;
      above = bessel;
      bessel = below;  // i_n-1
      if (n % 2 == 1 && n / 2 < terms) v[n / 2] = bessel;
    }
    const std::vector<long double> legendre = detail::legendre_at_origin(terms);
    for (std::size_t j = 0; j < terms; ++j) v[j] *= static_cast<long double>(4 * j + 1) * legendre[j];
    return detail::normalised(v);
  }

  static double shape(double width, double t) {
    return window_edge(width, t) - quadratic(t, 1.017, 0.482, 0.67) / width -
           quadratic(t, 0.547, -5.66, 4.657) / (width * width);
  }
};

}  // namespace

const WindowFormula kaiser_bessel_formula{.name = "kb",
                                          .shape = KaiserBessel::shape,
                                          .series = KaiserBessel::series,
                                          .evaluate = detail::evaluate_series,
                                          .quadrature_size = detail::quadrature_of_bandlimited};

}  // namespace fourtune::generator
