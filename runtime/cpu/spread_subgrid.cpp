// Family subgrid: every subproblem is spread into a private tile of aligned rows, which is then added to the fine grid.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "runtime/cpu/gridder_engine.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
class SubgridSpreader {
 public:
  SubgridSpreader(Engine<T>& engine, TileLocks* locks, const Batch<T>& batch)
      : e_(engine), g_(engine.tiling), locks_(locks), batch_(batch) {}

  void run() {
    const bool coloured = !e_.colour_start.empty();
    const int colours = coloured ? static_cast<int>(e_.colour_start.size()) - 1 : 1;
    std::atomic<std::int64_t> next{0};
#pragma omp parallel num_threads(e_.spec.threads)
    {
      Workspace<T>& work = e_.workspaces[omp_get_thread_num()];
      for (int c = 0; c < colours; ++c) {
        const std::int64_t end = coloured ? e_.colour_start[c + 1] : static_cast<std::int64_t>(e_.spread_units.size());
        // Subproblems are handed out in order, so that the one a later part waits for is always already being worked
        // on.
        for (;;) {
          std::int64_t u = next.load(std::memory_order_relaxed);
          while (u < end && !next.compare_exchange_weak(u, u + 1, std::memory_order_relaxed)) {
          }
          if (u >= end) break;
          subproblem(e_.spread_units[u], coloured ? &e_.turns[u] : nullptr, work);
        }
#pragma omp barrier
      }
    }
  }

 private:
  // Spreads a piece at a time: blocks of weights are evaluated once and used for every transform.
  void subproblem(const Subproblem& s, std::atomic<std::int32_t>* turn, Workspace<T>& work) {
    const std::int64_t kept = static_cast<std::int64_t>(work.blocks.size()) * kBlockPoints;
    bool waited = turn == nullptr || s.part == 0;
    for (std::int64_t begin = s.begin; begin < s.end;) {
      const std::int64_t end = batch_.count == 1 ? s.end : std::min(s.end, begin + kept);
      int first = 0, last = g_.bins - 1;
      touched_bins(begin, end, first, last);
      if (batch_.count > 1) load_blocks(begin, end, work);
      for (std::int64_t b = 0; b < batch_.count; ++b) {
        int k = 0;
        for (std::int64_t p = begin; p < end; p += kBlockPoints, ++k) {
          PointBlock<T>& block = work.blocks[batch_.count > 1 ? k : 0];
          if (batch_.count == 1) e_.load(p, block_size(p, end), true, work, block);
          gather(block, b, work);
          e_.kernels.spread(block.weights, g_, work.values, work.tile.data());
        }
        if (!waited) wait_for_previous(turn);
        waited = true;
        add(s.tile, first, last, batch_.grids + b * batch_.grid_distance, turn == nullptr, work);
      }
      begin = end;
    }
    if (turn != nullptr) turn->store(1, std::memory_order_release);
  }
  static void wait_for_previous(const std::atomic<std::int32_t>* turn) {
    for (int spins = 0; turn[-1].load(std::memory_order_acquire) == 0;) {
      if (++spins > 64) std::this_thread::yield();
    }
  }
  static int block_size(std::int64_t p, std::int64_t end) {
    return static_cast<int>(std::min<std::int64_t>(kBlockPoints, end - p));
  }
  void load_blocks(std::int64_t begin, std::int64_t end, Workspace<T>& work) {
    int k = 0;
    for (std::int64_t p = begin; p < end; p += kBlockPoints)
      e_.load(p, block_size(p, end), true, work, work.blocks[k++]);
  }
  // In 3D the points of a tile are grouped by x-bin: only these bins have to be added.
  void touched_bins(std::int64_t begin, std::int64_t end, int& first, int& last) const {
    if (g_.dim < 3) return;
    first = bin_at(begin);
    last = bin_at(end - 1);
  }
  int bin_at(std::int64_t position) const {
    const Word<T>* r = e_.points.order() == PointOrder::indexed ? e_.points.record(e_.points.indexed(position))
                                                                : e_.points.record(position);
    return e_.points.x_cell(r) / g_.bin;
  }
  void gather(const PointBlock<T>& block, std::int64_t b, Workspace<T>& work) const {
    const std::complex<T>* v = batch_.values + b * batch_.value_distance;
    for (int j = 0; j < block.weights.n; ++j) {
      const std::int64_t i = block.index[j];
      work.values[j] = batch_.factor != nullptr ? multiply(v[i], batch_.factor[i]) : v[i];
    }
  }

  void add(std::int64_t tile, int first, int last, std::complex<T>* grid, bool locked, Workspace<T>& work) {
    if (locked) locks_->lock(tile, work.locked);
    const auto origin = g_.origin(tile);
    const std::int64_t fine_x = g_.fine[0];
    const std::int64_t bin_stride = g_.rows() * g_.slots;
    const std::int64_t cells = std::min<std::int64_t>(std::int64_t{last - first} * g_.bin + g_.slots,
                                                      g_.padded[0] - std::int64_t{first} * g_.bin);
    const std::int64_t x0 = (origin[0] + std::int64_t{first} * g_.bin) % fine_x;
    for (int z = 0; z < g_.padded[2]; ++z) {
      const std::int64_t gz = (origin[2] + z) % g_.fine[2] * e_.spec.grid.stride[2];
      for (int y = 0; y < g_.padded[1]; ++y) {
        T* bins = work.tile.data() + 2 * (std::int64_t{z} * g_.padded[1] + y) * g_.slots;
        e_.kernels.merge_row(g_, bins, bin_stride, first, last, work.row.data());
        std::complex<T>* row = grid + gz + (origin[1] + y) % g_.fine[1] * e_.spec.grid.stride[1];
        std::int64_t x = x0;
        for (std::int64_t done = 0; done < cells; x = 0) {
          const std::int64_t run = std::min(cells - done, fine_x - x);
          e_.kernels.add_row(work.row.data() + 2 * done, run, reinterpret_cast<T*>(row + x));
          done += run;
        }
      }
    }
    if (locked) locks_->unlock(work.locked);
  }

  Engine<T>& e_;
  const Tiling& g_;
  TileLocks* locks_;
  const Batch<T>& batch_;
};

}  // namespace

template <class T>
void spread_subgrid(Engine<T>& engine, TileLocks* locks, const Batch<T>& batch) {
  SubgridSpreader<T>(engine, locks, batch).run();
}

template void spread_subgrid<float>(Engine<float>&, TileLocks*, const Batch<float>&);
template void spread_subgrid<double>(Engine<double>&, TileLocks*, const Batch<double>&);

}  // namespace fourtune::runtime::cpu
