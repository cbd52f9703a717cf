// The polynomials that the kernels of all backends evaluate.
#pragma once

#include "generator/window/window.h"

namespace fourtune::generator {

// Returns polynomials for arithmetic of relative precision `epsilon`. Their degree depends on the transform's error,
// not on the polynomials' error alone, because deconvolution magnifies the latter tenfold and more for wide windows at
// small oversampling factors. The degree is the smaller of two: the least degree at which a transform's error is at
// most 5 % above that with the exact window (fit_within), and the least at which the polynomials are as accurate as the
// arithmetic.
PiecewisePolynomial kernel_polynomial(const Window& window, double epsilon);

}  // namespace fourtune::generator
