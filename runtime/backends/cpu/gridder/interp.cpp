// Interpolation families: tile (a padded tile is copied to private aligned rows, from which its points read) and direct
// (every point reads the fine grid).
#include <algorithm>

#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/engine.h"

namespace fourtune::runtime::cpu {
namespace {

int block_size(std::int64_t p, std::int64_t end) {
  return static_cast<int>(std::min<std::int64_t>(kBlockPoints, end - p));
}

template <class T>
void store_value(const Batch<T>& batch, std::int64_t b, std::int64_t i, std::complex<T> v) {
  batch.values[b * batch.value_distance + i] = batch.factor != nullptr ? multiply(v, batch.factor[i]) : v;
}

// Copies x-bins first .. last of the padded tile into the private layout. Cells beyond the tile have weight zero.
template <class T>
void copy_tile(const GridderEngine<T>& e, std::int64_t tile, int first, int last, std::complex<T>* grid,
               Workspace<T>& work) {
  const Tiling& g = e.tiling;
  e.point_to_rows(tile, grid, work);
  const std::int64_t x0 = g.origin(tile)[0], rows = g.rows();
  last = std::min(last, (g.extent(g.origin(tile))[0] - g.width) / g.bin);
  for (int b = first; b <= last; ++b) {
    T* bin = work.tile.data() + 2 * b * rows * g.slots;
    const std::int64_t x = (x0 + b * g.bin) % g.fine[0];
    if (x + g.slots <= e.row_cells()) {
      e.kernels.copy_bin(work.rows.data(), x, rows, g.slots, bin);
      continue;
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t at = x;
      for (int i = 0; i < g.slots; ++i, ++at) {
        while (at >= g.fine[0]) at -= g.fine[0];
        bin[2 * (r * g.slots + i)] = work.rows[r][at].real();
        bin[2 * (r * g.slots + i) + 1] = work.rows[r][at].imag();
      }
    }
  }
}

template <class T>
void interpolate_unit(const GridderEngine<T>& e, const Subproblem& s, Workspace<T>& work, const Batch<T>& batch) {
  const std::int64_t kept = static_cast<std::int64_t>(work.blocks.size()) * kBlockPoints;
  const bool keep = batch.count > 1;
  for (std::int64_t begin = s.begin; begin < s.end;) {
    const std::int64_t end = keep ? std::min(s.end, begin + kept) : s.end;
    int first = 0, last = 0;
    e.bin_range(begin, end, first, last);
    if (!e.worth_a_tile(s.tile, end - begin, first, last, kInterpTile)) {
      std::array<std::int64_t, 3> origins[kBlockPoints];
      std::fill(origins, origins + kBlockPoints, e.tiling.origin(s.tile));
      for (std::int64_t p = begin; p < end; p += kBlockPoints) {
        e.look_ahead(p, generator::prefetch_distance(e.spec.interp), batch.values, work.blocks[0].weights.ahead);
        e.load(p, block_size(p, end), false, work, work.blocks[0]);
        interpolate_block(e, work.blocks[0], origins, batch);
      }
      begin = end;
      continue;
    }
    int k = 0;
    for (std::int64_t p = begin; keep && p < end; p += kBlockPoints) {
      e.load(p, block_size(p, end), true, work, work.blocks[k++]);
    }
    for (std::int64_t b = 0; b < batch.count; ++b) {
      copy_tile(e, s.tile, first, last, batch.grids + b * batch.grid_distance, work);
      k = 0;
      for (std::int64_t p = begin; p < end; p += kBlockPoints) {
        PointBlock<T>& block = work.blocks[keep ? k++ : 0];
        if (!keep) {
          e.look_ahead(p, generator::prefetch_distance(e.spec.interp), batch.values, block.weights.ahead);
          e.load(p, block_size(p, end), true, work, block);
        }
        e.kernels.interpolate(block.weights, e.tiling, work.tile.data(), work.values);
        for (int j = 0; j < block.weights.n; ++j) store_value(batch, b, block.index[j], work.values[j]);
      }
    }
    begin = end;
  }
}

// The version for the grid's edges: folds every index into the grid.
template <class T>
std::complex<T> interpolate_cells(const GridderEngine<T>& e, const WeightBlock<T>& b, int j,
                                  const std::array<std::int64_t, 3>& origin, const std::complex<T>* grid) {
  const Tiling& g = e.tiling;
  const T* x = b.x.data() + std::int64_t{j} * 2 * g.slots;
  const int wy = g.dim > 1 ? g.width : 1, wz = g.dim > 2 ? g.width : 1;
  T re = 0, im = 0;
  for (int z = 0; z < wz; ++z) {
    const T cz = g.dim > 2 ? b.z[z * kBlockPoints + j] : T{1};
    const std::int64_t gz = e.place(2, origin[2], b.cell[2][j] + z) * e.spec.grid.stride[2];
    for (int y = 0; y < wy; ++y) {
      const T c = g.dim > 1 ? b.y_weights()[y * kBlockPoints + j] * cz : T{1};
      const std::complex<T>* row = grid + gz + e.place(1, origin[1], b.cell[1][j] + y) * e.spec.grid.stride[1];
      T row_re = 0, row_im = 0;
      std::int64_t i = origin[0] + b.cell[0][j];
      for (int p = 0; p < g.width; ++p, ++i) {
        while (i >= g.fine[0]) i -= g.fine[0];
        row_re += x[2 * p] * row[i].real();
        row_im += x[2 * p] * row[i].imag();
      }
      re += c * row_re;
      im += c * row_im;
    }
  }
  return {re, im};
}

}  // namespace

template <class T>
void interpolate_block(const GridderEngine<T>& e, const PointBlock<T>& block,
                       const std::array<std::int64_t, 3>* origins, const Batch<T>& batch) {
  const int n = block.weights.n;
  std::int64_t element[kBlockPoints];
  alignas(kLine) std::complex<T> values[kBlockPoints];
  for (int j = 0; j < n; ++j) element[j] = e.element(block.weights, j, origins[j]);
  for (std::int64_t b = 0; b < batch.count; ++b) {
    const std::complex<T>* grid = batch.grids + b * batch.grid_distance;
    e.kernels.interpolate_points(block.weights, e.tiling, reinterpret_cast<const T*>(grid), element,
                                 e.spec.grid.stride[1], e.spec.grid.stride[2], values);
    for (int j = 0; j < n; ++j) {
      if (element[j] < 0) values[j] = interpolate_cells(e, block.weights, j, origins[j], grid);
      store_value(batch, b, block.index[j], values[j]);
    }
  }
}

template <class T>
void interpolate_tiles(GridderEngine<T>& e, const Batch<T>& batch) {
  parallel_for(
      e.workers(), static_cast<std::int64_t>(e.interp_units.size()),
      [&](std::int64_t u, int worker) { interpolate_unit(e, e.interp_units[u], e.workspaces[worker], batch); }, 1,
      Handing::ascending);
}

template <class T>
void interpolate_direct(GridderEngine<T>& e, const Batch<T>& batch) {
  const std::int64_t m = e.points.size();
  const bool grouped = e.points.order() == PointOrder::permuted || e.points.order() == PointOrder::indexed;
  const std::int64_t units =
      grouped ? static_cast<std::int64_t>(e.interp_units.size()) : (m + kBlockPoints - 1) / kBlockPoints;
  const auto one = [&](std::int64_t u, int worker) {
    Workspace<T>& work = e.workspaces[worker];
    PointBlock<T>& block = work.blocks[0];
    std::array<std::int64_t, 3> origins[kBlockPoints];
    const std::int64_t begin = grouped ? e.interp_units[u].begin : u * kBlockPoints;
    const std::int64_t end = grouped ? e.interp_units[u].end : std::min(begin + kBlockPoints, m);
    for (std::int64_t p = begin; p < end; p += kBlockPoints) {
      e.load(p, block_size(p, end), false, work, block);
      if (grouped) {
        e.look_ahead(p, generator::prefetch_distance(e.spec.interp), batch.values, block.weights.ahead);
        std::fill(origins, origins + block.weights.n, e.tiling.origin(e.interp_units[u].tile));
      } else {
        for (int j = 0; j < block.weights.n; ++j) origins[j] = e.tiling.origin(e.points.tile_of(p + j));
      }
      interpolate_block(e, block, origins, batch);
    }
  };
  parallel_for(e.workers(), units, one, 4, Handing::ascending);
}

template void interpolate_block<float>(const GridderEngine<float>&, const PointBlock<float>&,
                                       const std::array<std::int64_t, 3>*, const Batch<float>&);
template void interpolate_block<double>(const GridderEngine<double>&, const PointBlock<double>&,
                                        const std::array<std::int64_t, 3>*, const Batch<double>&);
template void interpolate_tiles<float>(GridderEngine<float>&, const Batch<float>&);
template void interpolate_tiles<double>(GridderEngine<double>&, const Batch<double>&);
template void interpolate_direct<float>(GridderEngine<float>&, const Batch<float>&);
template void interpolate_direct<double>(GridderEngine<double>&, const Batch<double>&);

}  // namespace fourtune::runtime::cpu
