// The programs of a type 3 on a GPU for known geometry and point counts; set_points and execute of
// nufft_type3_executor.cpp launch them. This is host code; the formulas are in generator/plan/type3_geometry.h.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "generator/codegen/nufft/type3.h"
#include "generator/window/fourier.h"
#include "runtime/backends/gpu/nufft_common.h"

namespace fourtune::runtime::gpu {

// Where sources lie in the outer grid, and targets in what is held of the inner one.
generator::nufft::Map type3_source_map(const generator::Type3Dimension& dimension, std::int64_t outer);
generator::nufft::Map type3_target_map(const generator::Type3Dimension& dimension, std::int64_t inner,
                                       std::int64_t held);
// The plan's families for one side's points, with its parameters where this grid allows them.
generator::GpuPointsChoice type3_points(const generator::Plan& plan, const generator::nufft::Shape& shape,
                                        bool sources);

struct Type3Slots {
  enum Slot : int {
    kPoints,  // x, y, z, s, t, u
    kOuter = kPoints + 6,
    kInner,
    kWork,
    kWords = kWork + 2,
    kBefore,
    kAfter,
    kScaled,
    kSources,
    kTargets = kSources + generator::nufft::kWorkspaces,
    kSlots = kTargets + generator::nufft::kWorkspaces
  };
};

class Type3Stages : public Type3Slots {
 public:
  // Throws Error{invalid_plan} for a Gaussian rule that needs wider windows than there are.
  Type3Stages(const Problem& problem, const generator::Plan& plan, const DeviceTraits& device,
              const ExecutorOptions& options);

  // Computes the extents of the six arrays into the slot kWords.
  generator::GpuProgram extents(std::int64_t m, std::int64_t k) const;
  // Makes the grids and kernels that extents and counts (neither 0) require. Returns true when the programs of execute
  // have changed. Throws Error{contradiction} when the problem promises smaller extents, and Error{invalid_plan |
  // size_overflow}.
  bool set_points(const std::array<generator::gpu_nufft::Type3Kernels::Extent, 6>& extents, std::int64_t m,
                  std::int64_t k);

  // Both sorts; then phases and factors.
  const generator::GpuProgram& sorts() const { return sorts_; }
  generator::GpuProgram products();
  // Spread, FFT and interpolation of `transforms` transforms, from the first array to the second, or back.
  std::array<generator::GpuProgram, 3> transform(std::int64_t transforms, bool adjoint) const;
  // Writes an output of all zeros.
  generator::GpuProgram zeros(std::int64_t m, std::int64_t k, bool adjoint) const;

  // The plan with its grids filled in.
  const generator::Plan& plan() const { return plan_; }
  std::int64_t chunk() const { return chunk_; }
  std::int64_t outer_bytes() const { return grid_bytes(outer_); }  // for one chunk
  std::int64_t inner_bytes() const { return grid_bytes(held_); }
  std::int64_t scaled_bytes(bool adjoint) const;  // for one chunk; 0 means values are used without scaling
  // Sizes of the sources' or the targets' workspaces, in the order of their slots.
  std::array<std::int64_t, generator::nufft::kWorkspaces> point_bytes(bool sources) const;
  std::int64_t estimate_bytes() const;  // before points are known

 private:
  // One side's points with its grid: its kernels and the location of everything.
  struct Side {
    int sort_slot = 0, grid_slot = 0, first_point = 0;
    generator::GpuPointsChoice choice;
    std::optional<generator::nufft::StageKernels> spread, interp;
    std::array<generator::nufft::Map, 3> map;
  };
  void bind_gaussian();
  generator::Window bound_window(const generator::WindowChoice& choice) const;
  void make_side(Side& side, const generator::WindowChoice& window, const std::array<std::int64_t, 3>& cells,
                 bool sources) const;
  void set_maps();
  void bind_sorts(bool same);
  double window_reach() const;
  generator::nufft::Arrays arrays(const Side& side, const generator::BufferRef& values) const;
  std::array<generator::BufferRef, 3> side_points(int first) const;
  generator::gpu_nufft::GridFft grid_fft_spec(int sign, std::int64_t transforms) const;
  std::int64_t grid_bytes(const std::array<std::int64_t, 3>& cells) const;

  Problem problem_;
  generator::Plan plan_;
  DeviceTraits device_;
  bool deterministic_, exact_points_;
  generator::gpu_nufft::Type3Kernels own_;
  generator::GaussianRule gaussian_;
  double beta_ = 0;
  std::int64_t chunk_ = 1, complex_ = 8, m_ = 0, k_ = 0;
  bool shifted_ = false, known_ = false;
  std::array<generator::Type3Dimension, 3> geometry_;
  std::array<std::int64_t, 3> outer_{1, 1, 1}, inner_{1, 1, 1}, held_{1, 1, 1};
  Side sources_, targets_;
  std::optional<generator::FourierInterpolant> transform_;  // of the outer window
  generator::GpuProgram sorts_;
  std::size_t first_of_targets_ = 0;
};

}  // namespace fourtune::runtime::gpu
