// Compares the predicted error of windows with transforms computed here by the definition, and checks the chosen
// widths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <locale>
#include <numbers>
#include <random>
#include <sstream>
#include <string>

#include "fourtune/status.h"
#include "generator/window/table.h"
#include "generator/window/window.h"
#include "tests/generator/window_kinds.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

// The first cell and the weights of the point at fine-grid position u.
struct Stencil {
  Stencil(const Window& window, double u) : first(std::lround(std::ceil(u - window.width() / 2.0))) {
    for (int p = 0; p < window.width(); ++p)
      weights.push_back(window.value(2 * (static_cast<double>(first + p) - u) / window.width()));
  }
  Stencil(const PiecewisePolynomial& polynomial, double u) : first(std::lround(std::ceil(u - polynomial.width / 2.0))) {
    const double z = 2 * (static_cast<double>(first) - (u - polynomial.width / 2.0)) - 1;
    for (int p = 0; p < polynomial.width; ++p) weights.push_back(polynomial(p, z));
  }
  long first;
  std::vector<double> weights;
};

// Error and size of one transform's result as sums of squares, which are added over dimensions and repeats.
struct Squares {
  double error = 0, size = 0;
  void add(Complex result, Complex exact) {
    error += std::norm(result - exact);
    size += std::norm(exact);
  }
  double relative() const { return std::sqrt(error / size); }
};

Complex random_strength(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  return {normal(random), normal(random)};
}

// A one-dimensional type 1 with `modes` modes on a fine grid of sigma * modes cells and random points. `shape` is a
// Window or its PiecewisePolynomial.
template <class Shape>
Squares type1_1d(const Window& window, const Shape& shape, int modes, int points, std::mt19937_64& random) {
  const long fine = std::lround(window.sigma() * modes);
  std::uniform_real_distribution<double> position(0, static_cast<double>(fine));
  std::vector<Complex> grid(static_cast<std::size_t>(fine)), strengths;
  std::vector<double> u;
  for (int j = 0; j < points; ++j) {
    u.push_back(position(random));
    strengths.push_back(random_strength(random));
    const Stencil stencil(shape, u.back());
    for (std::size_t p = 0; p < stencil.weights.size(); ++p)
      grid[static_cast<std::size_t>((stencil.first + static_cast<long>(p) + fine) % fine)] +=
          stencil.weights[p] * strengths.back();
  }
  Squares squares;
  for (int k = -modes / 2; k < (modes + 1) / 2; ++k) {
    const double xi = 2 * pi * k / static_cast<double>(fine);
    Complex result = 0, exact = 0;
    for (long l = 0; l < fine; ++l)
      result += grid[static_cast<std::size_t>(l)] * std::polar(1.0, -xi * static_cast<double>(l));
    for (std::size_t j = 0; j < u.size(); ++j) exact += strengths[j] * std::polar(1.0, -xi * u[j]);
    squares.add(result / window.fourier(xi), exact);
  }
  return squares;
}

double type1_error_1d(const Window& window, const auto& shape) {
  std::mt19937_64 random(3);
  Squares total;
  for (int repeat = 0; repeat < 12; ++repeat) {
    const Squares squares = type1_1d(window, shape, 160, 60, random);
    total.error += squares.error;
    total.size += squares.size;
  }
  return total.relative();
}

