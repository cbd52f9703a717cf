// The sizes of an fft by slabs on one rank.
//
// The spatial side of the transform is split by planes (the last dimension) and its spectrum by columns (the last
// dimension but one), so that a transform and its inverse need one exchange each.
#pragma once

#include <cstdint>

#include "fourtune/problem.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {

struct FftGeometry {
  bool to_spectrum = true;                 // the first array is the spatial one
  std::int64_t length = 1;                 // of the last dimension
  TranspositionShape middle;               // of the arrays between planes and lines
  std::int64_t space_plane = 1;            // elements of a plane in space; real ones of real types
  std::int64_t spectrum_plane = 1;         // elements of a plane whose own dimensions are transformed
  std::int64_t own_planes = 0, lines = 0;  // of this rank
  std::int64_t space_element = 16;         // bytes

  FftGeometry(const Problem& problem, int rank, int ranks) : length(problem.n[problem.dim - 1]) {
    to_spectrum = problem.fft_type == FftType::r2c || (problem.fft_type == FftType::c2c && problem.sign < 0);
    const Sizes spectrum = to_spectrum ? output_sizes(problem) : input_sizes(problem);
    const Sizes space = to_spectrum ? input_sizes(problem) : output_sizes(problem);
    const std::int64_t real = real_bytes(problem.precision);
    middle = {Split::even(length, ranks), mode_columns(problem, ranks), problem.dim == 3 ? spectrum[0] : 1, 2 * real};
    space_plane = problem.dim == 3 ? space[0] * space[1] : space[0];
    spectrum_plane = middle.run * middle.columns.items();
    own_planes = middle.planes.size(rank);
    lines = middle.run * middle.columns.size(rank);
    space_element = problem.fft_type == FftType::c2c ? 2 * real : real;
  }
  // Of one transform's part on this rank.
  std::int64_t space_bytes() const { return own_planes * space_plane * space_element; }
  std::int64_t spectrum_bytes() const { return length * lines * middle.element; }
};

}  // namespace fourtune::runtime::distributed
