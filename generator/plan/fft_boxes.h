// When our FFTs of several dimensions on a processor take some of them together: which values then lie side by side in
// vectors. The runtime and the cost model ask the same question here.
//
// Dimension by dimension, the lines of a vector are neighbours along one other dimension, so that a vector of 16 lines
// is half empty along dimensions of 8, and values move to vectors and back for each dimension. Taken together, the
// first `split` dimensions are transformed while they are in vectors whose lanes are all other dimensions and the
// batch, and then the others in vectors whose lanes are the first ones.
#pragma once

#include <array>
#include <cstdint>

#include "fourtune/problem.h"

namespace fourtune::generator {

struct FftBoxes {
  int split = 0;  // 0: dimension by dimension
  int lanes = 0;  // of its vectors
  // Values of all transforms with idle lanes, for the two kinds of moves and the dimensions before and after the split.
  double rows = 0, columns = 0;
  double blocks = 0;                       // groups and blocks of lines
  double row_units = 0, column_units = 0;  // pieces of work of the two steps; of the second one 0 where there is one
  bool beyond_l1 = false;  // what one vector's lanes transform together does not stay in the first-level cache
};

// sizes: of the complex side; real: along x, n real numbers; lanes: of a vector. Lengths with large prime factors are
// the caller's matter. Strides are not looked at.
struct FftBoxShape {
  int dim = 1;
  Sizes sizes{};
  std::int64_t batch = 1;
  int lanes = 16;
  int value_bytes = 8;
  bool narrow = false;  // vectors of half as many lanes may be taken instead
  int threads = 1;      // that share the transform; no bit depends on them
  bool odd_real = false;
};
FftBoxes fft_boxes(const FftBoxShape& shape);

// Whether threads take whole transforms of a batch, so that no values cross between their caches, instead of sharing
// each: where all have as many of them, or enough.
inline bool are_transforms_apart(std::int64_t batch, int threads) {
  return threads > 1 && (batch % threads == 0 || batch >= 2 * threads);
}

}  // namespace fourtune::generator
