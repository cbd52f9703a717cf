// Points of which tiles have too few for private copies go straight to and from the grid, in sorted order and in blocks
// that span tiles. Threads share the transforms of a batch or, of a single transform, the points: where two of them
// meet in the grid, one spreads into a band apart. So nothing is locked.
#include <algorithm>
#include <cstring>
#include <vector>

#include "generator/plan/private_tile.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/engine.h"
#include "runtime/backends/cpu/gridder/halo.h"
#include "runtime/backends/cpu/gridder/share.h"

namespace fourtune::runtime::cpu {
namespace {

using generator::kFewThreads;
using generator::kPartialBytes;

constexpr std::int64_t kPartsPerThread = 4;
constexpr double kWorthThreads = 4e4;  // cycles: about what waking a thread takes
constexpr std::int64_t kFarGridBytes = std::int64_t{1}
                                       << 20;  // cells of larger grids are asked for ahead of unsorted points

template <class T>
class Scattered {
 public:
  Scattered(GridderEngine<T>& engine, const Batch<T>& batch) : e_(engine), batch_(batch) {
    tiling_.tile[0] = kMaxTile;  // no thread owns tiles: rows may be accessed by whole lines
  }

  void spread() {
    const int workers = e_.workers();
    if (workers > 1 && batch_.count == 1 && is_long() && may_share() && !e_.spec.deterministic)
      return spread_in_parts();
    const std::int64_t shares = std::min<std::int64_t>(is_long() ? workers : 1, batch_.count);
    parallel_for(workers, shares, [&](std::int64_t s, int worker) {
      const Share mine = share_of(batch_.count, s, shares);
      for (std::int64_t b = mine.begin; b < mine.end; ++b) clear(grid(b));
      spread_blocks({0, blocks()}, mine, batch_.grids, e_.workspaces[worker]);
      for (std::int64_t b = mine.begin; b < mine.end; ++b) fold_halo(e_.spec.grid, e_.tiling.width - 1, 1, grid(b));
    });
  }

  void interpolate() {
    const int workers = is_long() ? e_.workers() : 1;
    if (batch_.count > 1 && batch_.count >= workers) {
      const std::int64_t shares = workers;
      parallel_for(workers, shares, [&](std::int64_t s, int worker) {
        const Share mine = share_of(batch_.count, s, shares);
        for (std::int64_t b = mine.begin; b < mine.end; ++b) fill_halo(e_.spec.grid, 1, grid(b));
        interpolate_blocks({0, blocks()}, mine, e_.workspaces[worker]);
      });
      return;
    }
    for (std::int64_t b = 0; b < batch_.count; ++b) fill_halo(e_.spec.grid, workers, grid(b));
    parallel_for(
        workers, blocks(),
        [&](std::int64_t k, int worker) {
          interpolate_blocks({k, k + 1}, {0, batch_.count}, e_.workspaces[worker]);
        },
        4);
  }

  // Whether a single transform can be shared: other threads' bands must not take much memory.
  bool may_share() const {
    if (e_.raw || partial_bytes(e_, e_.workers()) <= kPartialBytes) return true;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(std::complex<T>));
    return apart_elements(parts_of(e_.workers())) * kBytes <= kPartialBytes;
  }
  static std::int64_t partial_bytes(const GridderEngine<T>& e, std::int64_t workers) {
    return (workers - 1) * e.spec.grid.elements * static_cast<std::int64_t>(sizeof(std::complex<T>));
  }

