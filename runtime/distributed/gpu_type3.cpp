// Type 3 by slabs whose ranks have GPUs: the steps of host_type3.cpp, with points as gpu_placed_points.h has them.
//
//   set_points: box of all points -> grids -> sources and targets move to the ranks of their cells
//   execute: phases -> move values -> spread -> outer grid's planes -> its columns -> lines -> planes of the inner grid
//            -> transform planes -> fetch planes -> interpolate -> move values back -> factors
//
// The adjoint runs backwards. Values are multiplied where the application has them, so points move with all digits that
// it gave them, and kernels locate them by maps (nufft::Map). A transform of a batch is worked on at a time: the outer
// grid's columns are then lines' input where they arrive.
#include <algorithm>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/gpu/nufft_type3_stages.h"
#include "runtime/distributed/device_middle.h"
#include "runtime/distributed/gpu_placed_points.h"
#include "runtime/distributed/gpu_type3_factors.h"
#include "runtime/distributed/passed_array.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/slabs/gpu_slab_ffts.h"
#include "runtime/slabs/gpu_slab_plan.h"

namespace fourtune::runtime::distributed {
namespace {

using Lane = DeviceStreams::Lane;

template <class T>
class GpuType3 final : public RankExecutor {
  using Complex = std::complex<T>;
  using Cells = std::array<std::int64_t, 3>;

 public:
  GpuType3(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options,
           const RankDevice& device)
      : ranks_(ranks),
        problem_(problem),
        plan_(plan),
        local_(plan.local),
        options_(options),
        device_(device),
        backend_(program_backend(*device.backend)),
        streams_(*device.streams),
        memory_(*device.backend, device.number),
        last_(static_cast<std::size_t>(problem.dim - 1)),
        factors_(problem, backend_.queue(device.number), streams_.stream(Lane::work)),
        exchange_(ranks, streams_, memory_, plan.exchange, device.nccl),
        transform_(generator::window_of(local_.window),
                   std::min(std::numbers::pi, 1.0000001 * std::numbers::pi / local_.window.sigma)) {}

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    warm_ = {false, false};
    ready_ = false;
    own_sources_ = points.m, own_targets_ = points.k;
    std::array<PassedArray, 6> copies;
    PointSet own = points;
    clock_.time("centre", [&] {
      ranks_.together([&] { upload(own, copies); });
      find_geometry(own);
    });
    if (some_) {
      const PointSet sources = side(own.m, own.x, own.y, own.z), targets = side(own.k, own.s, own.t, own.u);
      make_sides();
      const bool outer_changed = outer_->cut(sources), inner_changed = inner_->cut(targets);
      ranks_.together([&] {
        if (outer_changed) outer_->bind();
        if (inner_changed) inner_->bind();
        if (outer_changed || inner_changed || !bound_) bind();
        factors_.make(own, geometry_, transform_);
        memory_.resize(scaled_, std::max(own.m, own.k) * kElement);
      });
      bound_ = true;
      outer_->move(sources);
      inner_->move(targets);
      ready_ = true;
    }
    clock_.end_set_points();
  }

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    if (some_ && !ready_) throw Error(Status::internal, "the last set_points failed");
    if (ready_ && !warm_[adjoint]) ranks_.together([&] { make_ffts(adjoint); });
    LocalWork local;
    char *values = nullptr, *results = nullptr;
    local.run([&] {
      values = values_of_.bind(first, problem_.batch * own_sources_ * kElement, streams_, memory_);
      results = results_of_.bind(second, problem_.batch * own_targets_ * kElement, streams_, memory_);
      clock_.time("upload", [&] {
        memory_.wait();  // for what the application has put on the default stream
        (adjoint ? results_of_ : values_of_).upload(memory_);
      });
    });
    if (!ready_) {  // without sources or targets the sum is empty
      local.run([&] {
        adjoint ? factors_.clear(values, problem_.batch * own_sources_)
                : factors_.clear(results, problem_.batch * own_targets_);
      });
    }
    for (std::int64_t b = 0; b < problem_.batch && ready_; ++b) {
      char *const from = values + b * own_sources_ * kElement, *const to = results + b * own_targets_ * kElement;
      adjoint ? backward(from, to, local) : forward(from, to, local);
    }
    local.run([&] {
      clock_.time("wait", [&] { streams_.wait(Lane::work); });
      exchange_.settle();
      if (ready_) outer_->settle(), inner_->settle();
    });
    local.always([&] { exchange_.rethrow(); });
    if (ready_) outer_->rethrow(local), inner_->rethrow(local);
    local.run([&] { clock_.time("download", [&] { (adjoint ? values_of_ : results_of_).download(memory_); }); });
    local.end(ranks_, warm_[adjoint]);
  }

