// The fine grid of one rank: whole layers of tiles along the last dimension, each followed by the cells that its windows
// share with the next layer (GridLayers of gridder/gridder.h).
//
// The shared cells of a layer belong to the layer that follows it, here or on the next rank that has any, around the
// period's end. As a layer is at least as thick as a window reaches, a cell gets the sum of its layer and that of the
// layer before, and nothing else. Two numbers have one sum, so it does not matter which rank adds them, or when.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/distributed/communicator.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime::distributed {

// What all ranks agree on.
struct SlabShape {
  int dim = 3;
  std::array<std::int64_t, 3> fine{1, 1, 1};
  std::int64_t shared = 0;  // cells along the last dimension that a window reaches beyond its first
  std::int64_t side = 1;    // of a tile along the last dimension
  Split rows;               // of the tile rows along the last dimension over the ranks
  // Every row of tiles is a layer, so that sums do not depend on the split; otherwise a rank has one layer.
  bool layer_per_row = false;

  // Cells of the last dimension that ranks begin with.
  Split cells() const;
};

template <class T>
class SlabGrid {
  using Complex = std::complex<T>;

 public:
  // The grid of this rank, for `count` transforms at a time. Throws Error{out_of_memory | size_overflow}. Call it on
  // every rank; it does not communicate.
  void bind(const Communicator& ranks, const SlabShape& shape, std::int64_t count);

  bool empty() const { return planes_ == 0; }
  const cpu::GridShape& shape() const { return grid_; }
  Complex* data() { return cells_.data(); }

  // Calls f(first stored plane, first own plane, planes) for every layer: an own plane is one of the array without
  // shared cells.
  template <class F>
  void for_each_layer(F f) const {
    for (std::int64_t i = 0; i < grid_.layers.count; ++i)
      f(i * grid_.layers.stored, i * grid_.layers.cells,
        i + 1 < grid_.layers.count ? grid_.layers.cells : grid_.layers.last_cells);
  }
  std::int64_t planes() const { return planes_; }  // without shared ones

  // After spreading: adds the sums of shared cells to the layers that own them. Collective.
  void fold(const Communicator& ranks, Complex* grid, int threads);
  // Before interpolation: fills the shared cells. Collective.
  void fill(const Communicator& ranks, Complex* grid, int threads);
  std::int64_t bytes() const { return cells_.bytes() + arrived_.bytes(); }

 private:
  void add(Complex* to, const Complex* from, std::int64_t from_row, std::int64_t from_plane, int threads) const;
  void copy(Complex* to, const Complex* from, int threads) const;
  Complex* plane(Complex* grid, std::int64_t p) const { return grid + p * stride_; }
  std::int64_t rows() const { return grid_.dim == 3 ? grid_.fine[1] : 1; }
  std::int64_t row_stride() const { return grid_.dim == 3 ? grid_.stride[1] : 0; }

  cpu::GridShape grid_;
  std::int64_t planes_ = 0, shared_ = 0, stride_ = 0;
  int before_ = 0, after_ = 0;  // the ranks with the layers around this rank's
  DataType shared_type_;        // the shared planes in a grid
  cpu::Buffer<Complex> cells_, arrived_;
};

}  // namespace fourtune::runtime::distributed
