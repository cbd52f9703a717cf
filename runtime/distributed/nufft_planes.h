// The transforms of a rank's planes within a type 1 or 2 on processors: between cells of the fine grid and the modes of
// a plane, from which columns travel. Whole planes are transformed by the pruned FFT of one process; planes that
// several ranks share, by rows along x, an exchange among these ranks, and rows along y: whole_nufft_planes.cpp and
// split_nufft_planes.cpp.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/distributed/grid_part.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {

template <class T>
class NufftPlanes {
  using Complex = std::complex<T>;

 public:
  virtual ~NufftPlanes() = default;
  // What transforms in this direction need. Throws Error{out_of_memory | size_overflow}; does not communicate.
  virtual void make(bool adjoint) = 0;
  // `cells`: the first of so many stored planes, null where this rank has no rows of them. `kept`: their modes along y
  // and x, of the latter this rank's part, [plane][y][x]. Collective among the ranks that share planes, whose failures
  // are kept in `local`.
  virtual void truncate(Complex* cells, Complex* kept, std::int64_t planes, bool adjoint, LocalWork& local) = 0;
  virtual void pad(const Complex* kept, Complex* cells, std::int64_t planes, bool adjoint, LocalWork& local) = 0;
  virtual std::int64_t bytes() const = 0;
};

// All of it outlives the planes.
template <class T>
struct NufftPlaneSpec {
  const Communicator& ranks;
  const Problem& problem;
  const RankPlan& plan;
  ModeOrder order;
  const GridPart<T>& grid;
  const GridCut& cut;
  const std::array<std::vector<double>, 3>& factors;  // deconvolution
  std::int64_t most_planes;                           // of one call
  cpu::StageClock& clock;
  // Of the transforms, where the grid holds only some cells of a dimension (PrunedFftSpec); whole planes alone.
  std::array<std::int64_t, 3> length{0, 0, 0};
};

template <class T>
std::unique_ptr<NufftPlanes<T>> make_whole_nufft_planes(const NufftPlaneSpec<T>& spec);
template <class T>
std::unique_ptr<NufftPlanes<T>> make_split_nufft_planes(const NufftPlaneSpec<T>& spec);

}  // namespace fourtune::runtime::distributed
