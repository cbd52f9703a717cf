// Grid sizes that FFTs do well.
#pragma once

#include <cstdint>

namespace fourtune::generator {

// Smallest size of at least `least` (>= 1) whose prime factors are 2, 3, 5 and at most one 7; even above 16 (an odd
// length costs half of the vector lanes in the radix-2 steps).
std::int64_t smooth_size(std::int64_t least);

}  // namespace fourtune::generator