 private:
  static constexpr std::int64_t kLineCells = kLine / static_cast<std::int64_t>(sizeof(std::complex<T>));
  std::int64_t blocks() const { return (e_.points.size() + kBlockPoints - 1) / kBlockPoints; }
  std::complex<T>* grid(std::int64_t b) const { return batch_.grids + b * batch_.grid_distance; }
  void clear(std::complex<T>* grid) const { clear_elements(grid, e_.spec.grid.elements); }
  static void clear_elements(std::complex<T>* first, std::int64_t n) {
    if (n > 0) std::memset(static_cast<void*>(first), 0, static_cast<std::size_t>(n) * sizeof *first);
  }
  bool is_far() const {
    return e_.spec.grid.elements * static_cast<std::int64_t>(sizeof(std::complex<T>)) > kFarGridBytes;
  }
  // Asks for the cells of windows that begin at these elements of a grid, each in another part of it.
  void fetch_cells(const std::int64_t* element, int n, const std::complex<T>* grid) const {
    for (int j = 0; j < n; ++j) {
      const std::complex<T>* const window = grid + element[j];
      for (std::int64_t i = 0; i < e_.tiling.width; i += kLineCells) __builtin_prefetch(window + i, 0, 3);
      __builtin_prefetch(window + e_.tiling.width - 1, 0, 3);
    }
  }
  // Whether the points take longer than waking a thread.
  bool is_long() const {
    double rows = 1;
    for (int d = 1; d < e_.tiling.dim; ++d) rows *= e_.tiling.width;
    const double lines = rows * e_.tiling.slots * static_cast<double>(sizeof(std::complex<T>)) / kLine;
    return static_cast<double>(batch_.count * e_.points.size()) * (40 + 2 * lines) > kWorthThreads;
  }

  // One thread's blocks. Sorted points follow the layers (rows in 2D, planes in 3D) of the grid, so parts meet in a few
  // layers only: the blocks before `direct` reach layers of the part before, and go to a band of layers apart, which is
  // added to the grid when all are done. Unsorted points have a band of all layers.
  struct ThreadPart {
    Share blocks;
    std::int64_t direct;  // blocks from here on go straight to the grid
    Share own;            // layers that this part clears, in which its direct blocks and those of no other end
    Share band;           // layers
    std::complex<T>* apart;
  };
  std::int64_t layer_elements() const { return e_.spec.grid.stride[e_.tiling.dim - 1]; }
  std::int64_t layers() const {
    const int d = e_.tiling.dim - 1;
    return e_.tiling.dim == 1 ? e_.spec.grid.elements : e_.spec.grid.fine[d] + e_.spec.grid.halo[d];
  }
  // The layers that windows of a block may reach; in one dimension, where a layer is a cell, all of the lines that they
  // touch.
  Share reach(std::int64_t block) const {
    if (e_.raw) return {0, layers()};
    const int d = e_.tiling.dim - 1;
    const std::int64_t last_point = std::min((block + 1) * kBlockPoints, e_.points.size()) - 1;
    const Subproblem* first = e_.interp_units.data() + e_.block_unit[block];
    const Subproblem* last = first;
    while (last_point >= last->end) ++last;
    const std::int64_t side = e_.tiling.tile[d], line = d == 0 ? kLineCells : 1;
    const std::int64_t begin = e_.tiling.position(first->tile)[d] * side;
    const std::int64_t end = (e_.tiling.position(last->tile)[d] + 1) * side + e_.tiling.width - 1;
    return {begin / line * line, std::min(layers(), (end + line - 1) / line * line)};
  }
  std::vector<ThreadPart> parts_of(std::int64_t count) const {
    std::vector<ThreadPart> parts;
    std::int64_t taken = 0;  // layers that the parts so far reach
    for (std::int64_t p = 0; p < count; ++p) {
      const Share mine = share_of(blocks(), p, count);
      ThreadPart part{mine, mine.begin, {taken, layers()}, {0, 0}, nullptr};
      if (mine.begin < mine.end) {
        while (part.direct < mine.end && reach(part.direct).begin < taken) ++part.direct;
        if (part.direct > mine.begin) part.band = {reach(mine.begin).begin, reach(part.direct - 1).end};
        if (part.direct < mine.end) taken = std::max(taken, reach(mine.end - 1).end);
      }
      if (!parts.empty()) parts.back().own.end = part.own.begin;
      parts.push_back(part);
    }
    return parts;
  }

  std::int64_t apart_elements(const std::vector<ThreadPart>& parts) const {
    std::int64_t sum = 0;
    for (const ThreadPart& part : parts) sum += (part.band.end - part.band.begin) * layer_elements();
    return sum;
  }

