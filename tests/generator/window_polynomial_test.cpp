// The error that the polynomials in kernels add to a transform.
#include <gtest/gtest.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/window/polynomial.h"
#include "tests/generator/window_kinds.h"

namespace fourtune::generator {
namespace {

constexpr double kSingle = 0x1p-23, kDouble = 0x1p-52;

// Deconvolution magnifies the error of the polynomial most for wide windows at small oversampling: up to 18 times at
// sigma 1.2, where the fit was to a tenth of the window's error.
TEST(WindowPolynomial, TransformsInDoublePrecisionErrFivePercentMoreAtMost) {
  for (const WindowKind kind : kKinds) {
    for (const double sigma : {1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 4.0}) {
      for (int width = kMinWidth; width <= kMaxWidth; ++width) {
        const Window window(kind, width, sigma);
        const double own = std::max(aliasing_error(window, 1), 2e-15);
        if (own < 1e-14) continue;  // rounding errors of the polynomials themselves
        const PiecewisePolynomial polynomial = kernel_polynomial(window, kDouble);
        EXPECT_LE(aliasing_error(window, polynomial, 1), 1.0501 * own)
            << to_string(kind) << " width " << width << " sigma " << sigma << " degree " << polynomial.degree;
      }
    }
  }
}

TEST(WindowPolynomial, SinglePrecisionTakesNoMoreThanItsArithmeticCanUse) {
  for (const WindowKind kind : kKinds) {
    for (const double sigma : {1.2, 1.25, 1.5, 2.0, 3.0}) {
      for (int width = kMinWidth; width <= kMaxWidth; ++width) {
        const Window window(kind, width, sigma);
        const PiecewisePolynomial single = kernel_polynomial(window, kSingle);
        const PiecewisePolynomial twice = kernel_polynomial(window, kDouble);
        EXPECT_LE(single.degree, twice.degree);
        const bool as_right = aliasing_error(window, single, 1) <= 1.0501 * aliasing_error(window, 1);
        EXPECT_TRUE(as_right || single.error <= 0.25 * kSingle || kind == WindowKind::exp_semicircle)
            << to_string(kind) << " width " << width << " sigma " << sigma << " degree " << single.degree;
        // The degree is not too high either: one degree less would be insufficient.
        EXPECT_LE(single.degree, std::min(fit_within(window).degree, fit(window, 0.25 * kSingle).degree));
      }
    }
  }
  EXPECT_LT(kernel_polynomial(Window(WindowKind::pswf, 16, 2), kSingle).degree,
            kernel_polynomial(Window(WindowKind::pswf, 16, 2), kDouble).degree);
}

TEST(WindowPolynomial, APrecisionThatIsNoneIsRefusedByName) {
  for (const double epsilon : {0.0, -1.0}) {
    try {
      kernel_polynomial(Window(WindowKind::pswf, 6, 2), epsilon);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
    }
  }
}

}  // namespace
}  // namespace fourtune::generator