// A two-dimensional type 1: each point contributes the product of its one-dimensional responses.
double type1_error_2d(const Window& window, int modes, int points) {
  std::mt19937_64 random(5);
  const long fine = std::lround(window.sigma() * modes);
  std::uniform_real_distribution<double> position(0, static_cast<double>(fine));
  std::vector<Complex> result(static_cast<std::size_t>(modes * modes)), exact(result.size());
  // The contribution of one dimension: the sum over cells of the weights times exp(-i xi cell), divided by the window's
  // transform.
  const auto responses = [&](double u, std::vector<Complex>& approximate, std::vector<Complex>& true_ones) {
    const Stencil stencil(window, u);
    for (int k = 0; k < modes; ++k) {
      const double xi = 2 * pi * (k - modes / 2) / static_cast<double>(fine);
      Complex sum = 0;
      for (std::size_t p = 0; p < stencil.weights.size(); ++p)
        sum += stencil.weights[p] * std::polar(1.0, -xi * static_cast<double>(stencil.first + static_cast<long>(p)));
      approximate.push_back(sum / window.fourier(xi));
      true_ones.push_back(std::polar(1.0, -xi * u));
    }
  };
  for (int j = 0; j < points; ++j) {
    std::vector<Complex> ax, ay, tx, ty;
    responses(position(random), ax, tx);
    responses(position(random), ay, ty);
    const Complex strength = random_strength(random);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::size_t x = i % static_cast<std::size_t>(modes), y = i / static_cast<std::size_t>(modes);
      result[i] += strength * ax[x] * ay[y];
      exact[i] += strength * tx[x] * ty[y];
    }
  }
  Squares squares;
  for (std::size_t i = 0; i < result.size(); ++i) squares.add(result[i], exact[i]);
  return squares.relative();
}

// A one-dimensional type 3: spreads sources to a grid, then a type 2 from its cells to the targets, both with `window`.
double type3_error_1d(const Window& window) {
  std::mt19937_64 random(9);
  const long half = 90, cells = 2 * half + window.width() + 2;  // sources within +-half cells
  const double fine = std::round(window.sigma() * static_cast<double>(cells));
  std::uniform_real_distribution<double> source(-static_cast<double>(half), static_cast<double>(half));
  std::uniform_real_distribution<double> target(-pi / window.sigma(), pi / window.sigma());
  Squares squares;
  for (int repeat = 0; repeat < 6; ++repeat) {
    std::vector<Complex> grid(static_cast<std::size_t>(cells)), strengths;
    std::vector<double> u;
    for (int j = 0; j < 80; ++j) {
      u.push_back(source(random));
      strengths.push_back(random_strength(random));
      const Stencil stencil(window, u.back());
      for (std::size_t p = 0; p < stencil.weights.size(); ++p)
        grid[static_cast<std::size_t>(stencil.first + static_cast<long>(p) + cells / 2)] +=
            stencil.weights[p] * strengths.back();
    }
    for (long l = 0; l < cells; ++l)
      grid[static_cast<std::size_t>(l)] /= window.fourier(2 * pi * static_cast<double>(l - cells / 2) / fine);
    for (int k = 0; k < 80; ++k) {
      const double xi = target(random);
      const Stencil stencil(window, xi * fine / (2 * pi));
      Complex result = 0, exact = 0;
      for (std::size_t p = 0; p < stencil.weights.size(); ++p) {
        const double angle = -2 * pi * static_cast<double>(stencil.first + static_cast<long>(p)) / fine;
        Complex sum = 0;
        for (long l = 0; l < cells; ++l)
          sum += grid[static_cast<std::size_t>(l)] * std::polar(1.0, angle * static_cast<double>(l - cells / 2));
        result += stencil.weights[p] * sum;
      }
      for (std::size_t j = 0; j < u.size(); ++j) exact += strengths[j] * std::polar(1.0, -xi * u[j]);
      squares.add(result / window.fourier(xi), exact);
    }
  }
  return squares.relative();
}

TEST(WindowError, PredictionMatchesATransformDoneByDefinition) {
  for (const WindowKind kind : kKinds) {
    for (const double sigma : {1.25, 1.5, 2.0, 3.0}) {
      for (const int width : {2, 3, 6, 9, 12}) {
        const Window window(kind, width, sigma);
        const double ratio = type1_error_1d(window, window) / predicted_error(kind, width, sigma, 1);
        EXPECT_NEAR(ratio, 1, 0.15) << to_string(kind) << " width " << width << " sigma " << sigma;
      }
    }
  }
}

