// Windows: values, Fourier transforms and piecewise polynomials, each compared with an independent computation.
#include "generator/window/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>

#include "fourtune/status.h"
#include "tests/generator/window_kinds.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;

// Every kind with some widths and oversamplings, including the wide Gaussians.
template <class Check>
void for_each_window(const Check& check) {
  for (const WindowKind kind : kKinds) {
    for (const double sigma : {1.1, 1.25, 2.0, 4.0}) {
      for (int width = kMinWidth; width <= kMaxWidth; ++width) {
        SCOPED_TRACE(std::string(to_string(kind)) + " width " + std::to_string(width) + " sigma " +
                     std::to_string(sigma));
        check(Window(kind, width, sigma));
      }
    }
  }
  for (const int width : {33, 65}) check(Window(WindowKind::gaussian, width, 2.0));
}

// Fejer's first rule in the angle theta = asin(x): the integral of f(x) dx over [-1, 1].
template <class F>
double integrate(const F& f) {
  constexpr int n = 300;
  double sum = 0;
  for (int k = 0; k < n; ++k) {
    const double angle = pi * (k + 0.5) / n;
    double weight = 1;
    for (int j = 1; j <= n / 2; ++j) weight -= 2 * std::cos(2 * j * angle) / (4.0 * j * j - 1) * (2 * j == n ? 0.5 : 1);
    const double theta = pi / 2 * std::cos(angle);
    sum += 2.0 / n * weight * pi / 2 * std::cos(theta) * f(std::sin(theta));
  }
  return sum;
}

Status status_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_FALSE(std::string(error.what()).empty());
    return error.status();
  }
  return Status::success;
}

TEST(Window, KindsHaveTheSpellingsOfPlanTexts) {
  EXPECT_STREQ(to_string(WindowKind::exp_semicircle), "es");
  EXPECT_STREQ(to_string(WindowKind::kaiser_bessel), "kb");
  EXPECT_STREQ(to_string(WindowKind::pswf), "pswf");
  EXPECT_STREQ(to_string(WindowKind::gaussian), "gaussian");
}

TEST(Window, IsEvenOneAtTheOriginAndZeroOutside) {
  for_each_window([](const Window& window) {
    EXPECT_NEAR(window.value(0), 1, 2e-15);
    for (const double x : {0.1, 0.37, 0.8, 0.99, 1.0}) {
      EXPECT_EQ(window.value(x), window.value(-x));
      EXPECT_GT(window.value(x), -1e-15);
      EXPECT_LT(window.value(x), 1);
    }
    for (const double x : {1.0000001, -1.5, 1e300, std::numeric_limits<double>::quiet_NaN()})
      EXPECT_EQ(window.value(x), 0);
  });
}

TEST(Window, ElementaryKindsFollowTheirFormulas) {
  for (const double beta : {0.3, 2.0, 14.1, 37.7, 60.0}) {
    const Window es(WindowKind::exp_semicircle, 8, 2, beta), kb(WindowKind::kaiser_bessel, 8, 2, beta),
        gaussian(WindowKind::gaussian, 8, 2, beta);
    for (double x = -1; x <= 1; x += 0.0625) {
      const double root = std::sqrt(1 - x * x);
      EXPECT_NEAR(es.value(x), std::exp(beta * (root - 1)), 2e-14);
      EXPECT_NEAR(kb.value(x), std::cyl_bessel_i(0, beta * root) / std::cyl_bessel_i(0, beta), 2e-14);
      EXPECT_NEAR(gaussian.value(x), std::exp(-beta * x * x), 2e-15);
    }
  }
}

TEST(Window, ManyValuesAreTheSingleOnes) {
  std::vector<double> x;
  for (int i = -25; i <= 25; ++i) x.push_back(i / 24.0);
  for_each_window([&](const Window& window) {
    std::vector<double> many(x.size());
    window.evaluate(x.data(), static_cast<long>(x.size()), many.data());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(many[i], window.value(x[i]));
  });
}

TEST(Window, ProlateFunctionIsItsOwnFourierTransform) {
  for (const double c : {0.2, 1.0, 3.7, 10.0, 25.0, 44.0, 60.0}) {
    const Window window(WindowKind::pswf, 8, 2, c);
    const double eigenvalue = integrate([&](double t) { return window.value(t); });
    for (const double x : {0.1, 0.35, 0.6, 0.9, 1.0}) {
      const double transform = integrate([&](double t) { return window.value(t) * std::cos(c * x * t); });
      EXPECT_NEAR(transform, eigenvalue * window.value(x), 3e-15 * eigenvalue) << "c " << c << " x " << x;
    }
  }
}

