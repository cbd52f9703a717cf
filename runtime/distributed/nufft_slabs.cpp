// Types 1 and 2 by slabs.
//
//   set_points: locate every point -> cut the grid into slabs -> move points to the rank of their cell -> sort
//   type 1: move values -> spread -> add shared cells -> transform and prune planes -> transposition -> lines -> modes
//   type 2: modes -> lines -> transposition -> pad and transform planes -> fetch shared cells -> interpolate -> values
//
// Planes are pruned before the transposition, so the fine grid itself never travels, except for the few planes that two
// ranks share. Deconvolution happens where modes are written or read. The plan says in which pieces the transposition
// overlaps with the transforms (pipeline.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/plan/summation.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/cpu/nufft/nufft_common.h"
#include "runtime/distributed/axis_lines.h"
#include "runtime/distributed/moved_points.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/distributed/slab_cost.h"
#include "runtime/distributed/slab_grid.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class NufftSlabs final : public RankExecutor {
  using Complex = std::complex<T>;

 public:
  NufftSlabs(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options)
      : ranks_(ranks), problem_(problem), plan_(plan), options_(options), last_(problem.dim - 1) {
    const generator::Plan& local = plan.local;
    threads_ = local.cpu().threads;
    chunk_ = std::clamp<std::int64_t>(local.chunk, 1, problem.batch);
    shape_.dim = problem.dim;
    shape_.fine = local.window.fine;
    shape_.shared = local.window.width - 1;
    shape_.side = std::min<std::int64_t>(local.cpu().sort.tile[last_], shape_.fine[last_]);
    shape_.layer_per_row = options.deterministic;
    columns_ = mode_columns(problem, ranks.size());
    run_ = problem.dim == 3 ? problem.n[0] : 1;
    lines_count_ = run_ * columns_.size(ranks.rank());
    const generator::Window window = generator::window_of(local.window);
    for (int d = 0; d < problem.dim; ++d) {
      const auto at = static_cast<std::size_t>(d);
      factors_[at] = cpu::deconvolution(window, shape_.fine[at], problem.n[at]);
    }
    mode_side_ = cpu::part_side(shape_.fine[last_], problem.n[last_], options.mode_order);
    line_factor_ = cpu::factors_in_order<T>(factors_[last_], mode_side_);
    gridder_ = cpu::make_gridder<T>(gridder_spec());
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    warm_ = {false, false};

    const std::array<const T*, 3> own{static_cast<const T*>(points.x), static_cast<const T*>(points.y),
                                      static_cast<const T*>(points.z)};
    cpu::PointMap map;
    map.factor.fill(1 / (2 * cpu::kPi));
    std::vector<std::int32_t> row;
    clock_.time("locate", [&] {
      ranks_.together([&] {
        row.resize(static_cast<std::size_t>(points.m));
        gridder_->tile_rows(points.m, own[0], own[1], own[2], map, row.data());
      });
    });
    clock_.time("split", [&] { split(row); });
    clock_.time("move points", [&] {
      std::vector<std::int32_t> rank_of_row;
      for (int r = 0; r < ranks_.size(); ++r)
        rank_of_row.insert(rank_of_row.end(), static_cast<std::size_t>(shape_.rows.size(r)), r);
      for (std::int32_t& r : row) r = rank_of_row[static_cast<std::size_t>(r)];
      moved_.plan(ranks_, problem_.dim, row);
      const auto here = moved_.move(ranks_, own);
      clock_.time("sort", [&] {
        ranks_.together([&] {
          values_.resize(moved_.stays() ? 0 : checked_multiply(moved_.arrived(), chunk_, "values"));
          if (!grid_.empty()) gridder_->set_points(moved_.arrived(), here[0], here[1], here[2], map);
          moved_.release();
        });
      });
    });
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
    use.held = grid_.bytes() + pipeline_.bytes() + gridder_->bytes() + moved_.bytes() + values_.bytes();
    for (const Ffts& ffts : ffts_)
      use.held += (ffts.planes ? ffts.planes->bytes() : 0) + (ffts.lines ? ffts.lines->bytes() : 0);
    use.needed = use.held;
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  struct Ffts {
    std::unique_ptr<cpu::PrunedFft<T>> planes;
    std::unique_ptr<AxisLines<T>> lines;
  };

  cpu::GridderSpec gridder_spec() const {
    const generator::Plan& local = plan_.local;
    cpu::GridderSpec spec;
    spec.grid = cpu::padded_shape(problem_.dim, shape_.fine, sizeof(Complex));
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

  // Cuts the grid into slabs for these points and binds what depends on that.
  void split(const std::vector<std::int32_t>& row) {
    const std::int64_t cells = shape_.fine[last_], rows = (cells + shape_.side - 1) / shape_.side;
    std::vector<std::int64_t> points(static_cast<std::size_t>(rows), 0);
    if (plan_.balance == Balance::points) {
      for (const std::int32_t r : row) ++points[static_cast<std::size_t>(r)];
      points = ranks_.sum(points);
    }
    const Split split = split_rows(slab_costs(shape_, plan_.local.window.width, points), ranks_.size());
    if (bound_ && split == shape_.rows) return;
    bound_ = false;
    shape_.rows = split;
    ranks_.together([&] {
      const Split planes = shape_.cells();
      grid_.bind(ranks_, shape_, chunk_);
      if (!grid_.empty()) gridder_->set_grid(grid_.shape());
      pipeline_.bind(ranks_, {planes, columns_, run_, sizeof(Complex)}, plan_.chunks, chunk_, threads_);
      ffts_ = {};
      make_ffts(false);
    });
    bound_ = true;
  }

  void make_ffts(bool adjoint) {
    Ffts& ffts = ffts_[adjoint];
    const int sign = adjoint ? -problem_.sign : problem_.sign;
    if (!grid_.empty() && !ffts.planes) ffts.planes = make_plane_fft(sign, (problem_.type == 1) != adjoint);
    if (lines_count_ > 0 && !ffts.lines)
      ffts.lines = std::make_unique<AxisLines<T>>(shape_.fine[last_], sign, run_ * columns_.items(),
                                                  plan_.local.cpu().fft, threads_);
  }

  std::unique_ptr<cpu::PrunedFft<T>> make_plane_fft(int sign, bool truncates) const {
    cpu::PrunedFftSpec spec;
    spec.grid = grid_.shape();
    spec.grid.dim = problem_.dim - 1;
    spec.grid.elements = spec.grid.stride[last_];
    spec.grid.fine[last_] = 1;
    spec.grid.stride[last_] = 0;
    spec.modes = problem_.n.xyz();
    spec.modes[last_] = 1;
    spec.sign = sign;
    spec.order = options_.mode_order;
    for (int d = 0; d < last_; ++d) spec.factors[static_cast<std::size_t>(d)] = factors_[static_cast<std::size_t>(d)];
    spec.fft = plan_.local.cpu().fft;
    spec.fft.rigor = generator::Rigor::estimate;
    spec.threads = threads_;
    return cpu::make_pruned_fft<T>(spec, truncates);
  }

  AxisSide<T> mode_side() const { return {mode_side_, line_factor_.data()}; }
  AxisSide<T> fine_side() const { return {cpu::whole_side(shape_.fine[last_]), nullptr}; }
  // Calls f(cells, their planes of modes, number of planes) for what each layer has of these planes of a grid.
  template <class F>
  void for_each_layer(Complex* grid, Complex* kept, cpu::LineRange which, F f) {
    const std::int64_t plane = run_ * columns_.items();
    grid_.for_each_layer([&](std::int64_t stored, std::int64_t own, std::int64_t planes) {
      const std::int64_t begin = std::max(own, which.first), end = std::min(own + planes, which.first + which.count);
      if (begin < end)
        f(grid + (stored + begin - own) * grid_.shape().stride[last_], kept + begin * plane, end - begin);
    });
  }
  void transform_lines(const Complex* from, const AxisSide<T>& from_side, Complex* to, const AxisSide<T>& to_side,
                       cpu::LineRange columns, bool adjoint) {
    if (columns.count > 0)
      ffts_[adjoint].lines->run(from, from_side, to, to_side, lines_count_,
                                {columns.first * run_, columns.count * run_});
  }

  void forward(const Complex* values, Complex* modes, std::int64_t now, bool adjoint, LocalWork& local) {
    const std::int64_t elements = grid_.shape().elements, plane = run_ * columns_.items();
    const Complex* here = values;
    std::int64_t distance = count_;
    if (!moved_.stays()) {
      here = values_.data(), distance = moved_.arrived();
    }
    clock_.time("move values", [&] {
      for (std::int64_t b = 0; b < now; ++b)
        moved_.follow(ranks_, values + b * count_, values_.data() + b * moved_.arrived());
    });
    clock_.time("spread", [&] {
      local.run([&] {
        if (!grid_.empty()) gridder_->spread(here, distance, nullptr, grid_.data(), elements, now);
      });
    });
    clock_.time("shared cells", [&] {
      for (std::int64_t b = 0; b < now; ++b) grid_.fold(ranks_, grid_.data() + b * elements, threads_);
    });
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] {
        for_each_layer(grid_.data() + b * elements, work, which, [&](Complex* cells, Complex* kept, std::int64_t n) {
          ffts_[adjoint].planes->truncate(cells, grid_.shape().stride[last_], kept, plane, n);
        });
      });
    };
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      Complex* const own = modes + b * lines_count_ * problem_.n[last_];
      local.run([&] { transform_lines(work, fine_side(), own, mode_side(), which, adjoint); });
    };
    pipeline_.to_columns(now, clock_, planes, lines);
  }

  void backward(Complex* values, const Complex* modes, std::int64_t now, bool adjoint, LocalWork& local) {
    const std::int64_t elements = grid_.shape().elements, plane = run_ * columns_.items();
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      const Complex* const own = modes + b * lines_count_ * problem_.n[last_];
      local.run([&] { transform_lines(own, mode_side(), work, fine_side(), which, adjoint); });
    };
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] {
        for_each_layer(grid_.data() + b * elements, work, which, [&](Complex* cells, Complex* kept, std::int64_t n) {
          ffts_[adjoint].planes->pad(kept, plane, cells, grid_.shape().stride[last_], n);
        });
      });
    };
    pipeline_.to_planes(now, clock_, lines, planes);
    clock_.time("shared cells", [&] {
      for (std::int64_t b = 0; b < now; ++b) grid_.fill(ranks_, grid_.data() + b * elements, threads_);
    });
    Complex* const here = moved_.stays() ? values : values_.data();
    const std::int64_t distance = moved_.stays() ? count_ : moved_.arrived();
    clock_.time("interpolate", [&] {
      local.run([&] {
        if (!grid_.empty()) gridder_->interpolate(grid_.data(), elements, nullptr, here, distance, now);
      });
    });
    clock_.time("move values", [&] {
      for (std::int64_t b = 0; b < now; ++b)
        moved_.come_back(ranks_, values_.data() + b * moved_.arrived(), values + b * count_);
    });
  }

  const Communicator& ranks_;
  Problem problem_;
  RankPlan plan_;
  RankOptions options_;
  int last_;
  int threads_ = 1;
  std::int64_t chunk_ = 1, run_ = 1, lines_count_ = 0, count_ = 0;
  bool bound_ = false;
  SlabShape shape_;
  Split columns_;
  std::array<std::vector<double>, 3> factors_;  // deconvolution
  cpu::LineSide mode_side_;
  std::vector<T> line_factor_;
  std::unique_ptr<cpu::Gridder<T>> gridder_;
  MovedPoints<T> moved_;
  SlabGrid<T> grid_;
  Pipeline<T> pipeline_;
  std::array<Ffts, 2> ffts_;  // forward, adjoint
  cpu::Buffer<Complex> values_;
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
  cpu::StageClock clock_;
};

}  // namespace

std::unique_ptr<RankExecutor> make_nufft_slabs(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                               const RankOptions& options) {
  if (problem.precision == Precision::f32) return std::make_unique<NufftSlabs<float>>(ranks, problem, plan, options);
  return std::make_unique<NufftSlabs<double>>(ranks, problem, plan, options);
}

}  // namespace fourtune::runtime::distributed
