// The sizes of an fft on one rank, by slabs or by pencils.
//
// In space a rank has rows along x: a part of the rows of each plane, and a part of the planes (the last dimension). Of
// the spectrum it has columns along the last dimension: a part of x and a part of the dimension before the last. So a
// transform and its inverse change the split in opposite order. Slabs are a grid of ranks of which one has a plane: the
// planes are whole, and so is x of the spectrum.
#pragma once

#include <cstdint>

#include "fourtune/problem.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {

// Whether the first array of an fft is the spatial one.
inline bool goes_to_spectrum(const Problem& problem) {
  return problem.fft_type == FftType::r2c || (problem.fft_type == FftType::c2c && problem.sign < 0);
}

struct FftGeometry {
  bool to_spectrum = true;          // the first array is the spatial one
  std::int64_t length = 1;          // of the last dimension
  TranspositionShape inside;        // of a plane, from rows along x to rows along y, among the ranks that have it
  TranspositionShape middle;        // of the arrays between planes and lines
  std::int64_t rows = 1;            // of a plane in space on this rank
  std::int64_t space_plane = 1;     // elements of a plane in space on this rank; real ones of real types
  std::int64_t spectrum_plane = 1;  // elements of a whole plane whose own dimensions are transformed
  std::int64_t own_planes = 0, lines = 0;  // of this rank
  std::int64_t space_element = 16;         // bytes

  FftGeometry(const Problem& problem, int rank, const RankGrid& grid) : length(problem.n[problem.dim - 1]) {
    to_spectrum = goes_to_spectrum(problem);
    const Sizes spectrum = to_spectrum ? output_sizes(problem) : input_sizes(problem);
    const Sizes space = to_spectrum ? input_sizes(problem) : output_sizes(problem);
    const std::int64_t real = real_bytes(problem.precision), x = problem.dim == 3 ? spectrum[0] : 1;
    const int in_plane = grid.place_in_plane(rank), of_planes = grid.place_of_planes(rank);
    inside = {Split::even(problem.dim == 3 ? space[1] : 1, grid.in_plane), Split::even(x, grid.in_plane), 1, 2 * real};
    middle = {Split::even(length, grid.of_planes), mode_columns(problem, grid.of_planes), inside.columns.size(in_plane),
              2 * real};
    rows = inside.planes.size(in_plane);
    space_plane = space[0] * rows;
    spectrum_plane = x * middle.columns.items();
    own_planes = middle.planes.size(of_planes);
    lines = middle.run * middle.columns.size(of_planes);
    space_element = problem.fft_type == FftType::c2c ? 2 * real : real;
  }
  // Of one transform's part on this rank.
  std::int64_t space_bytes() const { return own_planes * space_plane * space_element; }
  std::int64_t spectrum_bytes() const { return length * lines * middle.element; }
};

}  // namespace fourtune::runtime::distributed
