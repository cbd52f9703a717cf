// Types 1 and 2: one grid, one set of points, both directions.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "generator/plan/summation.h"
#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/cpu/nufft/nufft_common.h"
#include "runtime/backends/cpu/nufft/nufft_executor.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
class Type12Executor final : public Executor {
  using Complex = std::complex<T>;

 public:
  Type12Executor(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options)
      : problem_(problem), plan_(plan), options_(options), whole_(options.only == Only::whole) {
    if (!whole_) plan_.window.fine = problem.n.xyz();  // the caller's array is the grid
    grid_ = whole_ ? halo_shape(problem.dim, plan_.window.fine, plan_.window.width, sizeof(Complex))
                   : dense_shape(problem.dim, problem.n.xyz());
    chunk_ = std::clamp<std::int64_t>(plan_.chunk, 1, problem.batch);
    GridderSpec spec;
    spec.grid = grid_;
    spec.window = plan_.window;
    const generator::CpuStages& stages = plan_.cpu();
    spec.sort = stages.sort;
    spec.spread = stages.spread;
    spec.interp = stages.interp;
    spec.threads = stages.threads;
    spec.deterministic = options.deterministic;
    spec.mostly_spreads = problem.type == 1;
    spec.pairs = problem.type == 1 && problem.dim == 2 && pairs_pay();
    spec.trust_points = options.trust_points;
    spec.exact_points = options.exact_points;
    spec.longest_sum = generator::longest_sum(problem, generator::magnification(plan_.window, problem.dim));
    // Allocate the grids first: a problem too large for memory is refused before anything is planned for it.
    if (whole_) grids_ = Buffer<Complex>(checked_multiply(grid_.elements, chunk_, "fine grids"));
    gridder_ = make_gridder<T>(spec);
    if (whole_) forward_ = make_fft(problem.sign, problem.type == 1);
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    clock_.time("sort", [&] {
      PointMap map;
      map.factor.fill(1 / (2 * kPi));
      if (begins_at_minus_pi(options_.only)) map.centre.fill(-kPi), map.centre_low.fill(-kPiLow);
      gridder_->set_points(points.m, static_cast<const T*>(points.x), static_cast<const T*>(points.y),
                           static_cast<const T*>(points.z), map, grids_.memory());
    });
    clock_.end_set_points();
    count_ = points.m;
  }

  void execute(void* first, void* second, bool adjoint) override {
    auto* values = static_cast<Complex*>(first);
    auto* modes = static_cast<Complex*>(second);
    clock_.begin_execute();
    const bool to_modes = (problem_.type == 1) != adjoint;
    if (whole_ && adjoint && !backward_) backward_ = make_fft(-problem_.sign, to_modes);
    PrunedFft<T>* fft = adjoint ? backward_.get() : forward_.get();
    const std::int64_t mode_count = problem_.n[0] * problem_.n[1] * problem_.n[2];
    for (std::int64_t b = 0; b < problem_.batch; b += chunk_) {
      const std::int64_t now = std::min(chunk_, problem_.batch - b);
      Complex* grids = whole_ ? grids_.data() : modes + b * mode_count;
      if (to_modes) {
        clock_.time("spread",
                    [&] { gridder_->spread(values + b * count_, count_, nullptr, grids, grid_.elements, now); });
        if (whole_)
          clock_.time("fft", [&] { fft->truncate(grids, grid_.elements, modes + b * mode_count, mode_count, now); });
      } else {
        if (whole_)
          clock_.time("fft", [&] { fft->pad(modes + b * mode_count, mode_count, grids, grid_.elements, now); });
        clock_.time("interpolate",
                    [&] { gridder_->interpolate(grids, grid_.elements, nullptr, values + b * count_, count_, now); });
      }
    }
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held =
        grids_.bytes() + gridder_->bytes() + (forward_ ? forward_->bytes() : 0) + (backward_ ? backward_->bytes() : 0);
    // Before points are set: an index and the located coordinates of every point are still to come.
    const std::int64_t point = 4 + problem_.dim * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t most = (std::numeric_limits<std::int64_t>::max() - use.held) / point;
    use.needed = count_ < 0 ? use.held + std::min(problem_.m.value_or(0), most) * point : use.held;
    const std::int64_t more = std::max(forward_ ? forward_->more_bytes() : 0, backward_ ? backward_->more_bytes() : 0);
    use.needed += std::min(more, std::numeric_limits<std::int64_t>::max() - use.needed);
    if (count_ < 0) {
      const std::int64_t work = gridder_->more_bytes(problem_.m.value_or(0), chunk_);
      use.needed += std::min(work, std::numeric_limits<std::int64_t>::max() - use.needed);
    }
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }
  const generator::Plan& plan() const override { return plan_; }
  std::string wisdom() const override { return forward_ ? forward_->wisdom() : std::string(); }

 private:
  std::unique_ptr<PrunedFft<T>> make_fft(int sign, bool truncates) const {
    const generator::Window window = generator::window_of(plan_.window);
    PrunedFftSpec spec;
    spec.grid = grid_;
    spec.modes = problem_.n.xyz();
    spec.sign = sign;
    spec.order = options_.mode_order;
    for (int d = 0; d < problem_.dim; ++d) {
      const int same = d > 0 && grid_.fine[d] == grid_.fine[0] && problem_.n[d] == problem_.n[0];
      spec.factors[d] = same ? spec.factors[0] : deconvolution(window, grid_.fine[d], problem_.n[d]);
    }
    spec.fft = plan_.cpu().fft;
    spec.threads = plan_.cpu().threads;
    spec.together = chunk_;
    spec.wisdom = options_.wisdom;
    if (options_.deterministic) spec.fft.rigor = generator::Rigor::estimate, spec.wisdom.clear();
    return make_pruned_fft<T>(spec, truncates);
  }

  Problem problem_;
  generator::Plan plan_;
  ExecutorOptions options_;
  bool whole_;
  GridShape grid_;
  std::int64_t chunk_ = 1;
  std::int64_t count_ = -1;  // number of points; -1: not set
  std::unique_ptr<Gridder<T>> gridder_;
  std::unique_ptr<PrunedFft<T>> forward_, backward_;  // backward is for the adjoint, made on first use
  Buffer<Complex> grids_;
  StageClock clock_;
};

}  // namespace

std::unique_ptr<Executor> make_type12_executor(const Problem& problem, const generator::Plan& plan,
                                               const ExecutorOptions& options) {
  if (problem.precision == Precision::f32) return std::make_unique<Type12Executor<float>>(problem, plan, options);
  return std::make_unique<Type12Executor<double>>(problem, plan, options);
}

}  // namespace fourtune::runtime::cpu
