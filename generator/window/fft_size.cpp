#include "generator/window/fft_size.h"

#include <algorithm>
#include <limits>

namespace fourtune::generator {

std::int64_t smooth_size(std::int64_t least) {
  if (least <= 2) return std::max<std::int64_t>(least, 1);
  // Enumerates 7^c 5^b 3^a and doubles each product until it is large enough: a few hundred products even for 2^62.
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  const std::int64_t odd_limit = least > 16 ? (least + 1) / 2 : least;  // leaves room for a factor of two
  for (std::int64_t seven = 1; seven <= 7; seven *= 7)
    for (std::int64_t five = seven; five < best; five *= 5) {
      for (std::int64_t three = five; three < best; three *= 3) {
        std::int64_t size = three;
        if (least > 16 && size <= odd_limit * 2) size *= 2;
        while (size < least) size *= 2;
        if (least <= 16 || size % 2 == 0) best = std::min(best, size);
        if (three >= least || three > std::numeric_limits<std::int64_t>::max() / 6) break;
      }
      if (five >= least || five > std::numeric_limits<std::int64_t>::max() / 10) break;
    }
  return best;
}

}  // namespace fourtune::generator