TEST(WindowError, PredictionHoldsForAnyShapeParameter) {
  for (const WindowKind kind : kKinds) {
    for (const double factor : {0.7, 0.9, 1.1, 1.3}) {
      const Window window(kind, 7, 2.0, factor * beta_rule(kind, 7, 2.0));
      EXPECT_NEAR(type1_error_1d(window, window) / aliasing_error(window, 1), 1, 0.15)
          << to_string(kind) << " factor " << factor;
    }
  }
}

TEST(WindowError, PredictionInTwoDimensionsMatchesATransformDoneByDefinition) {
  for (const WindowKind kind : kKinds) {
    for (const int width : {2, 5}) {
      const double ratio = type1_error_2d(Window(kind, width, 2.0), 48, 150) / predicted_error(kind, width, 2.0, 2);
      EXPECT_NEAR(ratio, 1, 0.15) << to_string(kind) << " width " << width;
    }
  }
}

TEST(WindowError, PredictionForTypeThreeMatchesATransformDoneByDefinition) {
  for (const WindowKind kind : kKinds) {
    for (const double sigma : {1.25, 2.0}) {
      for (const int width : {3, 6, 9}) {
        const double ratio = type3_error_1d(Window(kind, width, sigma)) / predicted_error(kind, width, sigma, 1, 2);
        EXPECT_NEAR(ratio, 1, 0.25) << to_string(kind) << " width " << width << " sigma " << sigma;
      }
    }
  }
}

TEST(WindowError, DimensionsMultiply) {
  const double one = predicted_error(WindowKind::pswf, 5, 2, 1);
  EXPECT_NEAR(predicted_error(WindowKind::pswf, 5, 2, 2), std::sqrt(2) * one, 1e-3 * one);
  EXPECT_NEAR(predicted_error(WindowKind::pswf, 5, 2, 3), std::sqrt(3) * one, 1e-3 * one);
  const double coarse = predicted_error(WindowKind::exp_semicircle, 2, 1.05, 1);
  EXPECT_NEAR(std::pow(predicted_error(WindowKind::exp_semicircle, 2, 1.05, 3), 2),
              std::pow(1 + coarse * coarse, 3) - 1, 1e-12);
}

TEST(WindowError, PolynomialsTakenByDefaultAddFivePercentAtMost) {
  for (const WindowKind kind : kKinds) {
    for (const double sigma : {1.25, 2.0, 4.0}) {
      for (int width = kMinWidth; width <= kMaxWidth; ++width) {
        const Window window(kind, width, sigma);
        const double error = std::max(aliasing_error(window, 1), 2e-15);
        const PiecewisePolynomial polynomial = fit_within(window);
        EXPECT_LE(aliasing_error(window, polynomial, 1), 1.0501 * error)
            << to_string(kind) << " width " << width << " sigma " << sigma;
        // The kernels are designed for this limit.
        EXPECT_LE(polynomial.degree, width + 1) << to_string(kind) << " width " << width << " sigma " << sigma;
        EXPECT_GE(fit_within(window, 0.001).degree, polynomial.degree);
      }
    }
  }
}

TEST(WindowError, PredictionForAPolynomialMatchesATransformDoneByDefinition) {
  for (const WindowKind kind : kKinds) {
    const Window window(kind, 6, 2.0);
    for (const double accuracy : {1e-2, 1e-4}) {
      const PiecewisePolynomial polynomial = fit(window, accuracy);
      EXPECT_NEAR(type1_error_1d(window, polynomial) / aliasing_error(window, polynomial, 1), 1, 0.15)
          << to_string(kind) << " accuracy " << accuracy;
    }
  }
}

TEST(WindowError, ShapesOfTheRuleAreNearTheBest) {
  for (const WindowKind kind : kKinds) {
    for (const double sigma : {1.2, 1.25, 1.4, 1.5, 1.75, 2.0, 2.5, 4.0}) {
      for (int width = kMinWidth; width <= kMaxWidth; ++width) {
        if (kind == WindowKind::gaussian && sigma < 1.25) continue;  // useless there
        const double chosen = predicted_error(kind, width, sigma, 1), beta = beta_rule(kind, width, sigma);
        if (chosen < 1e-13) continue;  // rounding would dominate
        for (double factor = 0.8; factor < 1.2; factor += 0.004)
          EXPECT_LE(chosen, 1.2 * aliasing_error(Window(kind, width, sigma, factor * beta), 1))
              << to_string(kind) << " width " << width << " sigma " << sigma << " factor " << factor;
      }
    }
  }
}

