#include "runtime/distributed/parts.h"

#include "runtime/distributed/fft_geometry.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime::distributed {

Part part_of(const Problem& problem, const RankGrid& grid, int rank, int which) {
  const int last = problem.dim - 1;
  Sizes sizes = problem.n;
  bool spectrum = which == 1;
  if (problem.kind == Kind::fft) {
    sizes = which == 0 ? input_sizes(problem) : output_sizes(problem);
    spectrum = goes_to_spectrum(problem) == (which == 1);
  }
  Part own;
  own.size = sizes.xyz();
  const auto split = [&](int dimension, int parts, int place) {
    const auto at = static_cast<std::size_t>(dimension);
    const Split all = Split::even(sizes[at], parts);
    own.first[at] = all.begin(place);
    own.size[at] = all.size(place);
  };
  split(spectrum ? last - 1 : last, grid.of_planes, grid.place_of_planes(rank));
  if (grid.in_plane > 1) split(spectrum ? last - 2 : last - 1, grid.in_plane, grid.place_in_plane(rank));
  return own;
}

}  // namespace fourtune::runtime::distributed
