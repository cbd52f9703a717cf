// The pruned FFT: one pass per dimension, in place in the fine grid, with lines in blocks that fit in cache.
//
// truncate runs along x, y, z. A pass transforms only lines that are still needed (those at kept modes of the
// dimensions already processed) and writes only the kept modes, packed to the front of each line in the order of the
// caller's array; the last pass writes to the caller's array. So each grid cell is read once, and the data after the
// first pass is smaller by the oversampling factor. pad is the reverse: it runs along z, y, x, expands packed lines and
// generates the zeros in the work buffer. Where the grid holds only some cells of a dimension, the others are zeros in
// the work buffer or are never stored, and the passes that follow have fewer lines. Factors are applied where a pass
// writes (truncate) or reads (pad) modes.
#include "runtime/backends/cpu/nufft/pruned_fft.h"

#include <algorithm>

#include "fourtune/status.h"
#include "runtime/backends/cpu/fft/arrays.h"
#include "runtime/backends/cpu/fft/library.h"
#include "runtime/backends/cpu/fft/line_side.h"
#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/backends/cpu/fft/long.h"
#include "runtime/backends/cpu/nufft/along_line.h"

namespace fourtune::runtime::cpu {
namespace {

// A plane up to this size is transformed by one thread in one go, in its second-level cache.
constexpr std::int64_t kFusedBytes = std::int64_t{8} << 20;
// Lines with fewer values together are transformed before another thread would be awake.
constexpr std::int64_t kWorthThreads = 4096;

using Extent = std::array<std::int64_t, 3>;

// Passes that one thread runs together on one box.
struct Step {
  int first = 0, last = 0;  // dimensions
  Extent space{};           // extents covered by boxes (1 along the dimensions of the passes)
  Extent unit{};            // size of a box
};

template <class T>
class PrunedLines final : public PrunedFft<T> {
  using Value = std::complex<T>;

 public:
  PrunedLines(const PrunedFftSpec& spec, bool truncate_first) : spec_(spec), dim_(spec.grid.dim) {
    check();
    mode_stride_ = spec.mode_stride;
    mode_stride_[0] = 1;
    for (int d = 1; d < 3; ++d)
      if (mode_stride_[d] == 0) mode_stride_[d] = mode_stride_[d - 1] * spec.modes[d - 1];
    for (int d = 0; d < dim_; ++d) {
      const std::int64_t n = length(d);
      cells_[d] = spec.length[d] > 0 ? part_side(n, spec.grid.fine[d], ModeOrder::centred) : whole_side(n);
      modes_[d] = part_side(n, spec.modes[d], spec.order);
      make_factors(d);
      if (dim_ == 1 && !shares_line(n) && AlongLine<T>::supports(n)) {
        along_ = std::make_unique<AlongLine<T>>(n, spec.sign, cells_[0]);
        work_stride_ = (along_->work_bytes() + 4095) / 4096 * 4096 + 256;
        break;
      }
      if (dim_ == 1 && spec.length[0] == 0 && n >= kShortLine && LongFft<T>::supports(n)) {
        long_ = std::make_unique<LongFft<T>>(n, spec.sign, spec.threads);
        if (n > kLongLine || fills_few_lanes(spec.together)) break;
      }
      // For one dimension the lines are the transforms of the batch.
      const std::int64_t available = dim_ == 1 ? spec.together : d == 0 ? spec.grid.fine[1] : spec.modes[0];
      fft_[d] = make_line_fft<T>({n, spec.sign, available, spec.fft, spec.wisdom});
      work_stride_ = std::max(work_stride_, (fft_[d]->work_bytes() + 4095) / 4096 * 4096 + 256);
    }
    (void)truncate_first;  // both directions use the same line transforms
    make_steps();
    workers_ = team_size(spec.threads);
    work_ = AlignedBytes(work_stride_ * workers_);
  }

  void truncate(Value* grids, std::int64_t grid_distance, Value* modes, std::int64_t mode_distance,
                std::int64_t count) override {
    run(true, grids, grid_distance, modes, mode_distance, count);
  }
  void pad(const Value* modes, std::int64_t mode_distance, Value* grids, std::int64_t grid_distance,
           std::int64_t count) override {
    run(false, grids, grid_distance, const_cast<Value*>(modes), mode_distance, count);
  }
  std::int64_t bytes() const override {
    std::int64_t sum = work_.bytes() + (long_ ? long_->bytes() : 0) + (along_ ? along_->bytes() : 0);
    for (int d = 0; d < dim_; ++d)
      sum += bytes_of(factor_[d]) + bytes_of(spec_.factors[d]) + (fft_[d] ? fft_[d]->table_bytes() : 0);
    return sum;
  }
  std::int64_t more_bytes() const override {
    std::int64_t most = 0;
    for (int d = 0; d < dim_; ++d) most = std::max(most, fft_[d] ? fft_[d]->scratch_bytes() : 0);
    return workers_ * most;
  }
  std::string wisdom() const override {
    std::vector<std::string> texts;
    for (int d = 0; d < dim_; ++d) {
      if (fft_[d]) texts.push_back(fft_[d]->wisdom());
    }
    return merged_wisdom<T>(texts);
  }

