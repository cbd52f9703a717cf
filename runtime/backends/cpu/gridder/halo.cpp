#include "runtime/backends/cpu/gridder/halo.h"

#include <algorithm>

#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kSharedCells = std::int64_t{1} << 18;  // threads pay off for grids of this size

// Calls f(start, cells, halo) for every piece of the grid whose last dimension with a halo is d: `cells` numbers of the
// grid, followed by `halo` numbers that stand for the first ones. Pieces of later dimensions are whole rows or planes.
template <class T, class F>
void each_piece(const GridShape& g, int d, std::int64_t reach, int threads, std::complex<T>* grid, F f) {
  const std::int64_t rows = d == 0 ? g.fine[1] : 1, planes = d < 2 ? g.fine[2] : 1;
  const std::int64_t cells = 2 * g.fine[d] * g.stride[d], halo = 2 * (d == 0 ? reach : g.halo[d]) * g.stride[d];
  parallel_for(g.elements >= kSharedCells ? threads : 1, planes, [&](std::int64_t z) {
    for (std::int64_t y = 0; y < rows; ++y)
      f(reinterpret_cast<T*>(grid + z * g.stride[2] + y * g.stride[1]), cells, halo);
  });
}

}  // namespace

template <class T>
void fold_halo(const GridShape& shape, std::int64_t reach, int threads, std::complex<T>* grid) {
  for (int d = shape.dim; d-- > 0;)
    each_piece(shape, d, reach, threads, grid, [](T* start, std::int64_t cells, std::int64_t halo) {
      const T* from = start + cells;
      for (; halo > 0; from += cells, halo -= cells)
        for (std::int64_t i = 0, n = std::min(cells, halo); i < n; ++i) start[i] += from[i];
    });
}

template <class T>
void fill_halo(const GridShape& shape, int threads, std::complex<T>* grid) {
  for (int d = 0; d < shape.dim; ++d)
    each_piece(shape, d, shape.halo[0], threads, grid, [](T* start, std::int64_t cells, std::int64_t halo) {
      T* to = start + cells;
      for (; halo > 0; to += cells, halo -= cells) std::copy_n(start, std::min(cells, halo), to);
    });
}

template void fold_halo<float>(const GridShape&, std::int64_t, int, std::complex<float>*);
template void fold_halo<double>(const GridShape&, std::int64_t, int, std::complex<double>*);
template void fill_halo<float>(const GridShape&, int, std::complex<float>*);
template void fill_halo<double>(const GridShape&, int, std::complex<double>*);

}  // namespace fourtune::runtime::cpu
