// How a periodic grid is cut into slabs for ranks with GPUs, along its last dimension. One device that works on slabs
// one after the other counts them as if each were a rank's.
//
// 1. Cuts lie between rows, which are whole bins of the sort and at least as thick as a window reaches. So windows that
//    begin in a slab reach the next one at most, and a bin has the same points whatever the cuts.
// 2. A rank's slab may have parts of whole rows, whose points are worked on one part after the other.
// 3. A rank stores, before its own cells, whole bins for the windows that begin in the slab before, and behind them the
//    cells that its own windows reach. The only rank with cells stores the grid as it is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fourtune/problem.h"
#include "generator/plan/plan.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime {

struct DeviceSlab {
  std::int64_t cells = 1, shared = 0;  // along the last dimension; what a window reaches beyond its first cell
  std::int64_t row = 1, rows = 1;      // cells of a row; the last one has the rest, too
  std::int64_t before = 0;
  int parts = 1;             // of a slab, the first of which are not empty; the only rank with cells has one of those
  Split of_ranks, of_parts;  // of the cells; parts of a rank follow each other

  DeviceSlab() = default;
  DeviceSlab(const generator::Plan& plan, const Problem& problem, int parts = 1);
  std::int64_t row_of(std::int64_t cell) const { return cell / row < rows ? cell / row : rows - 1; }
  // of_ranks and of_parts, from a split of the rows into all parts.
  void cut(const Split& rows_of_parts);

  bool whole(int rank) const { return of_ranks.size(rank) == cells; }
  // Planes that a rank stores, and where its own ones begin among them. The number is rounded up, so that other cuts
  // often need no other kernels.
  std::int64_t stored(int rank) const {
    if (whole(rank)) return cells;
    const std::int64_t multiple = parts > 1 && row % 2 != 0 ? 2 * row : row;  // rows of f32 are then 16 bytes
    return (before + of_ranks.size(rank) + shared + multiple - 1) / multiple * multiple;
  }
  // Planes that windows of a part's points reach, the first part's with those before; and where they begin among the
  // stored ones, and in the whole grid.
  struct Planes {
    std::int64_t first = 0, count = 0, start = 0, before = 0;
  };
  Planes planes_of(int rank, int part) const;
  std::int64_t own_begin(int rank) const { return whole(rank) ? 0 : before; }
  // The first cell that a rank stores.
  std::int64_t start(int rank) const {
    return whole(rank) ? 0 : (of_ranks.begin(rank) - before % cells + cells) % cells;
  }
  // The rank with the cells around a rank's, itself where there is no other.
  int after(int rank) const { return next(rank, 1); }
  int previous(int rank) const { return next(rank, of_ranks.parts() - 1); }
  // Where points go by their first cell: the part with the cell, and the next rank if the window reaches it (-1: no).
  std::vector<std::int32_t> owners() const;
  std::vector<std::int32_t> neighbours() const;

 private:
  int next(int rank, int step) const;
};

}  // namespace fourtune::runtime
