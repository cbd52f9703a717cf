#include "runtime/backends/cpu/gridder/engine.h"

#include <algorithm>

namespace fourtune::runtime::cpu {

template <class T>
std::int64_t Workspace<T>::bytes() const {
  std::int64_t sum = tile.bytes() + gathered.bytes() +
                     static_cast<std::int64_t>(sizeof *this + rows.size() * sizeof(std::complex<T>*));
  for (const auto& b : blocks) sum += b.weights.bytes() + static_cast<std::int64_t>(sizeof b);
  return sum;
}

template <class T>
const std::uint32_t* GridderEngine<T>::records(std::int64_t position, int n, Workspace<T>& work,
                                               std::int64_t* index) const {
  const RecordForm& form = points.form();
  switch (points.order()) {
    case PointOrder::permuted: {
      const std::uint32_t* const first = points.record(position);
      for (int j = 0; j < n; ++j) index[j] = form.index(first + j * form.words);
      return first;
    }
    case PointOrder::indexed:
      for (int j = 0; j < n; ++j) {
        index[j] = points.indexed(position + j);
        std::copy_n(points.record(index[j]), form.words, work.gathered.data() + j * form.words);
      }
      return work.gathered.data();
    case PointOrder::caller:
    case PointOrder::listed:
    case PointOrder::raw:  // scattered.cpp locates them
      break;
  }
  for (int j = 0; j < n; ++j) index[j] = position + j;
  return points.record(position);
}

template <class T>
void GridderEngine<T>::load(std::int64_t position, int n, bool in_bins, Workspace<T>& work,
                            PointBlock<T>& block) const {
  kernels.evaluate(tables, tiling, points.form(), records(position, n, work, block.index), n, in_bins, block.weights);
}

template <class T>
void GridderEngine<T>::look_ahead(std::int64_t position, int distance, const std::complex<T>* values,
                                  const void* (&ahead)[kBlockPoints]) const {
  position += distance;
  const bool far = distance != 0 && points.order() != PointOrder::raw;  // raw points' values are read in order
  const std::int64_t left = far ? points.size() - position : 0;
  const int n = static_cast<int>(std::clamp<std::int64_t>(left, 0, kBlockPoints));
  if (points.order() == PointOrder::permuted) {
    for (int j = 0; j < n; ++j) ahead[j] = values + points.form().index(points.record(position + j));
  } else {
    for (int j = 0; j < n; ++j) ahead[j] = values + points.indexed(position + j);
  }
  std::fill(ahead + n, ahead + kBlockPoints, values);
}

template <class T>
void GridderEngine<T>::point_to_rows(std::int64_t tile, std::complex<T>* grid, Workspace<T>& work) const {
  const auto origin = tiling.origin(tile);
  std::size_t r = 0;
  for (int z = 0; z < tiling.padded[2]; ++z) {
    std::complex<T>* plane = grid + place(2, origin[2], z) * spec.grid.stride[2];
    for (int y = 0; y < tiling.padded[1]; ++y) {
      work.rows[r++] = plane + place(1, origin[1], y) * spec.grid.stride[1];
    }
  }
}

template <class T>
void GridderEngine<T>::bin_range(std::int64_t begin, std::int64_t end, int& first, int& last) const {
  first = 0;
  last = tiling.bins - 1;
  if (points.order() != PointOrder::permuted) return;
  int low = kMaxTile, high = 0;
  for (std::int64_t p = begin; p < end; ++p) {
    const int x = points.form().cell(points.record(p), 0);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  first = low / tiling.bin;
  last = high / tiling.bin;
}

template struct Workspace<float>;
template struct Workspace<double>;
template struct GridderEngine<float>;
template struct GridderEngine<double>;

}  // namespace fourtune::runtime::cpu
