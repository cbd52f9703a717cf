// Uniform problems drawn at random, so that nothing is right for a list only.
#pragma once

#include <cstdint>
#include <random>

#include "fourtune/problem.h"

namespace fourtune::test {

struct DrawLimits {
  std::int64_t longest = std::int64_t{1} << 21;  // line of a 1D problem; 2D and 3D have shorter ones
  std::int64_t values = std::int64_t{1} << 24;   // most of all transforms together
};

// A valid problem: any type, precision, dimension, batch, sign and place; lengths that are powers of two, smooth, prime
// and in between, from 1 on; a third with layouts of their own, whose values lie apart. The same generator state gives
// the same problem on every machine.
Problem drawn_fft(std::mt19937& random, const DrawLimits& limits = {});

}  // namespace fourtune::test