  void let_go() override { exchange_.forget(); }

  MemoryUse memory() const override {
    std::int64_t held = to_columns_.bytes() + to_planes_.bytes() + exchange_.bytes() + factors_.bytes() +
                        values_of_.bytes() + results_of_.bytes() + static_cast<std::int64_t>(scaled_.bytes());
    if (outer_) held += outer_->bytes() + inner_->bytes();
    if (ffts_) held += ffts_->bytes();
    return {held, held};
  }
  // The stages before "wait" only begin their work.
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  static constexpr auto kElement = static_cast<std::int64_t>(sizeof(Complex));

  static PointSet side(std::int64_t count, const void* x, const void* y, const void* z) {
    PointSet points;
    points.m = count, points.x = x, points.y = y, points.z = z;
    return points;
  }
  Cells cells(std::int64_t generator::Type3Dimension::*which) const {
    Cells all{1, 1, 1};
    for (std::size_t d = 0; d <= last_; ++d) all[d] = geometry_[d].*which;
    return all;
  }
  std::int64_t plane(const Cells& cells) const { return cells[0] * (last_ == 2 ? cells[1] : 1); }

  void upload(PointSet& own, std::array<PassedArray, 6>& copies) {
    memory_.wait();  // for what the application has put on the default stream
    const std::array<const void**, 6> coordinates{&own.x, &own.y, &own.z, &own.s, &own.t, &own.u};
    for (std::size_t i = 0; i < 6; ++i) {
      if (i % 3 > last_) continue;
      *coordinates[i] =
          copies[i].bind(const_cast<void*>(*coordinates[i]),
                         (i < 3 ? own.m : own.k) * static_cast<std::int64_t>(sizeof(T)), streams_, memory_);
      copies[i].upload(memory_);
    }
  }

  // The box of all ranks' points decides about the grids. Collective.
  void find_geometry(const PointSet& own) {
    static constexpr const char* kNames[6] = {"x", "y", "z", "s", "t", "u"};
    constexpr double kNone = std::numeric_limits<double>::infinity();
    GpuType3Factors::Extents extents;
    ranks_.together([&] {
      extents = factors_.extents(own);
      for (std::size_t i = 0; i < 6 && !options_.trust_points; ++i)
        if (i % 3 <= last_ && (i < 3 ? own.m : own.k) > 0 && extents[i].bad != ~std::uint64_t{0})
          throw Error(Status::invalid_point, std::string(kNames[i]) + "[" + std::to_string(extents[i].bad) +
                                                 "] is NaN or infinite; coordinates are finite numbers");
    });
    std::array<generator::Interval, 6> boxes;
    for (std::size_t i = 0; i < 6; ++i) {
      if (i % 3 > last_) continue;
      const bool none = (i < 3 ? own.m : own.k) == 0;
      const double low = -ranks_.largest(none ? -kNone : -extents[i].low),
                   high = ranks_.largest(none ? -kNone : extents[i].high);
      if (low <= high) boxes[i] = generator::type3_interval(low, high);
    }
    counts_ = ranks_.sum(std::vector<std::int64_t>{own.m, own.k});
    some_ = counts_[0] > 0 && counts_[1] > 0;
    for (std::size_t d = 0; d <= last_ && some_; ++d) {
      generator::Interval source = boxes[d];
      const generator::Interval target = boxes[d + 3];
      if (problem_.extent && source.half * target.half > 1.001 * (*problem_.extent)[d] + 1e-300)
        throw Error(Status::contradiction, "extent: half-widths of the points multiply to more than the problem says");
      source.half = generator::type3_source_half(problem_, static_cast<int>(d), source.half, target.half);
      geometry_[d] = generator::type3_dimension(local_, source, target, {});
      geometry_[d].outer = std::max<std::int64_t>(geometry_[d].outer, local_.window.width);
    }
  }

