// Types 1 and 2 on processors, by slabs or pencils.
//
//   set_points: locate every point -> cut the grid -> move points to the rank of their cell -> sort
//   type 1: move values -> spread -> add shared cells -> transform and prune planes -> transposition -> lines -> modes
//   type 2: modes -> lines -> transposition -> pad and transform planes -> fetch shared cells -> interpolate -> values
//
// Planes are pruned before the transposition, so the fine grid itself never travels, but for the few cells that two
// ranks share. By pencils several ranks share a plane, and within planes there is another exchange
// (split_nufft_planes.cpp); the transposition gathers all parts of a column's row along x on the rank of its modes.
// Deconvolution happens where modes are written or read. The plan says in which pieces the transposition overlaps with
// the transforms (pipeline.h).
#include <algorithm>
#include <cmath>

#include "generator/plan/summation.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/cpu/nufft/nufft_common.h"
#include "runtime/distributed/axis_lines.h"
#include "runtime/distributed/nufft_planes.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/placed_points.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class HostNufft final : public RankExecutor {
  using Complex = std::complex<T>;

 public:
  HostNufft(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options)
      : ranks_(ranks),
        problem_(problem),
        plan_(plan),
        options_(options),
        last_(problem.dim - 1),
        pipeline_(plan.grid.in_plane > 1 ? PipelineStages{nullptr} : PipelineStages{}) {
    const generator::Plan& local = plan.local;
    threads_ = local.cpu().threads;
    chunk_ = std::clamp<std::int64_t>(local.chunk, 1, problem.batch);
    cut_.dim = problem.dim;
    cut_.fine = local.window.fine;
    cut_.shared = local.window.width - 1;
    cut_.ranks = plan.grid;
    cut_.layer_per_row = options.deterministic;
    cut_.cuts_y = plan.decomposition == Decomposition::pencils ||
                  (options.deterministic && problem.dim == 3 && rows_fit(local, 1));
    for (std::size_t d = 0; d < 3; ++d) cut_.side[d] = std::min<std::int64_t>(local.cpu().sort.tile[d], cut_.fine[d]);
    columns_ = mode_columns(problem, ranks.size());
    run_ = problem.dim == 3 ? problem.n[0] : 1;
    lines_count_ = run_ * columns_.size(ranks.rank());
    const generator::Window window = generator::window_of(local.window);
    for (int d = 0; d < problem.dim; ++d) {
      const auto at = static_cast<std::size_t>(d);
      factors_[at] = cpu::deconvolution(window, cut_.fine[at], problem.n[at]);
    }
    mode_side_ = cpu::part_side(cut_.fine[static_cast<std::size_t>(last_)], problem.n[last_], options.mode_order);
    line_factor_ = cpu::factors_in_order<T>(factors_[last_], mode_side_);
    points_ = std::make_unique<PlacedPoints<T>>(ranks, gridder_spec(), cut_, plan.balance,
                                                Moving{chunk_, plan.exchange == RankExchange::shared}, clock_);
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    warm_ = {false, false};

    OwnPoints<T> own{
        points.m,
        {static_cast<const T*>(points.x), static_cast<const T*>(points.y), static_cast<const T*>(points.z)},
        {}};
    own.map.factor.fill(1 / (2 * cpu::kPi));
    if (points_->cut(own) || !bound_) bind();
    points_->move(own, [](std::int64_t, const auto&) {});
    count_ = points.m;
    clock_.end_set_points();
  }

  void execute(void* first, void* second, bool adjoint) override {
    auto* values = static_cast<Complex*>(first);
    auto* modes = static_cast<Complex*>(second);
    clock_.begin_execute();
    LocalWork local;
    local.run([&] { make_ffts(adjoint); });
    const bool to_modes = (problem_.type == 1) != adjoint;
    const std::int64_t mode_count = lines_count_ * problem_.n[last_];
    for (std::int64_t b = 0; b < problem_.batch; b += chunk_) {
      const std::int64_t now = std::min(chunk_, problem_.batch - b);
      to_modes ? forward(values + b * count_, modes + b * mode_count, now, adjoint, local)
               : backward(values + b * count_, modes + b * mode_count, now, adjoint, local);
    }
    local.end(ranks_, warm_[adjoint]);
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = points_->bytes() + pipeline_.bytes();
    use.held += planes_ ? planes_->bytes() : 0;
    for (const auto& lines : lines_) use.held += lines ? lines->bytes() : 0;
    use.needed = use.held;
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  cpu::GridderSpec gridder_spec() const {
    const generator::Plan& local = plan_.local;
    cpu::GridderSpec spec;
    spec.grid = cpu::padded_shape(problem_.dim, cut_.fine, sizeof(Complex));
    spec.window = local.window;
    spec.sort = local.cpu().sort;
    spec.spread = local.cpu().spread;
    spec.interp = local.cpu().interp;
    spec.threads = threads_;
    spec.deterministic = options_.deterministic;
    spec.trust_points = options_.trust_points;
    spec.longest_sum = generator::longest_sum(problem_, generator::magnification(local.window, problem_.dim));
    return spec;
  }

  // What depends on where the grid is cut.
  void bind() {
    bound_ = false;
    ranks_.together([&] {
      const Split runs = plan_.grid.in_plane > 1 ? Split::even(run_, plan_.grid.in_plane) : Split();
      pipeline_.bind(ranks_,
                     {points_->where().cells(last_), columns_, run_, sizeof(Complex),
                      plan_.exchange == RankExchange::shared, runs},
                     plan_.chunks, chunk_, threads_);
      std::int64_t most = 0;
      for (int c = 0; c < pipeline_.chunks(); ++c) most = std::max(most, pipeline_.planes(c).count);
      const NufftPlaneSpec<T> planes{ranks_,   problem_, plan_, options_.mode_order, points_->grid(), points_->where(),
                                     factors_, most,     clock_};
      planes_ = points_->where().cuts_y ? make_split_nufft_planes<T>(planes) : make_whole_nufft_planes<T>(planes);
      lines_ = {};
      make_ffts(false);
    });
    bound_ = true;
  }

  void make_ffts(bool adjoint) {
    planes_->make(adjoint);
    if (lines_count_ > 0 && !lines_[adjoint])
      lines_[adjoint] = std::make_unique<AxisLines<T>>(cut_.fine[static_cast<std::size_t>(last_)],
                                                       adjoint ? -problem_.sign : problem_.sign,
                                                       run_ * columns_.items(), plan_.local.cpu().fft, threads_);
  }

  AxisSide<T> mode_side() const { return {mode_side_, line_factor_.data()}; }
  AxisSide<T> fine_side() const {
    return {cpu::whole_side(cut_.fine[static_cast<std::size_t>(last_)]), nullptr, 0, pipeline_.columns_stride()};
  }
  // Calls f(cells, their planes of modes, number of planes) for what each layer has of these planes of transform b: the
  // same times on all ranks that share planes.
  template <class F>
  void for_each_layer(std::int64_t b, Complex* kept, cpu::LineRange which, F f) {
    const std::int64_t plane = run_here() * columns_.items();
    GridPart<T>& grid = points_->grid();
    for (const LayerSpan& run : grid.planes()) {
      const std::int64_t begin = std::max(run.own, which.first),
                         end = std::min(run.own + run.count, which.first + which.count);
      if (begin >= end) continue;
      const std::int64_t at = b * grid.shape().elements + (run.stored + begin - run.own) * grid.shape().stride[last_];
      f(grid.empty() ? nullptr : grid.data() + at, kept + begin * plane, end - begin);
    }
  }
  // This rank's part of a row of modes along x, until it travels.
  std::int64_t run_here() const {
    if (plan_.grid.in_plane == 1) return run_;
    return Split::even(run_, plan_.grid.in_plane).size(plan_.grid.place_in_plane(ranks_.rank()));
  }
  void transform_lines(const Complex* from, const AxisSide<T>& from_side, Complex* to, const AxisSide<T>& to_side,
                       cpu::LineRange columns, bool adjoint) {
    if (columns.count > 0)
      lines_[adjoint]->run(from, from_side, to, to_side, lines_count_, {columns.first * run_, columns.count * run_});
  }

  void forward(const Complex* values, Complex* modes, std::int64_t now, bool adjoint, LocalWork& local) {
    points_->spread(values, nullptr, now, local);
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      for_each_layer(b, work, which, [&](Complex* cells, Complex* kept, std::int64_t n) {
        planes_->truncate(cells, kept, n, adjoint, local);
      });
    };
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      Complex* const own = modes + b * lines_count_ * problem_.n[last_];
      local.run([&] { transform_lines(work, fine_side(), own, mode_side(), which, adjoint); });
    };
    pipeline_.to_columns(now, clock_, planes, lines);
  }

  void backward(Complex* values, const Complex* modes, std::int64_t now, bool adjoint, LocalWork& local) {
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      const Complex* const own = modes + b * lines_count_ * problem_.n[last_];
      local.run([&] { transform_lines(own, mode_side(), work, fine_side(), which, adjoint); });
    };
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      for_each_layer(b, work, which, [&](Complex* cells, Complex* kept, std::int64_t n) {
        planes_->pad(kept, cells, n, adjoint, local);
      });
    };
    pipeline_.to_planes(now, clock_, lines, planes);
    points_->interpolate(values, nullptr, now, local);
  }

  const Communicator& ranks_;
  Problem problem_;
  RankPlan plan_;
  RankOptions options_;
  int last_;
  int threads_ = 1;
  std::int64_t chunk_ = 1, run_ = 1, lines_count_ = 0, count_ = 0;
  bool bound_ = false;
  GridCut cut_;
  Split columns_;
  std::array<std::vector<double>, 3> factors_;  // deconvolution
  cpu::LineSide mode_side_;
  std::vector<T> line_factor_;
  cpu::StageClock clock_;
  std::unique_ptr<PlacedPoints<T>> points_;
  Pipeline<T> pipeline_;
  std::unique_ptr<NufftPlanes<T>> planes_;
  std::array<std::unique_ptr<AxisLines<T>>, 2> lines_;  // forward and, made on first use, adjoint
  std::array<bool, 2> warm_{false, false};              // forward, adjoint
};

}  // namespace

std::unique_ptr<RankExecutor> make_host_nufft(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                              const RankOptions& options) {
  if (problem.precision == Precision::f32) return std::make_unique<HostNufft<float>>(ranks, problem, plan, options);
  return std::make_unique<HostNufft<double>>(ranks, problem, plan, options);
}

}  // namespace fourtune::runtime::distributed
