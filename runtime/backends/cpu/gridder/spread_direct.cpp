// Families that add directly to the fine grid: atomic (paper nufft-type3-cuda, CPU version; a single thread uses plain
// additions) and colour scheduling with an index array or a static linked list (paper nufft3d-cpu-optimization,
// sections 3.2 to 3.4). Points whose window lies inside the grid use the vectorised interior version; points whose
// window wraps use the edge version.
#include <algorithm>
#include <atomic>

#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/engine.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
struct PlainAdd {
  static void add(T& to, T value) { to += value; }
};
template <class T>
struct AtomicAdd {
  static void add(T& to, T value) { std::atomic_ref<T>(to).fetch_add(value, std::memory_order_relaxed); }
};

// Adds cell by cell, with every index folded into the grid; also the interior version for atomic additions.
template <class T, class Add>
void spread_cells(const GridderEngine<T>& e, const WeightBlock<T>& b, int j, const std::array<std::int64_t, 3>& origin,
                  std::complex<T> s, std::complex<T>* grid) {
  const Tiling& g = e.tiling;
  const T* x = b.x.data() + std::int64_t{j} * 2 * g.slots;
  const int wy = g.dim > 1 ? g.width : 1, wz = g.dim > 2 ? g.width : 1;
  for (int z = 0; z < wz; ++z) {
    const T cz = g.dim > 2 ? b.z[z * kBlockPoints + j] : T{1};
    const std::int64_t gz = e.place(2, origin[2], b.cell[2][j] + z) * e.spec.grid.stride[2];
    for (int y = 0; y < wy; ++y) {
      const T c = g.dim > 1 ? b.y_weights()[y * kBlockPoints + j] * cz : T{1};
      std::complex<T>* row = grid + gz + e.place(1, origin[1], b.cell[1][j] + y) * e.spec.grid.stride[1];
      const T re = c * s.real(), im = c * s.imag();
      std::int64_t i = origin[0] + b.cell[0][j];
      for (int p = 0; p < g.width; ++p, ++i) {
        while (i >= g.fine[0]) i -= g.fine[0];
        T* cell = reinterpret_cast<T*>(row + i);
        Add::add(cell[0], re * x[2 * p]);
        Add::add(cell[1], im * x[2 * p]);
      }
    }
  }
}

template <class T>
std::complex<T> strength(const Batch<T>& batch, std::int64_t b, std::int64_t i) {
  const std::complex<T> v = batch.values[b * batch.value_distance + i];
  return batch.factor != nullptr ? multiply(v, batch.factor[i]) : v;
}

template <class T>
void spread_list(const GridderEngine<T>& e, std::int64_t tile, Workspace<T>& work, const Batch<T>& batch) {
  PointBlock<T>& block = work.blocks[0];
  const RecordForm& form = e.points.form();
  for (std::int64_t p = e.points.head(tile); p >= 0;) {
    int n = 0;
    for (; p >= 0 && n < kBlockPoints; p = e.points.next(p), ++n) {
      block.index[n] = p;
      std::copy_n(e.points.record(p), form.words, work.gathered.data() + n * form.words);
    }
    e.kernels.evaluate(e.tables, e.tiling, form, work.gathered.data(), n, false, block.weights);
    spread_block(e, block, e.tiling.origin(tile), batch);
  }
}

// Adds every point directly to the grid, whatever its neighbours in memory are.
template <class T, class Add>
void spread_unordered(GridderEngine<T>& e, const Batch<T>& batch, int threads) {
  const std::int64_t m = e.points.size();
  const bool grouped = e.points.order() == PointOrder::permuted || e.points.order() == PointOrder::indexed;
  const std::int64_t blocks =
      grouped ? static_cast<std::int64_t>(e.spread_units.size()) : (m + kBlockPoints - 1) / kBlockPoints;
  const auto one = [&](std::int64_t u, int worker) {
    Workspace<T>& work = e.workspaces[worker];
    PointBlock<T>& block = work.blocks[0];
    const std::int64_t begin = grouped ? e.spread_units[u].begin : u * kBlockPoints;
    const std::int64_t end = grouped ? e.spread_units[u].end : std::min(begin + kBlockPoints, m);
    for (std::int64_t p = begin; p < end; p += kBlockPoints) {
      e.load(p, static_cast<int>(std::min<std::int64_t>(kBlockPoints, end - p)), false, work, block);
      for (int j = 0; j < block.weights.n; ++j) {
        const auto origin = e.tiling.origin(grouped ? e.spread_units[u].tile : e.points.tile_of(p + j));
        for (std::int64_t b = 0; b < batch.count; ++b) {
          spread_cells<T, Add>(e, block.weights, j, origin, strength(batch, b, block.index[j]),
                               batch.grids + b * batch.grid_distance);
        }
      }
    }
  };
  parallel_for(threads, blocks, one, 4, Handing::ascending);
}

}  // namespace