  void spread_in_parts() {
    const std::int64_t layer = layer_elements();
    // Bands of one dimension are short, so parts are small enough for a thread to take over some of another's.
    std::vector<ThreadPart> parts = parts_of(e_.workers() * (e_.tiling.dim == 1 && !e_.raw ? kPartsPerThread : 1));
    e_.partial.resize(apart_elements(parts));
    std::int64_t apart = 0;
    for (ThreadPart& part : parts) {
      part.apart = e_.partial.data() + apart;
      apart += (part.band.end - part.band.begin) * layer;
    }
    const auto count = static_cast<std::int64_t>(parts.size());
    parallel_for(e_.workers(), count, [&](std::int64_t p, int worker) {
      const ThreadPart& part = parts[p];
      const std::int64_t end = p + 1 == count ? e_.spec.grid.elements : part.own.end * layer;
      clear_elements(batch_.grids + part.own.begin * layer, end - part.own.begin * layer);
      clear_elements(part.apart, (part.band.end - part.band.begin) * layer);
      spread_blocks({part.blocks.begin, part.direct}, {0, 1}, part.apart, e_.workspaces[worker],
                    part.band.begin * layer);
      spread_blocks({part.direct, part.blocks.end}, {0, 1}, batch_.grids, e_.workspaces[worker]);
    });
    parallel_for(e_.workers(), count, [&](std::int64_t share) {
      const Share mine = share_of(layers(), share, count);
      for (const ThreadPart& part : parts) {
        const std::int64_t begin = std::max(mine.begin, part.band.begin), end = std::min(mine.end, part.band.end);
        T* const to = reinterpret_cast<T*>(batch_.grids + begin * layer);
        const T* const from = reinterpret_cast<const T*>(part.apart + (begin - part.band.begin) * layer);
        for (std::int64_t i = 0; i < 2 * (end - begin) * layer; ++i) to[i] += from[i];
      }
    });
    fold_halo(e_.spec.grid, e_.tiling.width - 1, e_.workers(), batch_.grids);
  }

  // Unsorted points: locates them and asks for their cells, which arrive while weights are evaluated. origin: the first
  // cells of their tiles.
  void locate_raw(std::int64_t first, int n, Located& chunk, std::int64_t* origin, const std::complex<T>* grid) const {
    e_.points.locate_raw(first, n, chunk);
    for (int j = 0; j < n; ++j) origin[j] = std::int64_t{chunk.key[j]} * e_.tiling.tile[0];
    if (!is_far()) return;
    std::int64_t element[kBlockPoints];
    const int bits = e_.points.form().fraction;
    for (int j = 0; j < n; ++j) element[j] = origin[j] + static_cast<std::int64_t>(chunk.word[0][j] >> bits);
    fetch_cells(element, n, grid);
  }
  void load_raw(std::int64_t first, int n, const std::complex<T>* grid, PointBlock<T>& block) const {
    Located chunk;
    locate_raw(first, n, chunk, block.element, grid);
    const int bits = e_.points.form().fraction;
    for (int j = 0; j < n; ++j) block.element[j] += static_cast<std::int64_t>(chunk.word[0][j] >> bits);
    e_.kernels.evaluate(e_.tables, e_.tiling, e_.points.form(), reinterpret_cast<const std::uint32_t*>(chunk.word[0]),
                        n, false, block.weights);
  }

  // first_grid: of the first transform that the block is for.
  void load(std::int64_t k, const std::complex<T>* first_grid, Workspace<T>& work, PointBlock<T>& block) const {
    const std::int64_t p = k * kBlockPoints;
    const int n = static_cast<int>(std::min<std::int64_t>(kBlockPoints, e_.points.size() - p));
    if (e_.raw) return load_raw(p, n, first_grid, block);
    e_.load(p, n, false, work, block);
    const Subproblem* unit = e_.interp_units.data() + e_.block_unit[k];
    auto origin = e_.tiling.origin(unit->tile);
    for (int j = 0; j < block.weights.n; ++j) {
      if (p + j >= unit->end) {
        while (p + j >= unit->end) ++unit;
        origin = e_.tiling.origin(unit->tile);
      }
      block.element[j] = e_.element(block.weights, j, origin);
    }
  }