  // Both sides' grids and points; they are kept when other points need the same sizes.
  void make_sides() {
    const Cells outer = cells(&generator::Type3Dimension::outer), inner = cells(&generator::Type3Dimension::inner);
    const Cells held = cells(&generator::Type3Dimension::held);
    // What integers hold, where sums are of integers, follows from the number of points.
    const bool other_sums = options_.deterministic && counts_ != counts_of_sides_;
    if (!outer_ || other_sums || outer != local_.window.fine || inner != local_.inner.fine || held != held_) {
      exchange_.forget();
      outer_.reset(), inner_.reset(), ffts_.reset();
      bound_ = false;
      ranks_.together([&] {
        local_.window.fine = outer, local_.inner.fine = inner, held_ = held;
        auto sources = make_side(local_.window, outer, true), targets = make_side(local_.inner, held, false);
        outer_ = std::move(sources), inner_ = std::move(targets);
        counts_of_sides_ = counts_;
      });
    }
    std::array<generator::nufft::Map, 3> sources, targets;
    for (std::size_t d = 0; d <= last_; ++d) {
      sources[d] = gpu::type3_source_map(geometry_[d], outer[d]);
      targets[d] = gpu::type3_target_map(geometry_[d], inner[d], held[d]);
    }
    outer_->set_maps(sources), inner_->set_maps(targets);
  }
  std::unique_ptr<GpuPlacedPoints> make_side(const generator::WindowChoice& window, const Cells& cells, bool sources) {
    const DeviceTraits traits = device_.backend->traits(device_.number);
    GpuPlacedPoints::Spec spec;
    spec.problem = problem_;
    spec.problem.type = sources ? 1 : 2;
    spec.problem.n = Sizes(cells[0], cells[1], cells[2]);
    spec.problem.m = counts_[sources ? 0 : 1];
    spec.problem.k.reset(), spec.problem.extent.reset();
    spec.plan = local_;
    spec.plan.window = window;
    spec.plan.window.fine = cells;
    generator::nufft::Shape shape = whole_grid(spec.problem, spec.plan, traits);
    shape.semicircle = generator::semicircle_of(window);
    spec.plan.gpu().points = gpu::type3_points(local_, shape, sources);
    spec.plan = fit_for_gpu_slabs(spec.plan, spec.problem, traits, options_.deterministic);
    spec.balance = plan_.balance;
    spec.way = plan_.exchange;
    spec.deterministic = options_.deterministic;
    spec.trust = true;  // find_geometry has already checked every point
    spec.mapped = true;
    return std::make_unique<GpuPlacedPoints>(ranks_, device_, memory_, spec, clock_);
  }

  // What depends on where the grids are cut.
  void bind() {
    bound_ = false;
    const Cells &outer = local_.window.fine, &inner = local_.inner.fine;
    run_ = last_ == 2 ? outer[0] : 1;
    const Split columns = Split::even(outer[last_ - 1], ranks_.size());
    const bool joined = ranks_.size() <= kMostJoined;
    const auto shape = [&](const GpuPlacedPoints& points) {
      return TranspositionShape{points.slab().of_ranks, columns, run_, kElement, joined};
    };
    to_columns_.bind(ranks_, shape(*outer_), plan_.chunks, 1, exchange_, memory_);
    to_planes_.bind(ranks_, shape(*inner_), plan_.chunks, 1, exchange_, memory_);
    generator::gpu_nufft::GridFft grid;
    grid.dim = problem_.dim;
    grid.precision = problem_.precision;
    grid.modes = outer;
    grid.fine = inner;
    grid.order = gpu::order_of(geometry_[0].middle ? ModeOrder::centred : ModeOrder::fft);
    const generator::Window window = generator::window_of(local_.inner);
    for (std::size_t d = 0; d <= last_; ++d) {
      if (geometry_[d].part) grid.held[d] = held_[d];
      grid.factors[d] = generator::gpu_nufft::deconvolution_factors(window, inner[d], outer[d], grid.order);
    }
    ffts_ = std::make_unique<GpuSlabFfts>(backend_.queue(device_.number), streams_.stream(Lane::work), grid);
  }

  // Each column by itself where bits must not depend on the ranks.
  std::vector<cpu::LineRange> column_pieces(cpu::LineRange which) const {
    return pieces_of(which, options_.deterministic ? piece_bytes : run_ * held_[last_] * kElement);
  }
  std::vector<cpu::LineRange> plane_pieces(cpu::LineRange which) const {
    return pieces_of(which, plane(held_) * kElement);
  }
  void make_ffts(bool adjoint) {
    const int sign = adjoint ? -problem_.sign : problem_.sign;
    const GpuSlabFfts::Strides strides{to_columns_.columns_stride(), to_planes_.columns_stride()};
    for (int c = 0; c < to_planes_.chunks(); ++c) {
      for (const cpu::LineRange& piece : plane_pieces(to_planes_.planes(c)))
        ffts_->prepare_planes(piece.count, sign, adjoint);
      for (const cpu::LineRange& piece : column_pieces(to_planes_.columns(c)))
        ffts_->prepare_lines(piece.count * run_, strides, sign, adjoint);
    }
    to_columns_.middle().reserve(!adjoint), to_planes_.middle().reserve(adjoint);
  }

