// Nonuniform points and a fine grid over ranks with GPUs, as placed_points.h on processors: points move once to the
// ranks whose slabs they reach (gpu_moved_points.h), and are spread and interpolated there.
//
//   locate every point -> cut the grid into slabs -> move points -> sort
//   spread: move values -> spread            interpolate: fetch planes -> interpolate -> move values back
//
// A point whose window reaches the next slab is spread by both ranks, so no sums travel; interpolation fetches the
// planes behind a rank's own ones. The points of a slab's parts are sorted, spread and interpolated one part after the
// other, so that values of one part come back while the next is interpolated.
//
// deterministic: spreading adds integers (templates/nufft_common.cuh) whose unit all ranks agree on, so sums do not
// depend on the slabs; each point's value is a separate sum.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/device_copy.h"
#include "runtime/backends/gpu/nufft_executor.h"
#include "runtime/backends/gpu/program_backend.h"
#include "runtime/distributed/device_exchange.h"
#include "runtime/distributed/gpu_moved_points.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/slabs/device_slab.h"

namespace fourtune::runtime::distributed {

// Throws Error{unsupported} for a backend that makes no kernels.
const gpu::ProgramBackend& program_backend(const Backend& backend);

class GpuPlacedPoints {
 public:
  struct Spec {
    Problem problem;       // its type says which stage is the forward one: 1 spreads, 2 interpolates
    generator::Plan plan;  // of its window: the whole grid
    Balance balance = Balance::points;
    RankExchange way = RankExchange::host;
    std::int64_t chunk = 1;  // transforms that are held at a time
    int parts = 1;           // of a slab; several by peer writes alone, and not with `deterministic`
    bool deterministic = false;
    bool trust = false;         // coordinates are not checked
    bool kept_in_grid = false;  // other ranks are told of the grid also where it is empty
    bool mapped = false;        // set_maps() says where coordinates lie; else they are in radians
  };
  // Does not communicate. All arguments but the specification outlive this.
  GpuPlacedPoints(const Communicator& ranks, const RankDevice& device, const DeviceCopy& memory, const Spec& spec,
                  cpu::StageClock& clock);

  // Coordinates that follow are placed so.
  void set_maps(const std::array<generator::nufft::Map, 3>& maps);
  // Locates these points and cuts the grid for all ranks'. Where the cut changed, true: then bind() makes the grid
  // before move(). `own` is in the device's memory until then. Collective.
  bool cut(const PointSet& own);
  void bind();
  // Moves and sorts the points that were located last. Collective.
  void move(const PointSet& own);

  const DeviceSlab& slab() const { return slab_; }
  std::int64_t plane_cells() const { return plane_; }
  std::int64_t own_planes() const { return slab_.of_ranks.size(ranks_.rank()); }
  void* grid() const { return grid_.data(); }
  // Of transform b of a chunk.
  char* own_plane(std::int64_t b, std::int64_t plane) const {
    return grid(b) + (slab_.own_begin(ranks_.rank()) + plane) * plane_ * element_;
  }

  // Of transform b of a chunk; `own`: this rank's values. Collective; failures are kept in `local`.
  void spread(char* own, std::int64_t b, bool adjoint, LocalWork& local);
  void interpolate(char* own, std::int64_t b, bool adjoint, LocalWork& local);

  // As those of DeviceExchange.
  void settle() { fetching_.settle(), moved_.settle(); }
  void forget() { moved_.forget(); }
  void rethrow(LocalWork& local) {
    local.always([&] { fetching_.rethrow(); });
    local.always([&] { moved_.rethrow(); });
  }
  std::int64_t bytes() const;

 private:
  // What spreads and interpolates the points of a part of this rank's slab; null without cells.
  struct Part {
    DeviceSlab::Planes planes;
    std::unique_ptr<Executor> gridder;
    gpu::MappedExecutor* mapped = nullptr;  // the same one, where it takes maps
  };
  std::unique_ptr<Executor> make_gridder(Part& part);
  void sort(int p, const PointSet& arrived);
  // Spreads or interpolates.
  void run(int p, char* values, std::int64_t b, bool adjoint);
  // Whether the grid is cleared while values move, and spreading adds to it.
  bool may_clear() const;
  void hold_values();
  std::int64_t grid_bytes() const { return own_planes() > 0 ? slab_.stored(ranks_.rank()) * plane_ * element_ : 0; }
  char* grid(std::int64_t b) const { return static_cast<char*>(grid_.data()) + b * grid_bytes(); }
  char* grid(std::int64_t b, const Part& part) const { return grid(b) + part.planes.first * plane_ * element_; }
  // Values of transform b where they are spread or interpolated.
  char* here(char* own, std::int64_t b) const {
    return moved_.stays() ? own : static_cast<char*>(values_.data()) + b * moved_.arrived() * element_;
  }
  void agree(std::array<std::uint64_t, 2>& bounds);
  bool fetches() const { return own_planes() > 0 && !slab_.whole(ranks_.rank()) && slab_.shared > 0; }
  DeviceBlocks planes_to_fetch(std::int64_t b) const;

  const Communicator& ranks_;
  Spec spec_;
  const gpu::ProgramBackend& backend_;
  int device_;
  DeviceStreams& streams_;
  const DeviceCopy& memory_;
  cpu::StageClock& clock_;
  DeviceSlab slab_;
  generator::nufft::StageKernels locator_;
  GpuMovedPoints moved_;
  DeviceExchange fetching_;
  std::array<generator::nufft::Map, 3> maps_;
  std::vector<Part> parts_;
  std::int64_t element_ = 8, plane_ = 1;
  std::int64_t all_points_ = 0;  // of all ranks
  std::int64_t clears_ = 0;      // bytes of a grid; 0: spreading clears it
  bool bound_ = false, agreed_ = false;
  std::vector<std::int64_t> at_cells_;  // points that begin at each cell of the last dimension
  DeviceArray grid_, values_;
};

}  // namespace fourtune::runtime::distributed
