#include "runtime/distributed/slab_grid.h"

#include <algorithm>

#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::distributed {

Split SlabShape::cells() const {
  std::vector<std::int64_t> starts;
  for (int r = 0; r <= rows.parts(); ++r) {
    const std::int64_t row = r < rows.parts() ? rows.begin(r) : rows.items();
    starts.push_back(std::min(row * side, fine[static_cast<std::size_t>(dim - 1)]));
  }
  return Split(std::move(starts));
}

template <class T>
void SlabGrid<T>::bind(const Communicator& ranks, const SlabShape& shape, std::int64_t count) {
  const auto last = static_cast<std::size_t>(shape.dim - 1);
  const Split cells = shape.cells();
  const int own = ranks.rank();
  planes_ = cells.size(own);
  shared_ = shape.shared;
  cells_.release();
  arrived_.release();
  grid_ = {};
  if (planes_ == 0) return;
  cpu::GridLayers layers;
  layers.first = cells.begin(own);
  layers.cells = shape.layer_per_row ? shape.side : planes_;
  layers.count = (planes_ + layers.cells - 1) / layers.cells;
  layers.stored = layers.cells + shared_;
  layers.last_cells = planes_ - (layers.count - 1) * layers.cells;
  std::array<std::int64_t, 3> stored = shape.fine;
  stored[last] = layers.last_place() + 1;
  grid_ = cpu::padded_shape(shape.dim, stored, sizeof(Complex));
  grid_.fine = shape.fine;
  grid_.layers = layers;
  stride_ = grid_.stride[last];
  for (int step = 1; step <= ranks.size(); ++step) {
    const int next = (own + step) % ranks.size();
    if (cells.size(next) > 0) {
      after_ = next;
      break;
    }
  }
  for (int step = 1; step <= ranks.size(); ++step) {
    const int previous = (own + ranks.size() - step) % ranks.size();
    if (cells.size(previous) > 0) {
      before_ = previous;
      break;
    }
  }
  cells_.resize(checked_multiply(grid_.elements, count, "fine grids"));
  if (after_ == own) return;
  arrived_.resize(shared_ * rows() * grid_.fine[0]);
  const auto bytes = static_cast<std::int64_t>(sizeof(Complex));
  shared_type_ = planes_type(shared_, stride_ * bytes, rows(), grid_.fine[0] * bytes, row_stride() * bytes);
}

// Adds shared planes to those that `to` begins with.
template <class T>
void SlabGrid<T>::add(Complex* to, const Complex* from, std::int64_t from_row, std::int64_t from_plane,
                      int threads) const {
  const std::int64_t count = rows();
  cpu::parallel_for(threads, shared_ * count, [&](std::int64_t i) {
    const std::int64_t p = i / count, r = i % count;
    T* const sum = reinterpret_cast<T*>(to + p * stride_ + r * row_stride());
    const T* const more = reinterpret_cast<const T*>(from + p * from_plane + r * from_row);
    for (std::int64_t x = 0; x < 2 * grid_.fine[0]; ++x) sum[x] += more[x];
  });
}

template <class T>
void SlabGrid<T>::copy(Complex* to, const Complex* from, int threads) const {
  const std::int64_t count = rows();
  cpu::parallel_for(threads, shared_ * count, [&](std::int64_t i) {
    const std::int64_t at = i / count * stride_ + i % count * row_stride();
    std::copy_n(from + at, grid_.fine[0], to + at);
  });
}

template <class T>
void SlabGrid<T>::fold(const Communicator& ranks, Complex* grid, int threads) {
  if (empty() || shared_ == 0) return;
  const cpu::GridLayers& layers = grid_.layers;
  const auto within = [&] {
    for (std::int64_t i = 0; i + 1 < layers.count; ++i)
      add(plane(grid, (i + 1) * layers.stored), plane(grid, i * layers.stored + layers.cells), row_stride(), stride_,
          threads);
  };
  Complex* const end = plane(grid, (layers.count - 1) * layers.stored + layers.last_cells);
  if (after_ == ranks.rank()) {
    within();
    add(grid, end, row_stride(), stride_, threads);
    return;
  }
  const std::int64_t cells = arrived_.size();
  const DataType packed = run_type(sizeof(Complex));
  ranks.exchange({{after_, end, 1, *shared_type_}}, {{before_, arrived_.data(), cells, *packed}}, within);
  add(grid, arrived_.data(), grid_.fine[0], grid_.fine[0] * rows(), threads);
}

template <class T>
void SlabGrid<T>::fill(const Communicator& ranks, Complex* grid, int threads) {
  if (empty() || shared_ == 0) return;
  const cpu::GridLayers& layers = grid_.layers;
  const auto within = [&] {
    for (std::int64_t i = 0; i + 1 < layers.count; ++i)
      copy(plane(grid, i * layers.stored + layers.cells), plane(grid, (i + 1) * layers.stored), threads);
  };
  Complex* const end = plane(grid, (layers.count - 1) * layers.stored + layers.last_cells);
  if (after_ == ranks.rank()) {
    within();
    copy(end, grid, threads);
    return;
  }
  ranks.exchange({{before_, grid, 1, *shared_type_}}, {{after_, end, 1, *shared_type_}}, within);
}

template class SlabGrid<float>;
template class SlabGrid<double>;

}  // namespace fourtune::runtime::distributed
