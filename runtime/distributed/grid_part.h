// The part of the fine grid that one rank stores: whole layers of tiles along the last dimension and, where y is cut
// too, along y. Each layer is followed by the cells that its windows share with the next one (GridLayers of
// gridder/gridder.h).
//
// The shared cells of a layer belong to the layer that follows it, here or on the next rank that has any, around the
// period's end. As a layer is at least as thick as a window reaches, a cell gets along each cut dimension the sum of
// its layer and that of the layer before, and nothing else. Sums are added along y first, in all planes, then along z.
// Two numbers have one sum, so it does not matter which rank adds them, or when.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/rank_plan.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime::distributed {

// What all ranks agree on.
struct GridCut {
  int dim = 3;
  std::array<std::int64_t, 3> fine{1, 1, 1};
  std::array<std::int64_t, 3> side{1, 1, 1};  // of a tile
  std::int64_t shared = 0;                    // cells along a dimension that a window reaches beyond its first
  RankGrid ranks;
  std::int64_t room = 0;      // cells that rows along x have room for, if that is more than they have
  std::array<Split, 3> rows;  // of the tile rows along the last dimension over the groups and, if y is cut, along y
                              // over the ranks of a group
  bool cuts_y = false;        // also where every rank has all of y, so that the sums are those of other grids of ranks
  // Every row of tiles is a layer, so that sums do not depend on the split; otherwise a rank has one layer.
  bool layer_per_row = false;

  // Cells of dimension d that the parts begin with.
  Split cells(int d) const;
};

// Rows or planes that follow each other in the stored grid, and in an array without shared cells.
struct LayerSpan {
  std::int64_t stored = 0, own = 0, count = 0;
};

template <class T>
class GridPart {
  using Complex = std::complex<T>;

 public:
  // The part of this rank, for `count` transforms at a time. Throws Error{out_of_memory | size_overflow}. Call it on
  // every rank; it does not communicate.
  void bind(const Communicator& ranks, const GridCut& cut, std::int64_t count);

  bool empty() const { return planes_.empty() || rows_.empty(); }
  const cpu::GridShape& shape() const { return grid_; }
  Complex* data() { return cells_.data(); }
  // This rank's planes, also where it has no rows of them, and its rows of a plane.
  const std::vector<LayerSpan>& planes() const { return planes_; }
  const std::vector<LayerSpan>& rows() const { return rows_; }

  // After spreading: adds the sums of shared cells to the layers that own them. Collective.
  void fold(const Communicator& ranks, Complex* grid, int threads);
  // Before interpolation: fills the shared cells. Collective.
  void fill(const Communicator& ranks, Complex* grid, int threads);
  std::int64_t bytes() const { return cells_.bytes() + sent_.bytes() + arrived_.bytes(); }

 private:
  // A cut dimension.
  struct Axis {
    cpu::GridLayers layers;
    std::int64_t stride = 0;
    int before = 0, after = 0;         // the ranks with the layers around this rank's
    std::vector<std::int64_t> across;  // where rows along x begin in what is one cell thick along this dimension
    std::int64_t end() const { return (layers.count - 1) * layers.stored + layers.last_cells; }
  };
  // How shared cells are stored: at multiples of the axis' stride, or packed.
  enum class Form { grid, packed };
  struct Shared {
    Complex* at;
    Form form;
  };
  template <class Move>
  void for_each_row(const Axis& axis, const Shared& to, const Shared& from, int threads, Move move) const;
  void add(const Axis& axis, const Shared& to, const Shared& from, int threads) const;
  void copy(const Axis& axis, const Shared& to, const Shared& from, int threads) const;
  Shared at(const Axis& axis, Complex* grid, std::int64_t place) const {
    return {grid + place * axis.stride, Form::grid};
  }
  void fold(const Axis& axis, const Communicator& ranks, Complex* grid, int threads);
  void fill(const Axis& axis, const Communicator& ranks, Complex* grid, int threads);
  std::int64_t packed(const Axis& axis) const {
    return shared_ * static_cast<std::int64_t>(axis.across.size()) * grid_.fine[0];
  }
  std::vector<Message> message(const Axis& axis, int rank, cpu::Buffer<Complex>& buffer) const {
    return {{rank, buffer.data(), packed(axis) / grid_.fine[0], *row_type_}};
  }

  cpu::GridShape grid_;
  std::vector<LayerSpan> planes_, rows_;
  std::vector<Axis> axes_;  // y, if it is cut, and the last dimension
  std::int64_t shared_ = 0;
  DataType row_type_;
  cpu::Buffer<Complex> cells_, sent_, arrived_;
};

}  // namespace fourtune::runtime::distributed
