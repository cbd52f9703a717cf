// Draws uniform problems at random, so that tests do not depend on a fixed list.
#pragma once

#include <cstdint>
#include <random>

#include "fourtune/problem.h"

namespace fourtune::test {

struct DrawLimits {
  std::int64_t longest = std::int64_t{1} << 21;  // limit of a 1D line; lines in 2D and 3D are shorter
  std::int64_t values = std::int64_t{1} << 24;   // limit of all transforms together
  bool four = false;                             // four dimensions only, else up to three
};

// Draws a valid problem of any type, precision, dimension, batch, sign and place. Lengths are powers of two, smooth,
// prime and others, from 1 on. A third of the problems have layouts in which values lie apart. The same generator state
// gives the same problem on every machine.
Problem drawn_fft(std::mt19937& random, const DrawLimits& limits = {});

}  // namespace fourtune::test