  // Columns of the outer grid to planes of the inner one, or back.
  void transform_lines(Complex* work, cpu::LineRange which, bool adjoint) {
    Complex* const columns = to_columns_.middle().columns_at(0);
    for (const cpu::LineRange& piece : column_pieces(which)) {
      const std::int64_t at = piece.first * run_;
      ffts_->lines(work + at, columns + at, piece.count * run_, adjoint ? -problem_.sign : problem_.sign, adjoint);
    }
  }
  void transform_planes(Complex* work, cpu::LineRange which, bool adjoint) {
    for (const cpu::LineRange& piece : plane_pieces(which))
      ffts_->planes(inner_->own_plane(0, piece.first), work + piece.first * plane(local_.window.fine), piece.count,
                    adjoint ? -problem_.sign : problem_.sign, adjoint);
  }
  // Planes of the outer grid to the array from which they travel, or back.
  void copy_planes(Complex* work, cpu::LineRange which, bool back) {
    const std::int64_t elements = plane(local_.window.fine), bytes = which.count * elements * kElement;
    if (bytes == 0) return;
    const DeviceStreams::Rows grid{outer_->own_plane(0, which.first), bytes},
        array{work + which.first * elements, bytes};
    back ? streams_.copy(Lane::work, grid, array, bytes, 1) : streams_.copy(Lane::work, array, grid, bytes, 1);
  }

  void forward(char* values, char* results, LocalWork& local) {
    char* spread = values;
    if (factors_.has_phases())
      clock_.time("prephase", [&] {
        spread = static_cast<char*>(scaled_.data());
        local.run([&] { factors_.scale(values, spread, true, false); });
      });
    outer_->spread(spread, 0, false, local);
    const auto leave = [&](std::int64_t, Complex* work, cpu::LineRange which) {
      local.run([&] { copy_planes(work, which, false); });
    };
    const auto stay = [](std::int64_t, Complex*, cpu::LineRange) {};
    to_columns_.to_columns(1, clock_, leave, stay);
    const auto lines = [&](std::int64_t, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_lines(work, which, false); });
    };
    const auto planes = [&](std::int64_t, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_planes(work, which, false); });
    };
    to_planes_.to_planes(1, clock_, lines, planes);
    inner_->interpolate(results, 0, false, local);
    clock_.time("deconvolve", [&] { local.run([&] { factors_.scale(results, results, false, false); }); });
  }

  void backward(char* values, char* results, LocalWork& local) {
    char* const scaled = static_cast<char*>(scaled_.data());
    clock_.time("deconvolve", [&] { local.run([&] { factors_.scale(results, scaled, false, true); }); });
    inner_->spread(scaled, 0, true, local);
    const auto planes = [&](std::int64_t, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_planes(work, which, true); });
    };
    const auto lines = [&](std::int64_t, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_lines(work, which, true); });
    };
    to_planes_.to_columns(1, clock_, planes, lines);
    const auto stay = [](std::int64_t, Complex*, cpu::LineRange) {};
    const auto arrive = [&](std::int64_t, Complex* work, cpu::LineRange which) {
      local.run([&] { copy_planes(work, which, true); });
    };
    to_columns_.to_planes(1, clock_, stay, arrive);
    outer_->interpolate(values, 0, true, local);
    if (factors_.has_phases())
      clock_.time("prephase", [&] { local.run([&] { factors_.scale(values, values, true, true); }); });
  }

  const Communicator& ranks_;
  Problem problem_;
  RankPlan plan_;
  generator::Plan local_;  // with the grids in use
  RankOptions options_;
  RankDevice device_;
  const gpu::ProgramBackend& backend_;
  DeviceStreams& streams_;
  DeviceCopy memory_;
  std::size_t last_;
  std::int64_t run_ = 1, own_sources_ = 0, own_targets_ = 0;
  std::vector<std::int64_t> counts_{0, 0}, counts_of_sides_;  // of all ranks: sources, targets
  bool some_ = false, ready_ = false, bound_ = false;         // some_: there are sources and targets
  std::array<generator::Type3Dimension, 3> geometry_;
  Cells held_{1, 1, 1};
  cpu::StageClock clock_;
  GpuType3Factors factors_;
  std::unique_ptr<GpuPlacedPoints> outer_, inner_;
  DeviceExchange exchange_;
  PipelineOf<DeviceMiddle<T>> to_columns_, to_planes_;  // of the outer grid, and to the inner one
  generator::FourierInterpolant transform_;             // of the outer window
  std::unique_ptr<GpuSlabFfts> ffts_;
  DeviceArray scaled_;
  PassedArray values_of_, results_of_;
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
};

}  // namespace

std::unique_ptr<RankExecutor> make_gpu_type3(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                             const RankOptions& options, const RankDevice& device) {
  if (problem.precision == Precision::f32)
    return std::make_unique<GpuType3<float>>(ranks, problem, plan, options, device);
  return std::make_unique<GpuType3<double>>(ranks, problem, plan, options, device);
}

}  // namespace fourtune::runtime::distributed
