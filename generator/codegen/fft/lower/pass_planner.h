// Turns a plan into passes; private to lower(). Every sub-FFT of a dimension is one digit of its index: value n_i
// with weight n/radix in the input. A transformed digit keeps its place (its atom); only the weights that the arrays
// give it change. This is how natural order, grouped and sorted stores, and workspaces laid out for the next kernel are
// made. Passes are in plan_passes.cpp, the other parts in the files named below.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/codegen/at.h"
#include "generator/codegen/fft/lower/lower.h"
#include "generator/codegen/fft/lower/split_stride.h"
#include "generator/plan/fft/geometry.h"

namespace fourtune::generator::fft {

// One digit of a dimension throughout the plan.
struct Digit {
  std::int64_t radix = 1;
  std::int64_t in = 1;   // weight in the input's index: n_i
  std::int64_t out = 1;  // weight in the output's index: k_i
  int kernel = -1;       // the kernel that transforms it; -1: none (the dimension has length 1, or is the batch)
};
// A dimension, or the batch.
struct Line {
  std::string name;
  std::int64_t n = 1;
  int dim = 0;                // batch_axis: the batch
  std::vector<Digit> digits;  // first sub-FFT first
};

// Weights of a line's digits in an array.
using Weights = std::vector<std::int64_t>;
// A run of an axis's digits that is one atom: transformed in this kernel, carried as neighbours, or part of the grid.
struct AxisPart {
  int atom = 0;
  std::size_t digit = 0;               // index of the axis's digit; if several are joined, any of them
  std::int64_t in = 1, out = 1;        // weights in the input's and the output's index
  std::int64_t before = 1, after = 1;  // distances in positions along the axis, in the arrays read and written
  std::int64_t load = 0, store = 0;    // strides in these arrays
};
// The parts of every axis.
using AxisParts = std::array<std::vector<AxisPart>, batch_axis + 1>;
// Carried digits that move as one number.
struct CarriedDigits {
  std::size_t digit = 0;
  std::int64_t size = 1, in = 1, out = 1, before = 1, after = 1;
};

class PassPlanner {
 public:
  PassPlanner(const FftPlan& plan, const EmitOptions& options);
  Lowering run();

 private:
  // The first refusal counts. Steps that follow it do no harm, but what they make means nothing.
  void refuse(std::string why) {
    if (refusal_.empty()) refusal_ = std::move(why);
  }
  bool refused() const { return !refusal_.empty(); }
  int kernels() const { return static_cast<int>(plan_.kernels.size()); }
  const KernelParameters& with(int k) const { return plan_.kernels[at(k)].with; }
  static std::int64_t load_weight(const PassSpec& spec, int atom) { return weight_of(spec.load.address, atom); }
  static std::int64_t store_weight(const PassSpec& spec, int atom) { return weight_of(spec.store.address, atom); }

  // ---- a pass
  // Whether a kernel's blocks write places that other blocks have yet to read, if both arrays are the same.
  static bool moves_values(const PassSpec& spec);
  // A kernel that reads a workspace and moves its values writes the other workspace.
  void choose_workspace(const PlannedPass* before, PlannedPass& pass, int k);
  PlannedPass pass(int k);
  // Number of the last element of the largest array.
  std::int64_t last_element() const;

  // ---- arrays (plan_arrays.cpp)
  // Positions along an axis after `k` kernels, as weights of its digits.
  Weights positions(const Line& axis, int k) const;
  // Whether the plan's orders are possible for these arrays.
  void check_orders();
  // Length along an axis of the intermediate arrays: x of a real transform keeps half, and prunings shorten axes that
  // are not yet padded or already truncated.
  std::int64_t length_between(int d, int k) const;
  SplitStrides outside(bool input) const;
  // The array between kernels k-1 and k: dense, x fastest; if kernel k copies whole tiles in bulk, its tiles one after
  // the other.
  SplitStrides between(int k);
  // Number of the lowest positions of an axis that are in one tile of kernel k; 0: its positions are not the lowest, or
  // do not divide the axis or the digit in which they end.
  std::int64_t tile_cut(int d, int k) const;
  int tile_along(int d, int k) const;
  // Whether kernel k carries neighbours along an axis that do not divide it. They are one number, which needs one
  // stride.
  bool carries_in_part(int d, int k) const;

  // ---- tiles and transforms (plan_tiles.cpp)
  std::vector<CarriedDigits> passive_runs(const Line& axis, int k, const Weights& before, const Weights& after) const;
  int add_atom(PassSpec& spec, const std::string& name, std::int64_t size, bool tile);
  // Adds the atoms of one digit, or of part of a digit, split where an array's stride changes inside it.
  void add_parts(PassSpec& spec, std::vector<AxisPart>& parts, const std::string& name, std::int64_t size, bool tile,
                 AxisPart part, const SplitStride& in, const SplitStride& out);
  // The same for a digit that a kernel transforms: where an order is by prime factors, one atom for each prime.
  void add_digit(PassSpec& spec, std::vector<AxisPart>& parts, const std::string& name, std::int64_t radix,
                 const AxisPart& part, const SplitStride& in, const SplitStride& out);
  std::vector<AxisPart> split_axis(PassSpec& spec, int d, int k, const SplitStride& in, const SplitStride& out);
  static Index natural(const std::vector<AxisPart>& parts, bool input);
  // Sub-FFT i of an axis: value k is multiplied by the twiddle factor of angle k * (index of the digits still to come)
  // / n.
  Dft transform(PlannedPass& out, const std::vector<AxisPart>& parts, const Line& axis, std::size_t i);
  int table_for(PlannedPass& out, std::int64_t period);
  std::int64_t table_length(const std::vector<std::byte>& table) const;
  void order_grid(PassSpec& spec, const KernelParameters& w);

  // ---- loads and stores (plan_ports.cpp)
  // Whether this kernel pads (load) or truncates (store) this axis, so that a Pruning gives its addresses.
  bool pruned(int d, int k, bool load) const;
  // Whether this kernel completes half spectra whose axis d is still to be transformed, by itself.
  bool turned(int d, int k) const;
  void finish_ports(PlannedPass& out, int k, const AxisParts& parts, const SplitStrides& in, const SplitStrides& store);
  // Adds the hooks' factors to the kernel that first loads, or last stores, the dimension's digits.
  void add_factors(PlannedPass& out, int k, const AxisParts& parts);

  const FftPlan& plan_;
  const EmitOptions& options_;
  std::vector<Line> axes_;
  std::int64_t work_values_ = 0;
  std::string refusal_;
};

}  // namespace fourtune::generator::fft
