// Nonuniform points and a fine grid over ranks: points move to the rank of their cell once, and are spread and
// interpolated there.
//
//   locate every point -> cut the grid -> move points to the rank of their cell -> sort
//   spread: move values -> spread -> add shared cells          interpolate: fetch shared cells -> interpolate -> move
//   back
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/distributed/grid_part.h"
#include "runtime/distributed/moved_points.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {

// The tiles of the whole grid, by number.
struct TileNumbers {
  std::array<std::int64_t, 3> count{1, 1, 1};
  // There are fewer than 2^31, each of thousands of cells, so what is asked of every tile costs little.
  std::int32_t all() const { return static_cast<std::int32_t>(count[0] * count[1] * count[2]); }
  // A tile's place along y or z.
  std::uint32_t row(std::int32_t tile, int d) const {
    const std::uint32_t rows = static_cast<std::uint32_t>(tile) / static_cast<std::uint32_t>(count[0]);
    const auto of_y = static_cast<std::uint32_t>(count[1]);
    return d == 1 ? rows % of_y : rows / of_y;
  }
};

// This rank's points where they came from.
template <class T>
struct OwnPoints {
  std::int64_t count = 0;
  std::array<const T*, 3> at{};
  cpu::PointMap map;
};

// How values move: of so many transforms at a time, through memory that the ranks share or by MPI.
struct Moving {
  std::int64_t at_once = 1;
  bool by_memory = false;
};

template <class T>
class PlacedPoints {
  using Complex = std::complex<T>;

 public:
  // `cut` says all but the rows of tiles of each part, which follow from the points. `moving`: transforms at a time,
  // and whether ranks share memory. Throws Error{unsupported}; does not communicate. The clock outlives it.
  PlacedPoints(const Communicator& ranks, const cpu::GridderSpec& gridder, const GridCut& cut, Balance balance,
               const Moving& moving, cpu::StageClock& clock);

  // First of two steps: locates the points and cuts the grid for them. Returns whether it is cut differently than
  // before, in which case grid() has been bound again. Collective; throws the same Error on every rank.
  bool cut(const OwnPoints<T>& points);
  // Second step: moves points and sorts them. What is done with them where they arrive, `arrived(count, coordinates)`,
  // must not communicate. Collective; throws the same Error on every rank.
  template <class Arrived>
  void move(const OwnPoints<T>& points, Arrived arrived) {
    clock_.time("move points", [&] {
      const auto here = plan_move(points);
      clock_.time("sort", [&] {
        ranks_.together([&] {
          sort(points.map, here);
          arrived(moved_.arrived(), here);
          moved_.release();
        });
      });
    });
  }

  GridPart<T>& grid() { return grid_; }
  const GridPart<T>& grid() const { return grid_; }
  const GridCut& where() const { return cut_; }
  // Grids of `count` transforms from and to this rank's values, which are as far apart as it has points. `factor`: of
  // the points that have arrived, or null. Collective; failures are kept in `local`.
  void spread(const Complex* values, const Complex* factor, std::int64_t count, LocalWork& local);
  void interpolate(Complex* values, const Complex* factor, std::int64_t count, LocalWork& local);
  std::int64_t bytes() const { return grid_.bytes() + gridder_->bytes() + moved_.bytes() + tile_.bytes(); }

 private:
  Split cut_rows(int d, int parts, const std::vector<std::int64_t>& points) const;
  void count_tiles();
  std::vector<std::int64_t> find_owners();
  std::array<const T*, 3> plan_move(const OwnPoints<T>& points);
  void sort(const cpu::PointMap& map, const std::array<const T*, 3>& here);

  const Communicator& ranks_;
  GridCut cut_;
  Balance balance_;
  int width_ = 1, threads_ = 1;
  std::int64_t at_once_ = 1, own_ = 0;
  cpu::StageClock& clock_;
  std::unique_ptr<cpu::Gridder<T>> gridder_;
  TileNumbers tiles_;
  cpu::Buffer<std::int32_t> tile_;     // of each point between cut() and move(), and then its rank
  std::vector<std::int64_t> in_tile_;  // how many of the points of each thread are in each tile, meanwhile
  bool bound_ = false;
  GridPart<T> grid_;
  MovedPoints<T> moved_;
};

}  // namespace fourtune::runtime::distributed