 private:
  std::int64_t length(int d) const { return spec_.length[d] > 0 ? spec_.length[d] : spec_.grid.fine[d]; }

  void check() const {
    const auto refuse = [](const std::string& why) { throw Error(Status::invalid_argument, "pruned fft: " + why); };
    for (int d = 0; d < dim_; ++d) {
      const std::int64_t modes = spec_.modes[d], cells = spec_.grid.fine[d], n = length(d);
      if (modes < 1 || modes > n)
        refuse(std::to_string(modes) + " modes of a transform of length " + std::to_string(n) +
               "; 1 up to that are possible");
      if (cells > n) refuse("the grid holds " + std::to_string(cells) + " cells of " + std::to_string(n));
      if (d + 1 < dim_ && modes > (d == 0 ? spec_.grid.stride[1] : spec_.grid.stride[2] / spec_.grid.stride[1]))
        refuse("the grid has no room for " + std::to_string(modes) + " modes in dimension " + std::to_string(d));
      if (!spec_.factors[d].empty() && static_cast<std::int64_t>(spec_.factors[d].size()) < modes / 2 + 1)
        refuse("factors need modes/2 + 1 entries");
    }
  }

  void make_factors(int d) { factor_[d] = factors_in_order<T>(spec_.factors[d], modes_[d]); }

  // Whether threads share each of a few long lines.
  bool shares_line(std::int64_t n) const {
    return spec_.together < spec_.threads && spec_.length[0] == 0 && n > kLongLine && LongFft<T>::supports(n);
  }
  static bool fills_few_lanes(std::int64_t lines) { return 4 * lines < simd_fft_kernels<T>().lanes; }
  int across(int d) const { return d == 0 ? 1 : 0; }

  void make_steps() {
    const Extent& fine = spec_.grid.fine;
    const bool planes = dim_ == 3 && fine[0] * fine[1] * static_cast<std::int64_t>(sizeof(Value)) <= kFusedBytes &&
                        fine[2] >= spec_.threads;
    for (int d = 0; d < dim_; ++d) {
      Step step{d, planes && d == 0 ? 1 : d, {1, 1, 1}, {1, 1, 1}};
      for (int a = 0; a < dim_; ++a) {
        if (a < step.first) step.space[a] = spec_.modes[a];
        if (a > step.last) step.space[a] = fine[a];
      }
      if (step.first == step.last && fft_[d]) step.unit[across(d)] = fft_[d]->lines();
      steps_.push_back(step);
      d = step.last;
    }
  }

  void run(bool truncate, Value* grids, std::int64_t grid_distance, Value* modes, std::int64_t mode_distance,
           std::int64_t count) {
    const T* const factor = factor_[0].empty() ? nullptr : factor_[0].data();
    if (along_) {
      parallel_for(count * length(0) >= kWorthThreads ? workers_ : 1, count, [&](std::int64_t b, int worker) {
        Value *const grid = grids + b * grid_distance, *const kept = modes + b * mode_distance;
        truncate ? along_->truncate(grid, kept, modes_[0], factor, thread_work(worker))
                 : along_->pad(kept, modes_[0], factor, grid, thread_work(worker));
      });
      return;
    }
    if (long_ && (!fft_[0] || fills_few_lanes(count))) {
      const std::int64_t high = spec_.modes[0] / 2;
      const KeptModes<T> kept{spec_.modes[0] - high, high, modes_[0].low_at, modes_[0].high_at, factor};
      for (std::int64_t b = 0; b < count; ++b) {
        Value *grid = grids + b * grid_distance, *kept_modes = modes + b * mode_distance;
        truncate ? long_->truncate(grid, kept_modes, kept) : long_->pad(kept_modes, grid, kept);
      }
      return;
    }
    if (dim_ == 1) {  // the transforms of the batch are adjacent lines
      const std::int64_t lines = fft_[0]->lines();
      parallel_for(workers_, (count + lines - 1) / lines, [&](std::int64_t i, int worker) {
        const auto present = static_cast<int>(std::min(lines, count - i * lines));
        block(truncate, 0, grids + i * lines * grid_distance, grid_distance, modes + i * lines * mode_distance,
              mode_distance, present, thread_work(worker));
      });
      return;
    }
    const std::int64_t bytes = spec_.grid.elements * static_cast<std::int64_t>(sizeof(Value));
    if (count >= spec_.threads && bytes <= 2 * kFusedBytes) {
      parallel_for(workers_, count, [&](std::int64_t b, int worker) {
        void* work = thread_work(worker);
        for_each_step(truncate, [&](const Step& step) {
          box(truncate, step, {0, 0, 0}, step.space, grids + b * grid_distance, modes + b * mode_distance, work);
        });
      });
      return;
    }
    for (std::int64_t b = 0; b < count; ++b) {
      for_each_step(truncate, [&](const Step& step) {
        parallel_step(truncate, step, grids + b * grid_distance, modes + b * mode_distance);
      });
    }
  }

