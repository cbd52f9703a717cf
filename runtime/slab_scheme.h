// How a transform of type 1 or 2 goes through a device in slabs of its fine grid, and what it then holds there.
//
//   values in the order of the slabs   parts of the points      device: two parts and their copies; left out where the
//                                                               device can hold all values beside a slab
//   slabs of the grid                  one after the other      device: a slab, two parts of points, some planes
//   lines along the last dimension     blocks of columns        device: two blocks
//
// Between slabs and lines the columns are in host memory, or on the device where there is room for all of them. The
// steps use the same memory, one after the other, so the first and the last one take what the slabs need. Beside it
// there are the sorted copies of a part, workspaces of the FFTs, and lists of points.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "generator/plan/plan.h"
#include "runtime/backends/backend.h"
#include "runtime/slabs/device_slab.h"

namespace fourtune::runtime {

struct SlabScheme {
  Problem problem;  // m known, of one set of points
  generator::Plan plan;
  ModeOrder order = ModeOrder::centred;
  bool exact_points = false;
  DeviceSlab slab;
  // At a time: points, planes that are transformed, and columns.
  std::int64_t points = 1, planes = 1, columns = 1;
  std::int64_t together = 1;  // transforms of a batch that are worked on together
  bool resident = false;      // the device holds all their values
  bool kept = false;          // and between slabs and lines all their columns
  std::int64_t bytes = 0;     // all that is held on the device

  int slabs() const { return slab.of_ranks.parts(); }
  bool whole() const { return slabs() == 1; }
  std::int64_t element() const { return 2 * real_bytes(problem.precision); }
  // Cells of a plane, and modes that are kept of it: the columns.
  std::int64_t plane_cells() const;
  std::int64_t lines() const;
  std::int64_t last_modes() const { return problem.n[static_cast<std::size_t>(problem.dim - 1)]; }
  // All slabs have the same number of planes in memory, so that one set of kernels serves.
  std::int64_t stored() const;
  std::int64_t own_begin() const { return slab.own_begin(0); }
  std::int64_t row_bytes() const { return lines() * element(); }  // of the columns, at one cell
  std::int64_t between_bytes() const { return together * slab.cells * row_bytes(); }
  // Points in the lists of a part: where their windows reach two slabs, they are twice there.
  std::int64_t listed() const { return whole() ? points : 2 * points; }
};

// Places in the memory that the steps share, in bytes.
struct SlabPlaces {
  explicit SlabPlaces(const SlabScheme& scheme);
  std::array<std::int64_t, 3> coordinates{};  // set_points
  std::int64_t packed = 0;
  std::array<std::int64_t, 2> from{}, to{};  // values
  std::int64_t columns = 0;                  // slabs and lines
  std::int64_t grid = 0;                     // slabs
  std::int64_t all_values = 0;
  std::array<std::array<std::int64_t, 3>, 2> points{};
  std::array<std::int64_t, 2> values{}, planes{};
  std::array<std::int64_t, 2> fine{}, modes{};  // lines
  std::int64_t bytes = 0;
};

// The executor that spreads and interpolates in a slab, for so many points.
Problem slab_problem(const SlabScheme& scheme);
ExecutorOptions slab_options(const SlabScheme& scheme, int device, void* stream);

// Completes a scheme of problem, plan, order and exact_points, and of the most transforms together, with the fewest
// slabs that hold at most `bytes` on such a device. Throws Error{out_of_memory} that says the least that would do.
SlabScheme fit_slabs(SlabScheme scheme, const DeviceTraits& device, std::int64_t bytes);
// What the scheme holds on the device when parts have these numbers of points; the largest number is scheme.points.
std::int64_t measure_slabs(const SlabScheme& scheme, const DeviceTraits& device,
                           const std::vector<std::int64_t>& parts);

}  // namespace fourtune::runtime
