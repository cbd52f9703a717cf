// The polynomials that kernels evaluate: the same on every backend.
#pragma once

#include "generator/window/window.h"

namespace fourtune::generator {

// For arithmetic of relative precision `epsilon`. The degree follows from the transform's error and not from the
// polynomials' own: deconvolution magnifies the latter, tenfold and more with wide windows at small oversampling. It is
// the least at which a transform errs at most 5 % more than with the window itself (fit_within), or the least at which
// the polynomials are as good as the arithmetic, whichever is lower.
PiecewisePolynomial kernel_polynomial(const Window& window, double epsilon);

}  // namespace fourtune::generator
