// Family subgrid: spreads every subproblem into a private tile of aligned rows, then adds the tile to the fine grid.
#include <algorithm>

#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/engine.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
class SubgridSpreader {
 public:
  SubgridSpreader(GridderEngine<T>& engine, TileLocks* locks, const Batch<T>& batch)
      : e_(engine), g_(engine.tiling), locks_(locks), batch_(batch) {}

  void run() {
    const bool coloured = !e_.colour_start.empty();
    const int colours = coloured ? static_cast<int>(e_.colour_start.size()) - 1 : 1;
    for (int c = 0; c < colours; ++c) {
      const std::int64_t begin = coloured ? e_.colour_start[c] : 0;
      const std::int64_t end = coloured ? e_.colour_start[c + 1] : static_cast<std::int64_t>(e_.spread_units.size());
      // Subproblems of a colour are handed out in order, so the part that a later part waits for has always been
      // started already. With locks, threads start far from each other, as neighbours wait for each other.
      const auto one = [&](std::int64_t u, int worker) {
        subproblem(e_.spread_units[begin + u], coloured ? &e_.turns[begin + u] : nullptr, e_.workspaces[worker]);
      };
      parallel_for(e_.workers(), end - begin, one, 1, coloured ? Handing::ascending : Handing::shares);
    }
  }

 private:
  // Lets the next part add, even when this one fails, because others wait for it.
  struct Opener {
    explicit Opener(Gate* gate) : turn(gate) {}
    Opener(const Opener&) = delete;
    Opener& operator=(const Opener&) = delete;
    ~Opener() {
      if (turn != nullptr) turn->open();
    }
    Gate* const turn;
  };
  // Spreads one piece at a time: blocks of weights are evaluated once and used for every transform.
  void subproblem(const Subproblem& s, Gate* turn, Workspace<T>& work) {
    const Opener after(turn);
    const std::int64_t kept = static_cast<std::int64_t>(work.blocks.size()) * kBlockPoints;
    bool waited = turn == nullptr || s.part == 0;
    for (std::int64_t begin = s.begin; begin < s.end;) {
      const std::int64_t end = batch_.count == 1 ? s.end : std::min(s.end, begin + kept);
      int first = 0, last = 0;
      e_.bin_range(begin, end, first, last);
      if (!e_.worth_a_tile(s.tile, end - begin, first, last, kSpreadTile)) {
        if (!waited) turn[-1].wait();
        waited = true;
        spread_few(s.tile, begin, end, turn == nullptr, work);
        begin = end;
        continue;
      }
      if (batch_.count > 1) {
        load_blocks(begin, end, work);
      } else {
        e_.point_to_rows(s.tile, batch_.grids, work);
      }
      for (std::int64_t b = 0; b < batch_.count; ++b) {
        int k = 0;
        for (std::int64_t p = begin; p < end; p += kBlockPoints, ++k) {
          PointBlock<T>& block = work.blocks[batch_.count > 1 ? k : 0];
          if (batch_.count == 1) {
            e_.look_ahead(p, generator::prefetch_distance(e_.spec.spread), batch_.values, block.weights.ahead);
            prefetch_rows((p - begin) / kBlockPoints, (end - begin) / kBlockPoints, g_.origin(s.tile)[0], first, last,
                          work);
            e_.load(p, block_size(p, end), true, work, block);
          }
          gather(block, b, work);
          e_.kernels.spread(block.weights, g_, work.values, work.tile.data());
        }
        if (!waited) turn[-1].wait();
        waited = true;
        add(s.tile, first, last, batch_.grids + b * batch_.grid_distance, turn == nullptr, work);
      }
      begin = end;
    }
  }
  // Handles pieces with so few points that zeroing and adding a private tile would cost more than spreading them.
  void spread_few(std::int64_t tile, std::int64_t begin, std::int64_t end, bool locked, Workspace<T>& work) {
    if (locked) locks_->lock(tile, work.locked);
    for (std::int64_t p = begin; p < end; p += kBlockPoints) {
      e_.look_ahead(p, generator::prefetch_distance(e_.spec.spread), batch_.values, work.blocks[0].weights.ahead);
      e_.load(p, block_size(p, end), false, work, work.blocks[0]);
      spread_block(e_, work.blocks[0], g_.origin(tile), batch_);
    }
    if (locked) locks_->unlock(work.locked);
  }
  static int block_size(std::int64_t p, std::int64_t end) {
    return static_cast<int>(std::min<std::int64_t>(kBlockPoints, end - p));
  }
  void load_blocks(std::int64_t begin, std::int64_t end, Workspace<T>& work) {
    int k = 0;
    for (std::int64_t p = begin; p < end; p += kBlockPoints)
      e_.load(p, block_size(p, end), true, work, work.blocks[k++]);
  }
  void gather(const PointBlock<T>& block, std::int64_t b, Workspace<T>& work) const {
    const std::complex<T>* v = batch_.values + b * batch_.value_distance;
    for (int j = 0; j < block.weights.n; ++j) {
      const std::int64_t i = block.index[j];
      work.values[j] = batch_.factor != nullptr ? multiply(v[i], batch_.factor[i]) : v[i];
    }
  }