// Slepian and Pollak (Bell System Technical Journal 40, 1961): the energy fraction lambda_0 = c mu^2 / (2 pi).
TEST(Window, ProlateEnergiesAreSlepiansValues) {
  const struct { double c, energy; } known[] = {{0.5, 0.30969}, {1, 0.57258}, {2, 0.88056}, {3, 0.97583}, {4, 0.99589}};
  for (const auto& [c, energy] : known) {
    const Window window(WindowKind::pswf, 4, 2, c);
    const double mu = 2 * window.fourier(0) / window.width();
    EXPECT_NEAR(c * mu * mu / (2 * pi), energy, 6e-6);
  }
}

TEST(Window, FourierTransformMatchesQuadrature) {
  for_each_window([](const Window& window) {
    const double half = window.width() / 2.0, scale = window.fourier(0);
    for (const double xi : {0.0, 0.4, 1.3, 2.2, 3.0, pi}) {
      const double brute = half * integrate([&](double x) { return window.value(x) * std::cos(xi * half * x); });
      // The argument of the cosine has a separate rounding error, which grows with the width.
      EXPECT_NEAR(window.fourier(xi), brute, std::max(2e-15, 1.5e-16 * window.width()) * scale) << "xi " << xi;
      EXPECT_EQ(window.fourier(xi), window.fourier(-xi));
    }
  });
}

TEST(Window, FourierTablesMatchSingleFrequencies) {
  for_each_window([](const Window& window) {
    const double scale = window.fourier(0);
    for (const long count : {1L, 2L, 17L, 600L, 4097L}) {
      const double step = count > 1 ? pi / static_cast<double>(count - 1) : 1;
      const std::vector<double> table = window.fourier_table(step, count);
      ASSERT_EQ(table.size(), static_cast<std::size_t>(count));
      for (long j = 0; j < count; j += std::max(1L, count / 61))
        ASSERT_NEAR(table[static_cast<std::size_t>(j)], window.fourier(step * static_cast<double>(j)), 2e-15 * scale);
      ASSERT_NEAR(table.back(), window.fourier(step * static_cast<double>(count - 1)), 2e-15 * scale);
    }
  });
}

TEST(Window, ScatteredFrequenciesMatchSingleOnes) {
  std::mt19937_64 random(7);
  for_each_window([&](const Window& window) {
    const double limit = pi / window.sigma(), scale = window.fourier(0);
    for (const std::size_t count : {5u, 3000u}) {
      std::uniform_real_distribution<double> inside(-limit, limit);
      std::vector<double> xi(count), out(count);
      for (double& x : xi) x = inside(random);
      xi[0] = limit;
      xi[1] = -limit;
      window.fourier_many(xi.data(), static_cast<long>(count), limit, out.data());
      for (std::size_t i = 0; i < count; i += 1 + count / 50) ASSERT_NEAR(out[i], window.fourier(xi[i]), 2e-15 * scale);
    }
  });
}

TEST(Window, EmptyFrequencyListsAreAllRight) {
  const Window window(WindowKind::pswf, 6, 2);
  EXPECT_TRUE(window.fourier_table(0.1, 0).empty());
  window.fourier_many(nullptr, 0, 1.0, nullptr);
}

TEST(Window, PolynomialPiecesGiveTheWeightsOfAPoint) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> anywhere(-40, 40);
  for (const WindowKind kind : kKinds) {
    for (const int width : {2, 3, 6, 7, 16}) {
      const Window window(kind, width, 1.5);
      const PiecewisePolynomial polynomial = fit(window, 1e-12);
      for (int repeat = 0; repeat < 200; ++repeat) {
        // Integers and halves lie at the ends of the pieces.
        const double u = repeat < 40 ? repeat / 2.0 : anywhere(random);
        const double first = std::ceil(u - width / 2.0), z = 2 * (first - (u - width / 2.0)) - 1;
        ASSERT_GE(z, -1);
        ASSERT_LT(z, 1);
        for (int p = 0; p < width; ++p)
          ASSERT_NEAR(polynomial(p, z), window.value(2 * (first + p - u) / width), polynomial.error + 1e-13);
      }
    }
  }
}