TEST(WindowError, WidthIsTheLeastThatMeetsTheTolerance) {
  for (const WindowKind kind : kKinds) {
    for (const double sigma : {1.15, 1.25, 1.5, 2.0, 3.0}) {
      for (const int dim : {1, 3}) {
        for (const int stages : {1, 2}) {
          for (double tol = 0.5; tol > 1e-14; tol /= 13) {
            const int width = width_for(kind, tol, sigma, dim, stages);
            const auto meets = [&](int w) { return predicted_error(kind, w, sigma, dim, stages) <= tol; };
            if (width == 0) {
              EXPECT_FALSE(meets(kMaxWidth));
              break;
            }
            EXPECT_TRUE(meets(width)) << to_string(kind) << " sigma " << sigma << " tol " << tol;
            for (int narrower = kMinWidth; narrower < width; ++narrower)
              EXPECT_FALSE(meets(narrower)) << to_string(kind) << " " << sigma << " " << tol << " " << narrower;
          }
        }
      }
    }
  }
}

TEST(WindowError, WidthGrowsWithAccuracyAndFallsWithOversampling) {
  const auto order = [](int width) { return width == 0 ? kMaxWidth + 1 : width; };  // 0: no width
  for (const WindowKind kind : {WindowKind::exp_semicircle, WindowKind::kaiser_bessel, WindowKind::pswf}) {
    for (const int dim : {1, 2, 3}) {
      for (double sigma = 1.1; sigma <= 3; sigma += 0.1) {
        int last = kMinWidth;
        for (double tol = 1; tol > 1e-16; tol /= 2) {
          const int width = order(width_for(kind, tol, sigma, dim));
          EXPECT_GE(width, last) << to_string(kind) << " sigma " << sigma << " tol " << tol;
          EXPECT_LE(order(width_for(kind, tol, sigma + 0.1, dim)), width)
              << to_string(kind) << " " << sigma << " " << tol;
          EXPECT_GE(order(width_for(kind, tol, sigma, dim, 2)), width);
          last = width;
        }
      }
    }
  }
}

TEST(WindowError, TolerancesOfDoublePrecisionAreWithinReach) {
  EXPECT_GT(width_for(WindowKind::pswf, 1e-15, 2.0, 3), 0);
  EXPECT_EQ(width_for(WindowKind::pswf, 1e-300, 2.0, 3), width_for(WindowKind::pswf, 10 * 0x1p-52, 2.0, 3));
  EXPECT_EQ(width_for(WindowKind::pswf, 1e-12, 1.1, 1), 0);
  EXPECT_EQ(width_for(WindowKind::pswf, 100, 2.0, 3), kMinWidth);
}

TEST(WindowError, BadArgumentsAreNamedErrors) {
  const auto status_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return Status::success;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double tol : {0.0, -1.0, nan})
    EXPECT_EQ(status_of([&] { width_for(WindowKind::pswf, tol, 2, 1); }), Status::invalid_argument);
  for (const double sigma : {1.0, 5.0, nan}) {
    EXPECT_EQ(status_of([&] { width_for(WindowKind::pswf, 1e-3, sigma, 1); }), Status::invalid_plan);
    EXPECT_EQ(status_of([&] { predicted_error(WindowKind::pswf, 4, sigma, 1); }), Status::invalid_plan);
    EXPECT_EQ(status_of([&] { beta_rule(WindowKind::pswf, 4, sigma); }), Status::invalid_plan);
  }
  for (const int dim : {0, 4}) {
    EXPECT_EQ(status_of([&] { width_for(WindowKind::pswf, 1e-3, 2, dim); }), Status::invalid_argument);
    EXPECT_EQ(status_of([&] { predicted_error(WindowKind::pswf, 4, 2, dim); }), Status::invalid_argument);
  }
  for (const int stages : {0, 3})
    EXPECT_EQ(status_of([&] { width_for(WindowKind::pswf, 1e-3, 2, 1, stages); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { predicted_error(WindowKind::pswf, 17, 2, 1); }), Status::invalid_plan);
}