  // Calls one(block, first, b) for all of these blocks and transforms; the block's points begin at `first`. Weights are
  // evaluated once for the transforms.
  template <class F>
  void each(Share blocks, Share transforms, std::int64_t ahead, Workspace<T>& work, F one) const {
    const std::int64_t kept = transforms.end - transforms.begin > 1 ? static_cast<std::int64_t>(work.blocks.size()) : 1;
    for (std::int64_t k = blocks.begin; k < blocks.end; k += kept) {
      const std::int64_t n = std::min(kept, blocks.end - k);
      for (std::int64_t i = 0; i < n; ++i) {
        e_.look_ahead((k + i) * kBlockPoints, ahead, batch_.values, work.blocks[i].weights.ahead);
        load(k + i, grid(transforms.begin), work, work.blocks[i]);
      }
      for (std::int64_t b = transforms.begin; b < transforms.end; ++b)
        for (std::int64_t i = 0; i < n; ++i) one(work.blocks[i], (k + i) * kBlockPoints, b);
    }
  }
  // Whether the values of a block's points follow each other in the caller's array and go to and from the kernels as
  // they are.
  bool in_order() const { return e_.raw && batch_.factor == nullptr; }
  std::int64_t index(const PointBlock<T>& block, std::int64_t first, int j) const {
    return e_.raw ? first + j : block.index[j];
  }

  // One transform of one dimension, whose windows are evaluated as they are spread.
  void spread_lines(Share blocks, std::int64_t transform, std::complex<T>* grids, Workspace<T>& work,
                    std::int64_t first_element) const {
    const std::complex<T>* const values = batch_.values + transform * batch_.value_distance;
    std::complex<T>* const grid = grids + transform * batch_.grid_distance;
    const RecordForm& form = e_.points.form();
    const int distance = generator::prefetch_distance(e_.spec.spread);
    std::int64_t index[kBlockPoints], origin[kBlockPoints];
    const void* ahead[kBlockPoints];
    Located chunk;
    for (std::int64_t k = blocks.begin; k < blocks.end; ++k) {
      const std::int64_t p = k * kBlockPoints;
      const int n = static_cast<int>(std::min<std::int64_t>(kBlockPoints, e_.points.size() - p));
      const std::uint32_t* records = nullptr;
      e_.look_ahead(p, distance, values, ahead);
      if (e_.raw) {
        locate_raw(p, n, chunk, origin, grid);
        records = reinterpret_cast<const std::uint32_t*>(chunk.word[0]);
      } else {
        records = e_.records(p, n, work, index);
        find_origins(k, p, n, origin);
      }
      const std::complex<T>* strengths = values + p;
      if (!in_order()) {
        for (int j = 0; j < n; ++j) {
          const std::int64_t i = e_.raw ? p + j : index[j];
          work.values[j] = batch_.factor != nullptr ? multiply(values[i], batch_.factor[i]) : values[i];
        }
        strengths = work.values;
      }
      for (int j = 0; j < n && first_element != 0; ++j) origin[j] -= first_element;
      e_.kernels.spread_line(e_.tables, form, records, n, {origin, strengths, ahead}, reinterpret_cast<T*>(grid));
    }
  }
  // The first cells of the tiles of sorted points.
  void find_origins(std::int64_t block, std::int64_t first, int n, std::int64_t* origin) const {
    const Subproblem* unit = e_.interp_units.data() + e_.block_unit[block];
    for (int j = 0; j < n; ++unit) {
      const int end = static_cast<int>(std::min<std::int64_t>(n, unit->end - first));
      std::fill(origin + j, origin + end, unit->tile * e_.tiling.tile[0]);
      j = end;
    }
  }
  bool is_at_line(const std::complex<T>* grids) const {
    return reinterpret_cast<std::uintptr_t>(grids) % kLine == 0 && batch_.grid_distance % kLineCells == 0;
  }