  void* thread_work(int worker) const { return work_.as<char>() + worker * work_stride_; }

  template <class F>
  void for_each_step(bool forward, F f) const {
    if (forward) {
      for (auto step = steps_.begin(); step != steps_.end(); ++step) f(*step);
    } else {
      for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) f(*step);
    }
  }

  void parallel_step(bool truncate, const Step& step, Value* grid, Value* modes) const {
    Extent units;
    for (int a = 0; a < 3; ++a) units[a] = (step.space[a] + step.unit[a] - 1) / step.unit[a];
    parallel_for(workers_, units[0] * units[1] * units[2], [&](std::int64_t index, int worker) {
      Extent at, size;
      for (int a = 0; a < 3; ++a) {
        at[a] = index % units[a] * step.unit[a];
        index /= units[a];
        size[a] = std::min(step.unit[a], step.space[a] - at[a]);
      }
      box(truncate, step, at, size, grid, modes, thread_work(worker));
    });
  }

  // Runs the passes of a step on one box.
  void box(bool truncate, const Step& step, const Extent& at, const Extent& size, Value* grid, Value* modes,
           void* work) const {
    for (int i = step.first; i <= step.last; ++i) {
      const int d = truncate ? i : step.first + step.last - i;
      Extent extent = size;
      for (int a = step.first; a <= step.last; ++a) extent[a] = a < d ? spec_.modes[a] : spec_.grid.fine[a];
      extent[d] = 1;
      pass(truncate, d, at, extent, grid, modes, work);
    }
  }

  void pass(bool truncate, int d, const Extent& first, const Extent& size, Value* grid, Value* modes,
            void* work) const {
    const int v = across(d), other = 3 - d - v;
    const Extent& stride = spec_.grid.stride;
    for (std::int64_t j = 0; j < size[other]; ++j) {
      for (std::int64_t l = 0; l < size[v]; l += fft_[d]->lines()) {
        Extent at = first;
        at[other] += j;
        at[v] += l;
        std::int64_t grid_at = 0, mode_at = 0;
        for (int a = 0; a < dim_; ++a) {
          if (a == d) continue;
          grid_at += at[a] * stride[a];
          mode_at += at[a] * mode_stride_[a];
        }
        const auto count = static_cast<int>(std::min<std::int64_t>(fft_[d]->lines(), size[v] - l));
        block(truncate, d, grid + grid_at, stride[v], modes + mode_at, mode_stride_[v], count, work);
      }
    }
  }

  // Processes one block of lines along d. The modes are in the caller's array for the last dimension, else packed in
  // the grid.
  void block(bool truncate, int d, Value* grid, std::int64_t grid_line, Value* modes, std::int64_t mode_line, int count,
             void* work) const {
    const LineFft<T>& fft = *fft_[d];
    const LinePlaces cells{spec_.grid.stride[d], grid_line, count};
    const bool outside = d == dim_ - 1;
    const LinePlaces packed = outside ? LinePlaces{mode_stride_[d], mode_line, count} : cells;
    Value* kept = outside ? modes : grid;
    const T* factor = factor_[d].empty() ? nullptr : factor_[d].data();
    if (truncate) {
      load_side<T>(fft, work, grid, cells, cells_[d], nullptr);
      store_side<T>(fft, fft.transform(work, count), kept, packed, modes_[d], factor);
    } else {
      load_side<T>(fft, work, kept, packed, modes_[d], factor);
      store_side<T>(fft, fft.transform(work, count), grid, cells, cells_[d], nullptr);
    }
  }

  PrunedFftSpec spec_;
  int dim_;
  Extent mode_stride_{};
  std::array<LineSide, 3> cells_{}, modes_{};
  std::array<std::vector<T>, 3> factor_;
  std::array<std::unique_ptr<LineFft<T>>, 3> fft_;
  std::unique_ptr<AlongLine<T>> along_;  // for one dimension, as is long_
  std::unique_ptr<LongFft<T>> long_;
  std::vector<Step> steps_;
  std::int64_t work_stride_ = 0;
  int workers_ = 1;
  AlignedBytes work_;
};

}  // namespace

template <class T>
std::unique_ptr<PrunedFft<T>> make_pruned_fft(const PrunedFftSpec& spec, bool direction_is_truncate) {
  return std::make_unique<PrunedLines<T>>(spec, direction_is_truncate);
}
template std::unique_ptr<PrunedFft<float>> make_pruned_fft(const PrunedFftSpec&, bool);
template std::unique_ptr<PrunedFft<double>> make_pruned_fft(const PrunedFftSpec&, bool);

}  // namespace fourtune::runtime::cpu