// docs/design/windows.md has three tables. Their rows begin "| es | 1.25 |" (errors of widths 2 to 16), "| 3D | es |"
// (widths for tolerances 1e-1 to 1e-14) and "| degree | es |" (of fit_within, widths 2 to 16).
TEST(WindowError, DocumentedTablesHoldWhatIsComputed) {
  const auto page = std::filesystem::path(__FILE__).parent_path() / "../../docs/design/windows.md";
  std::ifstream file(page);
  ASSERT_TRUE(file) << page;
  int errors = 0, widths = 0, degrees = 0;
  for (std::string line; std::getline(file, line);) {
    SCOPED_TRACE(line);
    std::replace(line.begin(), line.end(), '|', ' ');
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    std::string table, name;
    double sigma = 0, documented = 0;
    words >> table;
    if (table == "3D" || table == "degree")
      words >> name;
    else
      name = table;
    const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](auto k) { return name == to_string(k); });
    if (kind == std::end(kKinds) || !(words >> sigma)) continue;
    if (table == "3D") {
      ++widths;
      for (int digits = 1; digits <= 14; ++digits) {
        ASSERT_TRUE(words >> documented);
        EXPECT_EQ(documented, width_for(*kind, std::pow(10.0, -digits), sigma, 3)) << "1e-" << digits;
      }
      continue;
    }
    ++(table == "degree" ? degrees : errors);
    for (int width = kMinWidth; width <= kMaxWidth; ++width) {
      ASSERT_TRUE(words >> documented);
      if (table == "degree") {
        // Near rounding, the last degree may depend on how the machine contracts multiplications and additions.
        const int spare = predicted_error(*kind, width, sigma, 1) < 1e-13 ? 1 : 0;
        EXPECT_NEAR(documented, fit_within(Window(*kind, width, sigma)).degree, spare) << "width " << width;
      } else {
        const double error = predicted_error(*kind, width, sigma, 1);
        EXPECT_NEAR(documented / error, 1, error < 1e-14 ? 0.5 : 0.06) << "width " << width;
      }
    }
  }
  EXPECT_EQ(errors, 12);
  EXPECT_EQ(widths, 9);
  EXPECT_EQ(degrees, 12);
}

TEST(WindowError, RoundingIsMagnifiedByWideWindowsAtSmallOversampling) {
  const auto at = [](int width, double sigma) {
    return rounding_magnification(Window(WindowKind::pswf, width, sigma));
  };
  EXPECT_NEAR(at(11, 1.25), 16.7, 0.5);  // midpoint sums of 64 and 400 nodes
  EXPECT_NEAR(at(8, 1.5), 1.68, 0.05);
  EXPECT_NEAR(at(7, 2.0), 0.84, 0.03);
  EXPECT_GT(at(12, 1.25), at(11, 1.25));
}

TEST(WindowError, OfATableIsThatOfTheWindowInEveryDimensionWhenItIsFine) {
  const Window window(WindowKind::pswf, 5, 1.5);
  for (int dim = 1; dim <= 3; ++dim)
    for (const int stages : {1, 2}) {
      EXPECT_NEAR(aliasing_error_of_table(window, 1 << 14, dim, stages) / aliasing_error(window, dim, stages), 1, 1e-3);
      EXPECT_GT(aliasing_error_of_table(window, 8, dim, stages), 2 * aliasing_error(window, dim, stages));
    }
  EXPECT_THROW(aliasing_error_of_table(window, 0, 1, 1), Error);
}

}  // namespace
}  // namespace fourtune::generator
