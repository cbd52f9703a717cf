// The grids of pencils that there are of these ranks.
#pragma once

#include <string>
#include <vector>

#include "tests/distributed/support.h"

namespace fourtune::test {

struct Grid {
  int in_plane = 1, of_planes = 1;
  std::string text() const { return std::to_string(in_plane) + "x" + std::to_string(of_planes); }
};

inline std::vector<Grid> grids() {
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<Grid> all;
  for (int a = 1; a <= ranks; ++a)
    if (ranks % a == 0) all.push_back({a, ranks / a});
  return all;
}

inline std::string grid_of(const Grid& grid) { return "grid=" + grid.text(); }

}  // namespace fourtune::test
