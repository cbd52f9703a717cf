// What the families of one gridder share: the bound geometry, kernels and points, and one workspace per worker. The
// engine's functions are in engine.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/waiting.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/gridder/kernels.h"
#include "runtime/backends/cpu/gridder/layout.h"
#include "runtime/backends/cpu/gridder/schedule.h"
#include "runtime/backends/cpu/gridder/sort.h"
#include "runtime/backends/cpu/gridder/weights.h"

namespace fourtune::runtime::cpu {

// For finite numbers only: unlike operator*, it does not recover infinities.
template <class T>
std::complex<T> multiply(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Up to kBlockPoints points with their weights and their positions in the caller's arrays.
template <class T>
struct PointBlock {
  explicit PointBlock(const WeightTables<T>& tables) : weights(tables) {}
  WeightBlock<T> weights;
  std::int64_t index[kBlockPoints] = {};
  std::int64_t element[kBlockPoints] = {};  // of scattered and raw points: where their windows begin in the grid
};

template <class T>
struct Workspace {
  std::vector<PointBlock<T>> blocks;   // one for a single transform, several for a batch
  Buffer<T> tile;                      // private tile; spreading leaves it all zero between subproblems
  std::vector<std::complex<T>*> rows;  // rows of the fine grid under the padded tile, y fastest
  Buffer<std::uint32_t> gathered;      // records of a block that are not stored together
  alignas(kLine) std::complex<T> values[kBlockPoints];
  std::vector<std::int64_t> locked;
  bool tile_is_zero = false;
  std::int64_t bytes() const;
};

// Writing one row of a point directly to the fine grid costs about as much as copying this many rows of an x-bin
// (measured at 3D densities 0.001 to 0.1); more in a tile at the edge, as windows that wrap go cell by cell. In one
// dimension, as many points of a bin cost as much directly as with its copy.
inline constexpr std::int64_t kDirectCost = 2, kEdgeDirectCost = 6, kLineDirectPoints = 2;
// In a grid with a halo that the last-level cache holds, what a row costs more directly is the lines that it touches
// more than in an x-bin, and `more_lines` for its place in them; copying a line costs as much as `copy_lines` lines of
// points. A spreader's copies are added to the grid under a lock and cleared, and so cost more than those that are
// read (docs/design/cpu-choices.md).
inline constexpr std::int64_t kNearGridBytes = std::int64_t{32} << 20;
struct TilePrices {
  double more_lines, copy_lines;
};
inline constexpr TilePrices kSpreadTile{0.2, 2.5}, kInterpTile{0.3, 2};

// The data on which a family works.
template <class T>
struct GridderEngine {
  GridderSpec spec;
  Tiling tiling;
  WeightTables<T> tables;
  GridderKernels<T> kernels;
  PointStore<T> points;
  int fraction = 24;                                   // fraction bits of a record's positions
  bool raw = false;                                    // points are in PointOrder::raw
  std::vector<Subproblem> spread_units, interp_units;  // by tile; spread_units by colour when order matters
  std::vector<std::int64_t> colour_start;  // index into spread_units; size colours + 1; empty with locks or atomics
  std::unique_ptr<Gate[]> turns;           // per spread unit: it has been added to the grid (colour rule)
  // Where most points are scattered: the first interp unit of every block of kBlockPoints grouped positions; else
  // empty.
  std::vector<std::int32_t> block_unit;
  Buffer<std::complex<T>> partial;       // bands or grids of further threads (scattered.cpp)
  std::vector<Workspace<T>> workspaces;  // one per worker that a loop may have

  int workers() const { return static_cast<int>(workspaces.size()); }

  // Where the cell `offset` cells after the origin of a tile is stored along dimension d.
  std::int64_t place(int d, std::int64_t origin, std::int64_t offset) const {
    // Beyond a last tile with fewer cells, nothing is written and what is read has weight zero.
    if (has_halo()) return std::min(origin + offset, tiling.fine[d] + spec.grid.halo[d] - 1);
    const GridLayers& layers = spec.grid.layers[d];
    if (layers.count == 0) return (origin + offset) % tiling.fine[d];
    const std::int64_t cell = origin - layers.first;
    return std::min(cell / layers.cells * layers.stored + cell % layers.cells + offset, layers.last_place());
  }
  bool has_halo() const { return spec.grid.halo[0] > 0; }
  // Whether points of one dimension can be spread by kernels.spread_line, in grids that begin at a cache line.
  bool spreads_lines() const {
    return kernels.spread_line != nullptr && has_halo() &&
           spec.grid.elements % (kLine / static_cast<std::int64_t>(sizeof(std::complex<T>))) == 0;
  }
  bool wraps(int d) const { return !has_halo() && spec.grid.layers[d].count == 0; }
  // Cells of a row that can be read and written without wrapping around.
  std::int64_t row_cells() const { return tiling.fine[0] + spec.grid.halo[0]; }
  bool interior(const WeightBlock<T>& b, int j, const std::array<std::int64_t, 3>& origin) const {
    for (int d = 0; d < tiling.dim; ++d) {
      if (wraps(d) && origin[d] + b.cell[d][j] + tiling.width > tiling.fine[d]) return false;
    }
    return true;
  }
  // The first element of a point's window in the fine grid, or -1 when the window wraps.
  std::int64_t element(const WeightBlock<T>& b, int j, const std::array<std::int64_t, 3>& origin) const {
    if (!interior(b, j, origin)) return -1;
    std::int64_t e = origin[0] + b.cell[0][j];  // inside, so there is nothing to fold
    for (int d = 1; d < tiling.dim; ++d) {
      const std::int64_t at = wraps(d) ? origin[d] + b.cell[d][j] : place(d, origin[d], b.cell[d][j]);
      e += at * spec.grid.stride[d];
    }
    return e;
  }
  // A tile with n points is worth a private copy when its points touch more rows than the copy has.
  bool worth_a_tile(std::int64_t tile, std::int64_t n, int first, int last, const TilePrices& price) const {
    if (tiling.dim == 1) return n > kLineDirectPoints * (last - first + 1);
    const std::int64_t rows_of_point = tiling.dim == 2 ? tiling.width : tiling.width * tiling.width;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(std::complex<T>));
    if (has_halo() && spec.grid.elements * kBytes <= kNearGridBytes) {
      constexpr double kCells = static_cast<double>(kLine) / static_cast<double>(kBytes);
      const double lines = tiling.slots / kCells, touched = 1 + (tiling.width - 1) / kCells;
      return static_cast<double>(n * rows_of_point) * (touched - lines + price.more_lines) >
             static_cast<double>(tiling.rows() * (last - first + 1)) * lines * price.copy_lines;
    }
    const std::int64_t cost = at_edge(tile) ? kEdgeDirectCost : kDirectCost;
    return n * rows_of_point * cost > tiling.rows() * (last - first + 1);
  }
  // Returns whether windows of the tile's points may wrap around the grid.
  bool at_edge(std::int64_t tile) const {
    const auto origin = tiling.origin(tile);
    const auto cells = tiling.extent(origin);
    for (int d = 0; d < tiling.dim; ++d)
      if (wraps(d) && origin[d] + cells[d] > tiling.fine[d]) return true;
    return false;
  }
  // Fills work.rows with the starts (x = 0) of the fine grid's rows under a padded tile.
  void point_to_rows(std::int64_t tile, std::complex<T>* grid, Workspace<T>& work) const;
  // What kernels shall prefetch while they process the block at a grouped position: values of as many points as a block
  // has, `distance` points ahead; with 0 none.
  void look_ahead(std::int64_t position, int distance, const std::complex<T>* values,
                  const void* (&ahead)[kBlockPoints]) const;
  // The first and last x-bin of the points at grouped positions [begin, end), or all bins where that is cheaper.
  void bin_range(std::int64_t begin, std::int64_t end, int& first, int& last) const;
  // The records of n points from a grouped position (permuted, indexed) or a caller's position (caller) on, and the
  // points' positions in the caller's arrays.
  const std::uint32_t* records(std::int64_t position, int n, Workspace<T>& work, std::int64_t* index) const;
  // Loads so many points; evaluates their weights.
  void load(std::int64_t position, int n, bool in_bins, Workspace<T>& work, PointBlock<T>& block) const;
};

// The caller's arrays for one execute.
template <class T>
struct Batch {
  std::complex<T>* values = nullptr;  // spreading only reads them
  std::int64_t value_distance = 0;
  const std::complex<T>* factor = nullptr;
  std::complex<T>* grids = nullptr;  // interpolation only reads them; zeroed before spreading
  std::int64_t grid_distance = 0;
  std::int64_t count = 0;
};

// Spreads into private padded subgrids, added by colour or, with locks, as they become ready (spread_subgrid.cpp).
template <class T>
void spread_subgrid(GridderEngine<T>& engine, TileLocks* locks, const Batch<T>& batch);
// Spreads directly to the fine grid: with atomic additions, or one tile colour after the other (spread_direct.cpp).
template <class T>
void spread_atomic(GridderEngine<T>& engine, const Batch<T>& batch);
template <class T>
void spread_coloured(GridderEngine<T>& engine, const Batch<T>& batch);
// Processes every transform of one block whose points lie in the tile at `origin`, directly to or from the fine grid,
// with x windows at slot 0. For spreading, the calling thread must own the padded tile; for interpolation, there is
// one origin per point.
template <class T>
void spread_block(const GridderEngine<T>& engine, const PointBlock<T>& block, const std::array<std::int64_t, 3>& origin,
                  const Batch<T>& batch);
template <class T>
void interpolate_block(const GridderEngine<T>& engine, const PointBlock<T>& block,
                       const std::array<std::int64_t, 3>* origins, const Batch<T>& batch);
// Scattered points, of which tiles have too few for private copies, and raw ones (scattered.cpp); the grid has a halo.
// Whether so many transforms can be spread so.
template <class T>
bool may_spread_scattered(GridderEngine<T>& engine, std::int64_t count);
template <class T>
void spread_scattered(GridderEngine<T>& engine, const Batch<T>& batch);  // zeroes the grids first
template <class T>
void interpolate_scattered(GridderEngine<T>& engine, const Batch<T>& batch);
// Whether unsorted points of one dimension may be spread by threads into one grid each.
template <class T>
bool may_stay_raw(const GridderEngine<T>& engine);
// What their threads' grids take at most; points need not be set.
template <class T>
std::int64_t most_partial_bytes(const GridderEngine<T>& engine);
// Interpolation families (interp.cpp).
template <class T>
void interpolate_tiles(GridderEngine<T>& engine, const Batch<T>& batch);
template <class T>
void interpolate_direct(GridderEngine<T>& engine, const Batch<T>& batch);

}  // namespace fourtune::runtime::cpu
