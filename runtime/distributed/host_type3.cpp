// Type 3 by slabs on processors: sources are spread into slabs of one grid, on which a type 2 works that is read at the
// targets, in slabs of another grid (runtime/backends/cpu/nufft/type3_executor.cpp has the mathematics).
//
//   set_points: box of all points -> grids -> sources and targets move to the ranks of their cells
//   execute: spread at sources -> add shared cells -> columns of the outer grid -> lines -> planes of the inner grid
//            -> transform planes -> fetch shared cells -> interpolate at targets
//
// The adjoint runs backwards. Neither grid travels: only the outer grid's cells do, once to columns, and once more with
// what the inner grid keeps along the last dimension.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "generator/plan/summation.h"
#include "generator/plan/type3_windows.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/cpu/nufft/nufft_common.h"
#include "runtime/backends/cpu/nufft/type3_phases.h"
#include "runtime/distributed/axis_lines.h"
#include "runtime/distributed/nufft_planes.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/placed_points.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class HostType3 final : public RankExecutor {
  using Complex = std::complex<T>;
  using Cells = std::array<std::int64_t, 3>;

 public:
  HostType3(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options)
      : ranks_(ranks),
        problem_(problem),
        plan_(plan),
        local_(plan.local),
        sigma_of_(problem, plan.local.window),
        options_(options),
        last_(static_cast<std::size_t>(problem.dim - 1)) {
    chunk_ = std::clamp<std::int64_t>(local_.chunk, 1, problem.batch);
    geometry_.dim = problem.dim, geometry_.sign = problem.sign;
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    warm_ = {false, false};
    OwnPoints<T> sources{points.m, coordinates(points.x, points.y, points.z), {}};
    OwnPoints<T> targets{points.k, coordinates(points.s, points.t, points.u), {}};
    own_sources_ = points.m, own_targets_ = points.k;
    clock_.time("centre", [&] { find_geometry(sources, targets); });
    if (ready_) {
      sources.map = geometry_.source_map(), targets.map = geometry_.target_map();
      make_points();
      const bool outer_changed = outer_->cut(sources), inner_changed = inner_->cut(targets);
      if (outer_changed || inner_changed || !bound_) bind();
      before_conjugate_ = {}, after_conjugate_ = {};
      outer_->move(sources, [&](std::int64_t count, const auto& here) {
        geometry_.before(here.data(), count, threads(), before_);
      });
      inner_->move(targets, [&](std::int64_t count, const auto& here) {
        geometry_.after(here.data(), count, *phihat_, threads(), after_);
      });
    }
    clock_.end_set_points();
  }

  void execute(void* first, void* second, bool adjoint) override {
    auto* values = static_cast<Complex*>(first);
    auto* results = static_cast<Complex*>(second);
    clock_.begin_execute();
    if (!ready_) {  // without sources or targets the sum is empty
      adjoint ? std::fill_n(values, own_sources_ * problem_.batch, Complex{})
              : std::fill_n(results, own_targets_ * problem_.batch, Complex{});
      return;
    }
    LocalWork local;
    local.run([&] {
      make_ffts(adjoint);
      if (adjoint) cpu::conjugate_once(before_, before_conjugate_), cpu::conjugate_once(after_, after_conjugate_);
    });
    for (std::int64_t b = 0; b < problem_.batch; b += chunk_) {
      const std::int64_t now = std::min(chunk_, problem_.batch - b);
      adjoint ? backward(values + b * own_sources_, results + b * own_targets_, now, local)
              : forward(values + b * own_sources_, results + b * own_targets_, now, local);
    }
    local.end(ranks_, warm_[adjoint]);
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = to_columns_.bytes() + to_planes_.bytes() + columns_.bytes() + before_.bytes() + after_.bytes() +
               before_conjugate_.bytes() + after_conjugate_.bytes();
    use.held += (outer_ ? outer_->bytes() + inner_->bytes() : 0) + (planes_ ? planes_->bytes() : 0);
    for (const auto& lines : lines_) use.held += lines ? lines->bytes() : 0;
    use.needed = use.held;
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  static std::array<const T*, 3> coordinates(const void* x, const void* y, const void* z) {
    return {static_cast<const T*>(x), static_cast<const T*>(y), static_cast<const T*>(z)};
  }
  int threads() const { return local_.cpu().threads; }
  Cells cells(std::int64_t generator::Type3Dimension::*which) const {
    Cells all{1, 1, 1};
    for (std::size_t d = 0; d <= last_; ++d) all[d] = geometry_.along[d].*which;
    return all;
  }

  // The box of all ranks' points decides about the grids. Collective.
  void find_geometry(const OwnPoints<T>& sources, const OwnPoints<T>& targets) {
    static constexpr const char* kNames[2][3] = {{"x", "y", "z"}, {"s", "t", "u"}};
    constexpr double kNone = std::numeric_limits<double>::infinity();
    std::array<std::array<generator::Interval, 3>, 2> boxes;
    for (int side = 0; side < 2; ++side) {
      const OwnPoints<T>& points = side == 0 ? sources : targets;
      for (std::size_t d = 0; d <= last_; ++d) {
        const T* const x = points.at[d];
        ranks_.together([&] { cpu::interval(x, points.count, options_.trust_points, kNames[side][d], threads()); });
        double low = kNone, high = -kNone;
        for (std::int64_t j = 0; j < points.count; ++j) {
          low = std::min<double>(low, x[j]);
          high = std::max<double>(high, x[j]);
        }
        low = -ranks_.largest(-low), high = ranks_.largest(high);
        boxes[static_cast<std::size_t>(side)][d] =
            low <= high ? generator::type3_interval(low, high) : generator::Interval{};
      }
    }
    const std::vector<std::int64_t> counts = ranks_.sum(std::vector<std::int64_t>{sources.count, targets.count});
    ready_ = counts[0] > 0 && counts[1] > 0;
    if (!ready_) return;
    std::array<double, 3> product{};
    for (std::size_t d = 0; d <= last_; ++d) product[d] = boxes[0][d].half * boxes[1][d].half;
    require_extent(product);
    const double sigma = sigma_of_(counts[0], product);
    if (sigma != local_.window.sigma) phihat_.reset();
    local_.window.sigma = sigma;
    for (std::size_t d = 0; d <= last_; ++d)
      geometry_.along[d] = generator::type3_dimension(local_, boxes[0][d], boxes[1][d], {});
  }
  void require_extent(const std::array<double, 3>& product) const {
    for (std::size_t d = 0; problem_.extent && d <= last_; ++d)
      if (product[d] > 1.001 * (*problem_.extent)[d] + 1e-300)
        throw Error(Status::contradiction, "extent: half-widths of the points multiply to more than the problem says");
  }

  // Gridders and grids; they are kept when other points need the same sizes.
  void make_points() {
    const Cells outer = cells(&generator::Type3Dimension::outer), inner = cells(&generator::Type3Dimension::inner);
    const Cells held = cells(&generator::Type3Dimension::held);
    if (outer_ && phihat_ && outer == local_.window.fine && inner == local_.inner.fine && held == held_) return;
    outer_.reset(), inner_.reset();
    bound_ = false;
    ranks_.together([&] {
      local_.window.fine = outer, local_.inner.fine = inner, held_ = held;
      outer_ = make_side(local_.window, outer, 0);
      inner_ = make_side(local_.inner, held, outer[0]);
      phihat_.emplace(generator::window_of(local_.window),
                      std::min(cpu::kPi, 1.0000001 * cpu::kPi / local_.window.sigma));
    });
  }
  // room: cells that the rows of planes have room for.
  std::unique_ptr<PlacedPoints<T>> make_side(const generator::WindowChoice& window, const Cells& fine,
                                             std::int64_t room) {
    generator::Plan fitted = local_;
    fitted.window = window, fitted.window.fine = fine;
    fit_rows(fitted, problem_.dim - 1);
    const generator::CpuStages& stages = fitted.cpu();
    cpu::GridderSpec spec;
    spec.grid = cpu::padded_shape(problem_.dim, fine, sizeof(Complex));
    spec.window = window;
    spec.sort = stages.sort;
    spec.spread = stages.spread;
    spec.interp = stages.interp;
    spec.threads = stages.threads;
    spec.deterministic = options_.deterministic;
    spec.trust_points = true;  // find_geometry has already checked every point
    spec.longest_sum = generator::longest_sum(problem_, generator::magnification(window, problem_.dim));
    GridCut cut;
    cut.dim = problem_.dim;
    cut.fine = fine;
    cut.shared = window.width - 1;
    cut.ranks = plan_.grid;
    cut.room = room;
    cut.layer_per_row = options_.deterministic;
    for (std::size_t d = 0; d < 3; ++d) cut.side[d] = std::min<std::int64_t>(stages.sort.tile[d], fine[d]);
    return std::make_unique<PlacedPoints<T>>(ranks_, spec, cut, plan_.balance, Moving{chunk_}, clock_);
  }

  // What depends on where the grids are cut.
  void bind() {
    bound_ = false;
    ranks_.together([&] {
      const Cells& outer = local_.window.fine;
      run_ = last_ == 2 ? outer[0] : 1;
      const Split columns = Split::even(outer[last_ - 1], ranks_.size());
      lines_count_ = run_ * columns.size(ranks_.rank());
      const auto shape = [&](const PlacedPoints<T>& points) {
        return TranspositionShape{points.where().cells(problem_.dim - 1), columns, run_, sizeof(Complex)};
      };
      to_columns_.bind(ranks_, shape(*outer_), plan_.chunks, chunk_, threads());
      to_planes_.bind(ranks_, shape(*inner_), plan_.chunks, chunk_, threads());
      columns_.resize(checked_multiply(lines_count_ * outer[last_], chunk_, "columns"));
      inner_problem_ = problem_;
      inner_problem_.type = 2;
      inner_problem_.n = Sizes(outer[0], outer[1], outer[2]);
      const generator::Window window = generator::window_of(local_.inner);
      for (std::size_t d = 0; d <= last_; ++d) factors_[d] = cpu::deconvolution(window, local_.inner.fine[d], outer[d]);
      const ModeOrder order = geometry_.along[0].middle ? ModeOrder::centred : ModeOrder::fft;
      mode_side_ = cpu::part_side(local_.inner.fine[last_], outer[last_], order);
      cell_side_ = geometry_.along[last_].part
                       ? cpu::part_side(local_.inner.fine[last_], held_[last_], ModeOrder::centred)
                       : cpu::whole_side(held_[last_]);
      line_factor_ = cpu::factors_in_order<T>(factors_[last_], mode_side_);
      NufftPlaneSpec<T> planes{ranks_,          inner_problem_, plan_, order, inner_->grid(),
                               inner_->where(), factors_,       1,     clock_};
      for (std::size_t d = 0; d < last_; ++d)
        if (geometry_.along[d].part) planes.length[d] = local_.inner.fine[d];
      planes_ = make_whole_nufft_planes<T>(planes);
      lines_ = {};
      make_ffts(false);
    });
    bound_ = true;
  }
  void make_ffts(bool adjoint) {
    planes_->make(adjoint);
    if (lines_count_ > 0 && !lines_[adjoint])
      lines_[adjoint] =
          std::make_unique<AxisLines<T>>(local_.inner.fine[last_], adjoint ? -problem_.sign : problem_.sign,
                                         run_ * local_.window.fine[last_ - 1], local_.cpu().fft, threads());
  }

  AxisSide<T> mode_side() const { return {mode_side_, line_factor_.data()}; }
  AxisSide<T> cell_side() const { return {cell_side_, nullptr}; }
  Complex* columns(std::int64_t b) { return columns_.data() + b * lines_count_ * local_.window.fine[last_]; }
  cpu::LineRange lines_of(cpu::LineRange columns) const { return {columns.first * run_, columns.count * run_}; }

  // Calls f(first of so many adjacent planes of cells, its number among this rank's planes, how many there are) for
  // what each layer of a grid has of these planes of transform b.
  template <class F>
  void for_each_layer(PlacedPoints<T>& points, std::int64_t b, cpu::LineRange which, F f) {
    GridPart<T>& grid = points.grid();
    for (const LayerSpan& run : grid.planes()) {
      const std::int64_t begin = std::max(run.own, which.first),
                         end = std::min(run.own + run.count, which.first + which.count);
      if (begin >= end) continue;
      const std::int64_t at = b * grid.shape().elements + (run.stored + begin - run.own) * grid.shape().stride[last_];
      f(grid.data() + at, begin, end - begin);
    }
  }
  // Calls move(row of cells, row of the array) for these planes of the outer grid.
  template <class Move>
  void for_each_row(std::int64_t b, Complex* array, cpu::LineRange which, Move move) {
    const cpu::GridShape& grid = outer_->grid().shape();
    const std::int64_t x = local_.window.fine[0], rows = last_ == 2 ? local_.window.fine[1] : 1;
    for_each_layer(*outer_, b, which, [&](Complex* cells, std::int64_t first, std::int64_t count) {
      for (std::int64_t p = 0; p < count; ++p)
        for (std::int64_t r = 0; r < rows; ++r)
          move(cells + p * grid.stride[last_] + (last_ == 2 ? r * grid.stride[1] : 0),
               array + ((first + p) * rows + r) * x, x);
    });
  }
  // Calls move(lines of the array, lines kept between the transpositions) for these columns.
  template <class Move>
  void for_each_line(std::int64_t b, Complex* array, cpu::LineRange which, Move move) {
    const cpu::LineRange lines = lines_of(which);
    for (std::int64_t p = 0; p < local_.window.fine[last_]; ++p)
      move(array + p * lines_count_ + lines.first, columns(b) + p * lines_count_ + lines.first, lines.count);
  }

  void forward(const Complex* values, Complex* results, std::int64_t now, LocalWork& local) {
    outer_->spread(values, before_.data(), now, local);
    const auto leave = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      for_each_row(b, work, which, [](Complex* cells, Complex* row, std::int64_t n) { std::copy_n(cells, n, row); });
    };
    const auto keep = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      for_each_line(b, work, which, [](Complex* line, Complex* kept, std::int64_t n) { std::copy_n(line, n, kept); });
    };
    to_columns_.to_columns(now, clock_, leave, keep);
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      if (which.count > 0 && lines_count_ > 0)
        local.run([&] { lines_[0]->run(columns(b), mode_side(), work, cell_side(), lines_count_, lines_of(which)); });
    };
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      for_each_layer(*inner_, b, which, [&](Complex* cells, std::int64_t first, std::int64_t count) {
        planes_->pad(plane(work, first), cells, count, false, local);
      });
    };
    to_planes_.to_planes(now, clock_, lines, planes);
    inner_->interpolate(results, after_.data(), now, local);
  }

  void backward(Complex* values, const Complex* results, std::int64_t now, LocalWork& local) {
    inner_->spread(results, after_conjugate_.data(), now, local);
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      for_each_layer(*inner_, b, which, [&](Complex* cells, std::int64_t first, std::int64_t count) {
        planes_->truncate(cells, plane(work, first), count, true, local);
      });
    };
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      if (which.count > 0 && lines_count_ > 0)
        local.run([&] { lines_[1]->run(work, cell_side(), columns(b), mode_side(), lines_count_, lines_of(which)); });
    };
    to_planes_.to_columns(now, clock_, planes, lines);
    const auto keep = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      for_each_line(b, work, which, [](Complex* line, Complex* kept, std::int64_t n) { std::copy_n(kept, n, line); });
    };
    const auto arrive = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      for_each_row(b, work, which, [](Complex* cells, Complex* row, std::int64_t n) { std::copy_n(row, n, cells); });
    };
    to_columns_.to_planes(now, clock_, keep, arrive);
    outer_->interpolate(values, before_conjugate_.data(), now, local);
  }
  // What is kept of a plane of the inner grid.
  Complex* plane(Complex* work, std::int64_t number) const {
    return work + number * run_ * local_.window.fine[last_ - 1];
  }

  const Communicator& ranks_;
  Problem problem_, inner_problem_;
  RankPlan plan_;
  generator::Plan local_;  // with the grids and the oversampling in use
  generator::Type3Sigma sigma_of_;
  RankOptions options_;
  std::size_t last_;
  std::int64_t chunk_ = 1, run_ = 1, lines_count_ = 0, own_sources_ = 0, own_targets_ = 0;
  bool ready_ = false, bound_ = false;
  cpu::Type3Geometry geometry_;
  Cells held_{1, 1, 1};
  std::array<std::vector<double>, 3> factors_;           // deconvolution of the inner window
  std::optional<generator::FourierInterpolant> phihat_;  // of the outer window
  cpu::LineSide mode_side_, cell_side_;
  std::vector<T> line_factor_;
  cpu::StageClock clock_;
  std::unique_ptr<PlacedPoints<T>> outer_, inner_;
  Pipeline<T> to_columns_, to_planes_;  // of the outer grid, and to the inner one
  cpu::Buffer<Complex> columns_;        // of the outer grid, between both
  std::unique_ptr<NufftPlanes<T>> planes_;
  std::array<std::unique_ptr<AxisLines<T>>, 2> lines_;  // forward and, made on first use, adjoint
  cpu::Buffer<Complex> before_, after_, before_conjugate_, after_conjugate_;
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
};

}  // namespace

std::unique_ptr<RankExecutor> make_host_type3(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                              const RankOptions& options) {
  if (problem.precision == Precision::f32) return std::make_unique<HostType3<float>>(ranks, problem, plan, options);
  return std::make_unique<HostType3<double>>(ranks, problem, plan, options);
}

}  // namespace fourtune::runtime::distributed
