// From a plan to passes: what a transform asks for, and the kernels (pass.h), workspaces and tables that do it. Text is
// made of them in emit/.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/known_devices.h"
#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/codegen/fft/lower/pass.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// What rides on the transform, by dimension; x first.
struct DimensionHooks {
  // Zero padding: the input array holds only these positions. Truncation: the output array does.
  std::optional<Window> input, output;  // kind and kept are read
  // Real factors for every kept position, applied while loading or storing (deconvolution). Empty: none.
  std::vector<double> input_factors, output_factors;
  // The same with complex factors (Bluestein's chirps).
  std::vector<std::complex<long double>> input_turns, output_turns;
};

struct EmitOptions {
  Lengths n{1, 1, 1};  // of the transform
  FftType type = FftType::c2c;
  Precision precision = Precision::f32;
  int sign = -1;
  std::int64_t batch = 1;
  bool in_place = false;
  bool last_first = false;  // plain plans take the last dimension first, not x
  double scale = 1;
  // Element strides of x, y, z and distance of the batch (ArrayLayout's meaning); absent: dense, x fastest.
  std::optional<ArrayLayout> input, output;
  std::array<DimensionHooks, 3> hooks;
  // Sizes the grids of persistent kernels (landing buffers); results do not depend on it.
  DeviceTraits device = *known_device("h200");
};

// The passes of a bound plan, in order; `to_work` says where each one writes (first reads the input).
struct PlannedPass {
  PassSpec spec;
  BufferRef::Where from = BufferRef::Where::first, to = BufferRef::Where::second;
  int from_index = 0, to_index = 0;            // of the workspace
  std::vector<std::vector<std::byte>> tables;  // contents of the twiddle tables, then of the extra ones
};
// Passes first..first+count-1 run slab by slab of their common slowest grid atom, so that what one of them writes is
// still in the cache when the next one reads it.
struct Slabs {
  int first = 0, count = 0;
  std::int64_t slabs = 1;  // divides the atom's size
};
struct PlannedProgram {
  std::vector<PlannedPass> passes;
  std::int64_t work_values = 0;  // complex values of each workspace
  int workspaces = 0;
  Slabs slabs;
};
PlannedProgram plan_passes(const FftPlan& plan, const EmitOptions& options);

// The adjoint for the real inner product Re sum conj(u) v on the arrays as they are stored: sign, arrays and hooks
// exchanged, and for real transforms r2c against c2r with weights on the half spectrum, since it stands for both
// halves: 1 at x = 0 and at n/2 (n even), elsewhere 1/2 on loads of c2r, 2 on stores of r2c.
EmitOptions adjoint_options(const EmitOptions& options);
// Those weights alone, for options that are already the adjoint's. Nothing for complex transforms.
void weigh_half_spectrum(EmitOptions& adjoint);

}  // namespace fourtune::generator::fft
