// Grid sizes for which FFTs are fast.
#pragma once

#include <cstdint>

namespace fourtune::generator {

// Returns the smallest size of at least `least` (>= 1) whose prime factors are 2, 3, 5 and at most one 7. Sizes above
// 16 are even (an odd length wastes half of the vector lanes in the radix-2 steps).
std::int64_t smooth_size(std::int64_t least);

}  // namespace fourtune::generator
