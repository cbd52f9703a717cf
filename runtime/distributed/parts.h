// Which box of an array each rank has.
#pragma once

#include "fourtune/distributed.h"
#include "fourtune/problem.h"
#include "runtime/distributed/rank_plan.h"

namespace fourtune::runtime::distributed {

// Of an fft: its first array (which: 0) or its second one (1). Of types 1 and 2: their modes (1), which are split as a
// spectrum is. Arrays in space are split along their last dimension by grid.of_planes and, in 3D, along y by
// grid.in_plane; spectra along the dimension before the last by grid.of_planes and, in 3D, along x by grid.in_plane.
Part part_of(const Problem& problem, const RankGrid& grid, int rank, int which);

}  // namespace fourtune::runtime::distributed