TEST(Window, FitsMeetTheAccuracyAskedFor) {
  for_each_window([](const Window& window) {
    for (const double accuracy : {1e-1, 1e-4, 1e-8, 1e-12, 1e-20}) {
      const PiecewisePolynomial polynomial = fit(window, accuracy);
      ASSERT_EQ(polynomial.width, window.width());
      ASSERT_LE(polynomial.degree, kMaxDegree);
      ASSERT_EQ(polynomial.coefficients.size(),
                static_cast<std::size_t>(window.width()) * static_cast<std::size_t>(polynomial.degree + 1));
      double error = 0;
      for (int p = 0; p < window.width(); ++p)
        for (double z = -0.9973; z < 1; z += 0.0317)
          error =
              std::max(error, std::abs(polynomial(p, z) - window.value(2 * (p + (z + 1) / 2) / window.width() - 1)));
      // The check points of the fit detect nearly all of the error.
      EXPECT_LE(error, 1.02 * polynomial.error + 1e-15) << accuracy;
      // Its square root at the ends prevents the semicircle from reaching high accuracy where it is not small there.
      if (window.kind() != WindowKind::exp_semicircle) {
        EXPECT_LE(polynomial.error, std::max(accuracy, 2e-15)) << accuracy;
      }
    }
  });
}

TEST(Window, FitsTakeTheLeastDegree) {
  for_each_window([](const Window& window) {
    int degree = 0;
    for (double accuracy = 0.3; accuracy > 1e-12; accuracy /= 7) {
      const PiecewisePolynomial polynomial = fit(window, accuracy);
      EXPECT_GE(polynomial.degree, degree);
      degree = polynomial.degree;
      if (polynomial.error > accuracy) break;
      // Requesting exactly the reached error changes nothing; requesting a little less raises the degree.
      EXPECT_EQ(fit(window, polynomial.error).degree, degree);
      if (polynomial.error > 1e-13 && window.kind() != WindowKind::exp_semicircle) {
        EXPECT_GT(fit(window, 0.999 * polynomial.error).degree, degree);
      }
    }
  });
}

TEST(Window, PiecesAreMirrorImages) {
  for_each_window([](const Window& window) {
    const PiecewisePolynomial polynomial = fit(window, 1e-9);
    for (int p = 0; p < window.width(); ++p)
      for (const double z : {-1.0, -0.3, 0.77}) EXPECT_EQ(polynomial(p, z), polynomial(window.width() - 1 - p, -z));
  });
}

TEST(Window, BadArgumentsAreNamedErrors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const WindowKind kind : kKinds) {
    const int widest = kind == WindowKind::gaussian ? kMaxGaussianWidth : kMaxWidth;
    for (const int width : {-1, 0, 1, widest + 1})
      EXPECT_EQ(status_of([&] { Window(kind, width, 2.0); }), Status::invalid_plan) << width;
    for (const double sigma : {1.0, 0.5, -2.0, 4.001, nan})
      EXPECT_EQ(status_of([&] { Window(kind, 6, sigma); }), Status::invalid_plan) << sigma;
    for (const double beta : {0.0, -1.0, 301.0, nan})
      EXPECT_EQ(status_of([&] { Window(kind, 6, 2.0, beta); }), Status::invalid_plan) << beta;
    EXPECT_EQ(status_of([&] { Window(kind, widest, 4.0); }), Status::success);
  }
  const Window window(WindowKind::pswf, 6, 2.0);
  for (const double accuracy : {0.0, -1e-3, nan}) {
    EXPECT_EQ(status_of([&] { fit(window, accuracy); }), Status::invalid_argument);
    EXPECT_EQ(status_of([&] { fit_within(window, accuracy); }), Status::invalid_argument);
  }
  EXPECT_EQ(status_of([&] { window.fourier_table(0.1, -1); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { window.fourier_table(-0.1, 5); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { window.fourier_table(nan, 5); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { window.fourier_table(0.1, 1000); }), Status::invalid_argument);
  double xi = 0, out = 0;
  for (const double limit : {0.0, -1.0, 3.2, nan})
    EXPECT_EQ(status_of([&] { window.fourier_many(&xi, 1, limit, &out); }), Status::invalid_argument);
}

}  // namespace
}  // namespace fourtune::generator
