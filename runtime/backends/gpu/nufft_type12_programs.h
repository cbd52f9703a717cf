// The GPU programs of one bound plan of type 1 or 2, and the sizes that they need. It holds no memory of the device and
// launches nothing; nufft_executor.cpp does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "generator/planner/gpu_nufft/choices.h"
#include "generator/window/polynomial.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/gpu/nufft_common.h"

namespace fourtune::runtime::gpu {

class Type12Programs {
 public:
  // Where arrays are bound: points, the fine grids, workspaces of the FFT and of the sort.
  enum Slot : int { kX, kY, kZ, kGrid, kWork, kSort = kWork + 2, kSlots = kSort + generator::nufft::kWorkspaces };
  // The transforms of a chunk that one program of the FFT processes: all in one layout.
  struct Unit {
    std::int64_t first = 0, transforms = 1, groups = 1;
    bool interleaved = false;
  };

  // Throws Error{invalid_plan | unsupported} if the plan does not fit the problem and the options.
  Type12Programs(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options,
                 const DeviceTraits& device);

  // As given, except what one stage alone and deterministic results need.
  const generator::Plan& plan() const { return plan_; }
  bool whole() const { return whole_; }  // not spreading or interpolation alone
  // Transforms in a full chunk, and in the last chunk if that is smaller (else 0).
  std::array<std::int64_t, 2> chunks() const { return {chunk_, problem_.batch % chunk_}; }
  std::int64_t chunk() const { return chunk_; }
  std::int64_t complex_bytes() const { return complex_; }
  std::int64_t modes() const { return modes_; }            // of one transform
  std::int64_t grid_bytes() const { return grid_bytes_; }  // fine grids of a chunk

  // Whether the kernels that there are take m points; if not, make_kernels makes others.
  bool kernels_serve(std::int64_t m) const { return counts_of(m) == counts_; }
  void make_kernels(std::int64_t m);
  const generator::nufft::StageKernels& sort_kernels() const { return kernels_of(problem_.type == 1); }
  // Whether this direction's family processes points by subproblems.
  bool works_by_tasks(bool to_modes) const;

  generator::nufft::Arrays arrays() const;
  // scratch: bytes that there are for large coarse bins. lists_tasks: it also lists subproblems.
  generator::GpuProgram sort_program(std::int64_t m, std::int64_t scratch, bool lists_tasks) const;
  // Whether spreading waits for bounds that slabs agree on (GridSlab::agree): then points_program begins behind
  // bounds_program.
  bool agrees() const { return options_.deterministic && options_.slab.agree != nullptr; }
  generator::GpuProgram bounds_program(std::int64_t m) const;
  // As Executor::set_slab; says whether programs change.
  bool set_slab(std::int64_t start, bool adds) {
    const bool changes = options_.slab.start != start || adds_ != adds;
    options_.slab.start = start, adds_ = adds;
    return changes;
  }
  bool adds() const { return adds_; }
  void set_maps(const std::array<generator::nufft::Map, 3>& maps) { maps_ = maps; }
  // Clearing and spreading, or interpolation.
  generator::GpuProgram points_program(bool to_modes, std::int64_t m, std::int64_t transforms) const;
  std::vector<Unit> units(bool to_modes, std::int64_t transforms) const;
  generator::GpuProgram fft_program(bool to_modes, int sign, const Unit& unit) const;
  // The FFT of the fine grids that the device's library computes, if the plan wants that.
  Problem library_problem(int sign, std::int64_t transforms) const;
  // Of the sort, for either direction; they differ only where spreading needs more. large: bytes of scratch for large
  // coarse bins.
  std::array<std::int64_t, generator::nufft::kWorkspaces> workspace_bytes(std::int64_t m, std::int64_t large,
                                                                          bool lists_tasks) const;

 private:
  // Point counts from which other kernels are needed: first for whole cells in records, then for 64-bit counts.
  static int counts_of(std::int64_t m) {
    return m >= std::int64_t{1} << 31 ? 2 : m >= std::int64_t{1} << (32 - generator::nufft::kMostStolen) ? 1 : 0;
  }
  static void check_wide_enough(const generator::nufft::Shape& shape);
  const generator::nufft::StageKernels& kernels_of(bool to_modes) const {
    return to_modes ? *spread_kernels_ : *interp_kernels_;
  }
  generator::gpu_nufft::GridFft grid_fft_spec(int sign, std::int64_t transforms) const;
  int largest_group() const;

  Problem problem_;
  generator::Plan plan_, sized_;  // sized_: one stage alone: with the grid of the whole transform
  ExecutorOptions options_;
  DeviceTraits device_;
  bool whole_;
  std::array<generator::nufft::Map, 3> maps_;
  bool adds_ = false;  // spreading leaves in the grid what it holds
  generator::PiecewisePolynomial polynomial_;
  std::optional<generator::nufft::StageKernels> spread_kernels_, interp_kernels_;
  int counts_ = 0;
  std::int64_t chunk_ = 1, complex_ = 8, modes_ = 1, cells_ = 1, grid_bytes_ = 0;
};

}  // namespace fourtune::runtime::gpu
