// The properties that all nonuniform kernels of a transform share, and those of the device that runs them.
#pragma once

#include <array>
#include <cstdint>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan/nufft/thresholds.h"

namespace fourtune::generator::nufft {

struct Shape {
  int dim = 3;
  std::array<std::int64_t, 3> fine{1, 1, 1};  // number of cells; 1 in absent dimensions
  Precision precision = Precision::f32;
  int width = 6;              // 2 to 16; up to 65 for Spread::points and Interpolate::points
  double semicircle = 0;      // shape parameter of a window that is the exponential of semicircle; 0: another window
  bool large_counts = false;  // 64-bit point counts: for 2^31 points or more
  double unit = 0;            // unit in cells to which points may be rounded (position_unit); 0: as fine as possible
  // The grid is a slab of one with so many cells along the last dimension; 0: it is whole. Points are located in the
  // whole grid, and windows never reach across the slab's end. The first `before` cells hold what points of another
  // slab reach.
  std::int64_t period = 0, before = 0;
  // Deterministic sums of all slabs have one unit, whose bounds their ranks agree on between launches.
  bool agreed = false;
  bool whole_cells = true;  // records hold whole cells; false: only families by subproblems, fewer than 2^28 points
  // The device that runs the kernels (shape_on); an H200 if nothing else is known.
  std::int64_t shared_bytes = h200::shared_per_block;  // largest shared memory of a block
  std::int64_t l2_bytes = h200::l2_bytes;
  int multiprocessors = h200::multiprocessors;
  bool tf32 = true;  // whether its matrix units take TF32 numbers

  int real_bytes() const { return precision == Precision::f32 ? 4 : 8; }
  std::int64_t cells() const { return fine[0] * fine[1] * fine[2]; }
  // Thresholds of an H200 for this device (thresholds.h).
  double filling(double of_h200) const { return nufft::filling(of_h200, multiprocessors); }
  double cached(double of_h200) const { return nufft::cached(of_h200, l2_bytes); }
};

// The shape of a grid of `fine` cells for a problem on a device; the rest keeps its default. Traits that are 0 are
// unknown.
inline Shape shape_on(const DeviceTraits& device, const Problem& problem, const std::array<std::int64_t, 3>& fine,
                      int width) {
  Shape shape;
  shape.dim = problem.dim;
  shape.fine = fine;
  shape.precision = problem.precision;
  shape.width = width;
  if (device.shared_per_block > 0) shape.shared_bytes = device.shared_per_block;
  if (device.l2_bytes > 0) shape.l2_bytes = device.l2_bytes;
  if (device.multiprocessors > 0) shape.multiprocessors = device.multiprocessors;
  shape.tf32 = device.compute_capability == 0 || device.compute_capability >= 80;
  return shape;
}

}  // namespace fourtune::generator::nufft