template <class T>
void spread_block(const GridderEngine<T>& e, const PointBlock<T>& block, const std::array<std::int64_t, 3>& origin,
                  const Batch<T>& batch) {
  const int n = block.weights.n;
  std::int64_t element[kBlockPoints];
  alignas(kLine) std::complex<T> strengths[kBlockPoints];
  for (int j = 0; j < n; ++j) element[j] = e.element(block.weights, j, origin);
  for (std::int64_t b = 0; b < batch.count; ++b) {
    std::complex<T>* grid = batch.grids + b * batch.grid_distance;
    for (int j = 0; j < n; ++j) strengths[j] = strength(batch, b, block.index[j]);
    e.kernels.spread_points(block.weights, e.tiling, strengths, element, e.spec.grid.stride[1], e.spec.grid.stride[2],
                            reinterpret_cast<T*>(grid));
    for (int j = 0; j < n; ++j) {
      if (element[j] < 0) spread_cells<T, PlainAdd<T>>(e, block.weights, j, origin, strengths[j], grid);
    }
  }
}

template <class T>
void spread_coloured(GridderEngine<T>& e, const Batch<T>& batch) {
  const int colours = static_cast<int>(e.colour_start.size()) - 1;
  const auto one = [&](const Subproblem& s, Workspace<T>& work) {
    if (e.points.order() == PointOrder::listed) {
      spread_list(e, s.tile, work, batch);
      return;
    }
    for (std::int64_t p = s.begin; p < s.end; p += kBlockPoints) {
      const int n = static_cast<int>(std::min<std::int64_t>(kBlockPoints, s.end - p));
      e.look_ahead(p, generator::prefetch_distance(e.spec.spread), batch.values, work.blocks[0].weights.ahead);
      e.load(p, n, false, work, work.blocks[0]);
      spread_block(e, work.blocks[0], e.tiling.origin(s.tile), batch);
    }
  };
  for (int c = 0; c < colours; ++c) {
    const std::int64_t begin = e.colour_start[c];
    parallel_for(
        e.workers(), e.colour_start[c + 1] - begin,
        [&](std::int64_t u, int worker) { one(e.spread_units[begin + u], e.workspaces[worker]); }, 1,
        Handing::ascending);
  }
}

template <class T>
void spread_atomic(GridderEngine<T>& e, const Batch<T>& batch) {
  const int threads = e.spec.deterministic ? 1 : e.workers();
  if (threads == 1)
    spread_unordered<T, PlainAdd<T>>(e, batch, threads);
  else
    spread_unordered<T, AtomicAdd<T>>(e, batch, threads);
}

template void spread_block<float>(const GridderEngine<float>&, const PointBlock<float>&,
                                  const std::array<std::int64_t, 3>&, const Batch<float>&);
template void spread_block<double>(const GridderEngine<double>&, const PointBlock<double>&,
                                   const std::array<std::int64_t, 3>&, const Batch<double>&);
template void spread_coloured<float>(GridderEngine<float>&, const Batch<float>&);
template void spread_coloured<double>(GridderEngine<double>&, const Batch<double>&);
template void spread_atomic<float>(GridderEngine<float>&, const Batch<float>&);
template void spread_atomic<double>(GridderEngine<double>&, const Batch<double>&);

}  // namespace fourtune::runtime::cpu
