// Turns a plan into passes: what a transform requires, and the kernels (pass.h), workspaces and tables that perform it.
// emit/ turns them into text. lower is in plan_passes.cpp and the other plan_*.cpp files, the adjoint in adjoint.cpp.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/codegen/fft/lower/pass.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// Operations fused into the transform, by dimension; x first.
struct DimensionHooks {
  // Zero padding: the input array holds only these positions. Truncation: the output array holds only these.
  std::optional<Pruning> input, output;  // only kind and kept are used
  // Real factors for every kept position, applied while loading or storing (deconvolution). Empty: none.
  std::vector<double> input_factors, output_factors;
  // The same with complex factors (Bluestein's chirps).
  std::vector<std::complex<long double>> input_turns, output_turns;
};

struct EmitOptions {
  Lengths n;  // lengths of the transform
  FftType type = FftType::c2c;
  Precision precision = Precision::f32;
  int sign = -1;
  std::int64_t batch = 1;
  // Dimensions that come before the batch in tiles; 0: those that the plan transforms. More where the plan is for one
  // of several dimensions, and its tiles carry neighbours along the others.
  int tile_rank = 0;
  bool in_place = false;
  bool last_first = false;  // plain plans start with the last dimension, not with x
  bool by_length = false;   // radices of lines across x follow from their length, whatever the number of lines
  double scale = 1;
  // Orders of the input and the output that plain plans give: natural or primes, one of them at most.
  DigitOrder from = DigitOrder::natural, order = DigitOrder::natural;
  // Element strides of x, y, z, w and the distance of the batch (as in ArrayLayout); absent: dense, x fastest.
  std::optional<ArrayLayout> input, output;
  std::array<DimensionHooks, most_dimensions> hooks;
  std::optional<RankArrays> input_ranks, output_ranks;  // arrays of several ranks; complex, and loaded plainly
  bool tables =
      true;  // false: tables that take long to compute are zeros, for those who only ask whether kernels exist
  // Determines the grid sizes of persistent kernels (landing buffers); results do not depend on it.
  DeviceTraits device = *known_device("h200");
};

// One pass of a bound plan; `from` and `to` are the arrays that it reads and writes (the first pass reads the input).
struct PlannedPass {
  PassSpec spec;
  BufferRef::Where from = BufferRef::Where::first, to = BufferRef::Where::second;
  int from_index = 0, to_index = 0;            // index of the workspace
  std::vector<std::vector<std::byte>> tables;  // contents of the twiddle tables, then of the extra tables
};
// Passes first..first+count-1 run slab by slab along their common slowest grid atom, so that the values that one of
// them writes are still in the cache when the next one reads them.
struct Slabs {
  int first = 0, count = 0;
  std::int64_t slabs = 1;  // divides the size of the atom
};
struct PlannedProgram {
  std::vector<PlannedPass> passes;
  std::int64_t work_values = 0;  // complex values per workspace
  int workspaces = 0;
  Slabs slabs;
};
// A program or a refusal. Some rules need the digits in their places: which neighbours share a tile ("rule tile"),
// which array a kernel may write ("rule target"), how a cluster shares its values ("rule cluster").
struct Lowering {
  PlannedProgram program;
  std::string refusal;  // names the rule and what breaks it; empty: there is a program
};
Lowering lower(const FftPlan& plan, const EmitOptions& options);
// The program of a plan that is not refused; of others, throws Error{invalid_plan} with the refusal.
PlannedProgram plan_passes(const FftPlan& plan, const EmitOptions& options);

// The adjoint for the real inner product Re sum conj(u) v on the arrays as stored: sign, arrays and hooks are
// exchanged. Real transforms exchange r2c and c2r, with weights on the half spectrum because it represents both halves:
// 1 at x = 0 and at n/2 (n even), elsewhere 1/2 on loads of c2r and 2 on stores of r2c.
EmitOptions adjoint_options(const EmitOptions& options);
// Adds only these weights, to options that already describe the adjoint. Does nothing for complex transforms.
void weigh_half_spectrum(EmitOptions& adjoint);

}  // namespace fourtune::generator::fft
