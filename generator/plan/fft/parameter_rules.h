// Rules of kernel parameters. check() calls them when the decomposition itself is right.
#pragma once

#include <vector>

#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

std::vector<Violation> check_parameters(const FftPlan& plan);
// The rule of orders by prime factors (prime_order.cpp).
std::vector<Violation> check_order(const FftPlan& plan);

}  // namespace fourtune::generator::fft
