// The transforms of a rank's planes within an fft on processors: between its part of the array in space and the array
// in the middle, from which columns travel. Whole planes are transformed by the backend's own ffts; planes that several
// ranks share, by rows along x, an exchange among these ranks, and rows along y: whole_planes.cpp and split_planes.cpp.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/distributed/fft_geometry.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {

// Planes of some transforms: `count` transforms from b on, and of each of them the planes in `which`.
struct SomePlanes {
  std::int64_t b = 0, count = 1;
  cpu::LineRange which;
};

template <class T>
class PlaneFfts {
 public:
  virtual ~PlaneFfts() = default;
  // `space`: this rank's part of all transforms. `work`: the rank's planes of the first transform and those behind it.
  // Collective among the ranks that share planes; failures are kept in `local`.
  virtual void run(char* space, std::complex<T>* work, const SomePlanes& planes, bool adjoint, LocalWork& local) = 0;
  virtual std::int64_t bytes() const = 0;
};

// Pieces of the exchange within a plane; two are enough for one to travel while the other is worked on.
inline Chunks chunks_inside(const Chunks& chunks) {
  return {chunks.count == 1 ? 1 : chunks.cut == Cut::columns ? chunks.count : 2, Cut::batch};
}

// What both kinds need. The clock outlives them.
struct PlaneFftSpec {
  const Communicator& ranks;
  const Problem& problem;
  const RankPlan& plan;
  FftGeometry of;
  bool deterministic = false;
  cpu::StageClock& clock;
};

// `pipeline` is the one in which they run. Throws as executors do; does not communicate.
template <class T>
std::unique_ptr<PlaneFfts<T>> make_whole_plane_ffts(const PlaneFftSpec& spec, const Pipeline<T>& pipeline);
template <class T>
std::unique_ptr<PlaneFfts<T>> make_split_plane_ffts(const PlaneFftSpec& spec, const Pipeline<T>& pipeline);

}  // namespace fourtune::runtime::distributed