  // Bins overlap in the fine grid. Several planes of rows are added together, so that a bin's additions have left the
  // store buffer before its neighbour reads the same cells.
  void add(std::int64_t tile, int first, int last, std::complex<T>* grid, bool locked, Workspace<T>& work) {
    if (locked) locks_->lock(tile, work.locked);
    e_.point_to_rows(tile, grid, work);
    const auto extent = g_.extent(g_.origin(tile));
    last = std::min(last, (extent[0] - g_.width) / g_.bin);
    if (extent[1] == g_.padded[1]) {
      add_rows(tile, first, last, 0, std::int64_t{extent[1]} * extent[2], work);
    } else {
      for (int z = 0; z < extent[2]; ++z) add_rows(tile, first, last, std::int64_t{z} * g_.padded[1], extent[1], work);
    }
    if (locked) locks_->unlock(work.locked);
  }
  // Block k of n prefetches its share of the fine grid's lines that add() will need.
  void prefetch_rows(std::int64_t k, std::int64_t n, std::int64_t origin_x, int first, int last,
                     const Workspace<T>& work) const {
    const std::int64_t rows = g_.rows();
    const std::int64_t begin = rows * k / (n + 1), end = rows * (k + 1) / (n + 1);
    const std::int64_t x0 = origin_x + std::int64_t{first} * g_.bin;
    const std::int64_t cells =
        std::min<std::int64_t>(std::int64_t{last - first} * g_.bin + g_.slots, e_.row_cells() - x0);
    constexpr std::int64_t kLineCells = kLine / static_cast<std::int64_t>(sizeof(std::complex<T>));
    for (std::int64_t r = begin; r < end; ++r) {
      const std::complex<T>* row = work.rows[r] + x0;
      for (std::int64_t i = 0; i < cells; i += kLineCells) __builtin_prefetch(row + i, 1, 2);
    }
  }
  void add_rows(std::int64_t tile, int first, int last, std::int64_t row, std::int64_t rows, Workspace<T>& work) const {
    const auto origin = g_.origin(tile);
    const int cells = g_.extent(origin)[0];
    const std::int64_t bin_stride = g_.rows() * g_.slots;
    for (const std::int64_t end = row + rows; row < end; row += kRowsTogether) {
      const std::int64_t n = std::min(kRowsTogether, end - row);
      for (int b = first; b <= last; ++b) {
        T* bin = work.tile.data() + 2 * (b * bin_stride + row * g_.slots);
        add_part(bin, n, work.rows.data() + row, (origin[0] + b * g_.bin) % g_.fine[0],
                 std::min(g_.slots, cells - b * g_.bin));
      }
    }
  }
  void add_part(T* bin, std::int64_t rows, std::complex<T>* const* grid_rows, std::int64_t x, int cells) const {
    if (x + cells <= e_.row_cells()) {
      e_.kernels.add_bin(bin, rows, g_.slots, grid_rows, x, cells);
      return;
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      T* from = bin + 2 * r * g_.slots;
      std::int64_t at = x;
      for (int i = 0; i < cells; ++i, ++at) {
        while (at >= g_.fine[0]) at -= g_.fine[0];
        grid_rows[r][at] += std::complex<T>(from[2 * i], from[2 * i + 1]);
      }
      std::fill_n(from, 2 * g_.slots, T{0});
    }
  }

  static constexpr std::int64_t kRowsTogether = 48;
  GridderEngine<T>& e_;
  const Tiling& g_;
  TileLocks* locks_;
  const Batch<T>& batch_;
};

}  // namespace

template <class T>
void spread_subgrid(GridderEngine<T>& engine, TileLocks* locks, const Batch<T>& batch) {
  SubgridSpreader<T>(engine, locks, batch).run();
}

template void spread_subgrid<float>(GridderEngine<float>&, TileLocks*, const Batch<float>&);
template void spread_subgrid<double>(GridderEngine<double>&, TileLocks*, const Batch<double>&);

}  // namespace fourtune::runtime::cpu
