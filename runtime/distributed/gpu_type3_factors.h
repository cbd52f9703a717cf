// What a type 3 on a rank's GPU computes point by point: the box of the points, and the phases and factors with which
// values are multiplied before they are spread and after they are interpolated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "generator/codegen/nufft/type3.h"
#include "runtime/backends/gpu/nufft_runner.h"

namespace fourtune::runtime::distributed {

class GpuType3Factors {
 public:
  using Extents = std::array<generator::gpu_nufft::Type3Kernels::Extent, 6>;

  // stream: of the device, where kernels run.
  GpuType3Factors(const Problem& problem, std::unique_ptr<gpu::Queue> queue, void* stream);

  // The least and the largest of each array of these points, which are in the device's memory. Waits. Those of an array
  // without points mean nothing.
  Extents extents(const PointSet& points);
  // Phases of these sources, unless none is needed, and factors of the targets.
  void make(const PointSet& points, const std::array<generator::Type3Dimension, 3>& geometry,
            const generator::FourierInterpolant& transform);
  bool has_phases() const { return has_phases_; }
  // Values of one transform times the phases of the sources, or the factors of the targets; conjugate: times their
  // conjugates. `to` may be `from`.
  void scale(void* from, void* to, bool of_sources, bool conjugate);
  void clear(void* values, std::int64_t count);
  std::int64_t bytes() const { return runner_.held(); }

 private:
  enum Slot : int { kPoints, kWords = kPoints + 6, kBefore, kAfter, kSlots };
  // Call this within a run.
  void open(const PointSet& points);
  std::array<generator::BufferRef, 3> refs(int first) const;

  Problem problem_;
  gpu::Runner runner_;
  void* stream_;
  generator::gpu_nufft::Type3Kernels kernels_;
  std::int64_t m_ = 0, k_ = 0;
  bool has_phases_ = false;
  gpu::BoundLaunches extents_, phases_, factors_, clearing_;
  bool factors_made_ = false;
  // By side and conjugation; made for the points that there are.
  std::array<gpu::BoundLaunches, 4> scaling_;
  std::array<bool, 4> scaling_made_{};
};

}  // namespace fourtune::runtime::distributed