  // grids: that of transform 0, from its element number `first_element` on.
  void spread_blocks(Share blocks, Share transforms, std::complex<T>* grids, Workspace<T>& work,
                     std::int64_t first_element = 0) const {
    if (transforms.end - transforms.begin == 1 && e_.spreads_lines() && is_at_line(grids))
      return spread_lines(blocks, transforms.begin, grids, work, first_element);
    const GridShape& g = e_.spec.grid;
    each(blocks, transforms, generator::prefetch_distance(e_.spec.spread), work,
         [&](const PointBlock<T>& block, std::int64_t first, std::int64_t b) {
           const std::complex<T>* values = batch_.values + b * batch_.value_distance;
           if (in_order()) {
             values += first;
           } else {
             for (int j = 0; j < block.weights.n; ++j) {
               const std::int64_t i = index(block, first, j);
               work.values[j] = batch_.factor != nullptr ? multiply(values[i], batch_.factor[i]) : values[i];
             }
             values = work.values;
           }
           std::int64_t element[kBlockPoints];
           for (int j = 0; j < block.weights.n; ++j) element[j] = block.element[j] - first_element;
           const auto spread = e_.points.in_pairs() ? e_.kernels.spread_pairs : e_.kernels.spread_points;
           spread(block.weights, tiling_, values, element, g.stride[1], g.stride[2],
                  reinterpret_cast<T*>(grids + b * batch_.grid_distance));
         });
  }

  void interpolate_blocks(Share blocks, Share transforms, Workspace<T>& work) const {
    const GridShape& g = e_.spec.grid;
    each(blocks, transforms, generator::prefetch_distance(e_.spec.interp), work,
         [&](const PointBlock<T>& block, std::int64_t first, std::int64_t b) {
           if (e_.raw && b > transforms.begin && is_far()) fetch_cells(block.element, block.weights.n, grid(b));
           std::complex<T>* const values = batch_.values + b * batch_.value_distance;
           std::complex<T>* const to = in_order() ? values + first : work.values;
           e_.kernels.interpolate_points(block.weights, tiling_, reinterpret_cast<const T*>(grid(b)), block.element,
                                         g.stride[1], g.stride[2], to);
           for (int j = 0; j < block.weights.n && !in_order(); ++j) {
             const std::int64_t i = index(block, first, j);
             values[i] = batch_.factor != nullptr ? multiply(to[j], batch_.factor[i]) : to[j];
           }
         });
  }

  GridderEngine<T>& e_;
  const Batch<T>& batch_;
  Tiling tiling_ = e_.tiling;
};

}  // namespace

template <class T>
bool may_spread_scattered(GridderEngine<T>& engine, std::int64_t count) {
  if (engine.points.order() == PointOrder::raw) return true;
  return !engine.block_unit.empty() && (count >= engine.workers() || Scattered<T>(engine, {}).may_share());
}
template <class T>
bool may_stay_raw(const GridderEngine<T>& engine) {
  const int threads = team_size(engine.spec.threads);
  return threads <= kFewThreads || Scattered<T>::partial_bytes(engine, threads) <= kPartialBytes;
}
template <class T>
std::int64_t most_partial_bytes(const GridderEngine<T>& engine) {
  const std::int64_t all = Scattered<T>::partial_bytes(engine, team_size(engine.spec.threads));
  return !engine.has_halo() ? 0 : engine.raw ? all : std::min(kPartialBytes, all);
}
template <class T>
void spread_scattered(GridderEngine<T>& engine, const Batch<T>& batch) {
  Scattered<T>(engine, batch).spread();
}
template <class T>
void interpolate_scattered(GridderEngine<T>& engine, const Batch<T>& batch) {
  Scattered<T>(engine, batch).interpolate();
}

template bool may_spread_scattered<float>(GridderEngine<float>&, std::int64_t);
template bool may_spread_scattered<double>(GridderEngine<double>&, std::int64_t);
template bool may_stay_raw<float>(const GridderEngine<float>&);
template bool may_stay_raw<double>(const GridderEngine<double>&);
template std::int64_t most_partial_bytes<float>(const GridderEngine<float>&);
template std::int64_t most_partial_bytes<double>(const GridderEngine<double>&);
template void spread_scattered<float>(GridderEngine<float>&, const Batch<float>&);
template void spread_scattered<double>(GridderEngine<double>&, const Batch<double>&);
template void interpolate_scattered<float>(GridderEngine<float>&, const Batch<float>&);
template void interpolate_scattered<double>(GridderEngine<double>&, const Batch<double>&);

}  // namespace fourtune::runtime::cpu
