// Type 3: spreads the sources, runs a type 2 on that grid read at the rescaled targets, then deconvolves at the
// targets. Both parameterisations use the same stages; type3_parameters.h has the geometry.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "generator/plan/summation.h"
#include "generator/plan/type3_windows.h"
#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/cpu/fft/long.h"
#include "runtime/backends/cpu/nufft/nufft_common.h"
#include "runtime/backends/cpu/nufft/nufft_executor.h"
#include "runtime/backends/cpu/nufft/type3_phases.h"

namespace fourtune::runtime::cpu {
namespace {

// A fine grid that stores `held` cells per dimension, with a halo; its rows and planes also have room for `modes`
// (PrunedFft).
GridShape held_shape(int dim, const std::array<std::int64_t, 3>& held, const std::array<std::int64_t, 3>& modes,
                     int width, std::int64_t element_bytes) {
  std::array<std::int64_t, 3> room = held;
  for (int d = 0; d + 1 < dim; ++d) room[d] = std::max(held[d], modes[d]);
  GridShape shape = halo_shape(dim, room, width, element_bytes);
  shape.fine = held;
  return shape;
}

std::int64_t round_up(std::int64_t n, std::int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

template <class T>
class Type3Executor final : public Executor {
  using Complex = std::complex<T>;

 public:
  Type3Executor(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options)
      : problem_(problem), plan_(plan), sigma_of_(problem, plan.window), options_(options) {
    chunk_ = std::clamp<std::int64_t>(plan_.chunk, 1, problem.batch);
    geometry_.dim = problem.dim, geometry_.sign = problem.sign;
    if (plan_.type3 == generator::Type3Rule::gaussian) bind_gaussian();
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    const T* sources[3] = {static_cast<const T*>(points.x), static_cast<const T*>(points.y),
                           static_cast<const T*>(points.z)};
    const T* targets[3] = {static_cast<const T*>(points.s), static_cast<const T*>(points.t),
                           static_cast<const T*>(points.u)};
    m_ = points.m, k_ = points.k;
    ready_ = false;
    if (m_ == 0 || k_ == 0) {
      check_empty(sources, targets);
      clock_.end_set_points();
      return;
    }
    clock_.time("centre", [&] { find_geometry(sources, targets); });
    clock_.time("plan", [&] { bind_grids(); });
    clock_.time("sort", [&] {
      // The larger grid has the most room, and none of them is in use.
      const std::span<std::byte> outer = outer_grids_.memory(), inner = inner_grids_.memory();
      const std::span<std::byte> lent = outer.size() > inner.size() ? outer : inner;
      outer_->set_points(m_, sources[0], sources[1], sources[2], geometry_.source_map(), lent);
      inner_->set_points(k_, targets[0], targets[1], targets[2], geometry_.target_map(), lent);
    });
    clock_.time("phase", [&] { make_phases(sources, targets); });
    ready_ = true;
    clock_.end_set_points();
  }

  // Grids are made for the points themselves, but points are still checked against the bounds.
  void set_bounds(const Bounds& bounds) override { bounds_ = bounds; }

  void execute(void* first, void* second, bool adjoint) override {
    auto* values = static_cast<Complex*>(first);
    auto* results = static_cast<Complex*>(second);
    clock_.begin_execute();
    if (!ready_) {  // without sources or targets the sum is empty
      adjoint ? std::fill_n(values, m_ * problem_.batch, Complex{})
              : std::fill_n(results, k_ * problem_.batch, Complex{});
      return;
    }
    if (adjoint) prepare_adjoint();
    for (std::int64_t b = 0; b < problem_.batch; b += chunk_) {
      const std::int64_t now = std::min(chunk_, problem_.batch - b);
      adjoint ? backward(values + b * m_, results + b * k_, now) : forward(values + b * m_, results + b * k_, now);
    }
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = outer_grids_.bytes() + inner_grids_.bytes() + before_.bytes() + after_.bytes() +
               before_conjugate_.bytes() + after_conjugate_.bytes() + (outer_ ? outer_->bytes() : 0) +
               (inner_ ? inner_->bytes() : 0) + (fft_ ? fft_->bytes() : 0) + (adjoint_fft_ ? adjoint_fft_->bytes() : 0);
    const std::int64_t more = std::max(fft_ ? fft_->more_bytes() : 0, adjoint_fft_ ? adjoint_fft_->more_bytes() : 0);
    use.needed = ready_ ? use.held + more : estimate_bytes();
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }
  const generator::Plan& plan() const override { return plan_; }
  std::string wisdom() const override { return fft_ ? fft_->wisdom() : std::string(); }

 private:
  void bind_gaussian() {
    gaussian_ = gaussian_rule(problem_.tol, plan_.gaussian_r);
    plan_.window.kind = plan_.inner.kind = generator::WindowKind::gaussian;
    plan_.window.width = plan_.inner.width = gaussian_.width;
    plan_.window.sigma = plan_.inner.sigma = std::min(plan_.gaussian_r, 4.0);
    // phi(x) = exp(-beta x^2) with x = 2 t / w is exp(-t^2 / (4 b)).
    beta_ = gaussian_.width * static_cast<double>(gaussian_.width) / (16 * gaussian_.b);
  }

  // Without sources or targets there is no geometry, but bad points are still reported.
  void check_empty(const T* const* sources, const T* const* targets) const {
    for (int d = 0; d < problem_.dim; ++d) {
      look_at(sources[d], m_, d);
      look_at(targets[d], k_, 3 + d);
    }
  }
  // which: 0 .. 5 for x, y, z, s, t, u.
  Interval look_at(const T* coordinates, std::int64_t count, int which) const {
    const auto at = static_cast<std::size_t>(which);
    const Promise promise = bounds_ ? Promise{bounds_->low[at], bounds_->high[at]} : Promise{};
    return interval(coordinates, count, options_.trust_points, names[which], plan_.cpu().threads,
                    bounds_ ? &promise : nullptr);
  }

  void find_geometry(const T* const* sources, const T* const* targets) {
    std::array<Interval, 3> source, target;
    std::array<double, 3> product{};
    for (int d = 0; d < problem_.dim; ++d) {
      source[d] = look_at(sources[d], m_, d);
      target[d] = look_at(targets[d], k_, 3 + d);
      product[d] = source[d].half * target[d].half;
      if (problem_.extent && product[d] > 1.001 * (*problem_.extent)[d] + 1e-300)
        throw Error(
            Status::contradiction,
            fmt::format("extent: half-widths of the points multiply to {} in dimension {}, but the problem says {}",
                        product[d], "xyz"[d], (*problem_.extent)[d]));
    }
    choose_sigma(product);
    for (int d = 0; d < problem_.dim; ++d) {
      geometry_.along[d] = type3_dimension(plan_, source[d], target[d], gaussian_);
      if (problem_.dim > 1) {
        fill_vectors(d);
      } else if (geometry_.along[d].inner >= kShortLine) {  // long lines are transformed whole
        geometry_.along[d].held = geometry_.along[d].inner;
        geometry_.along[d].part = false;
      }
    }
  }

  // Uses the plan's oversampling factor, or a larger one where rounding would be amplified too much for these points.
  void choose_sigma(const std::array<double, 3>& product) {
    if (plan_.type3 == generator::Type3Rule::gaussian) return;
    const double sigma = sigma_of_(m_, product);
    if (sigma == plan_.window.sigma) return;
    plan_.window.sigma = sigma;
    transform_.reset();
    fft_.reset();  // all grids are bound again
  }

  // The line FFTs move whole vectors of neighbouring lines, so cells are added where a few lines would be left over.
  void fill_vectors(int d) {
    constexpr std::int64_t kLines = 64 / sizeof(T);
    Type3Dimension& g = geometry_.along[d];
    if (d == 0 && g.middle) g.outer = std::min(round_up(g.outer, kLines), g.inner);
    if (d < 2 && g.part) g.held = std::min(round_up(g.held, kLines), g.inner);
  }

  GridderSpec gridder_spec(const GridShape& grid, const generator::WindowChoice& window) const {
    GridderSpec spec;
    spec.grid = grid;
    spec.window = window;
    spec.beta = beta_;
    const generator::CpuStages& stages = plan_.cpu();
    spec.sort = stages.sort;
    spec.spread = stages.spread;
    spec.interp = stages.interp;
    spec.threads = stages.threads;
    spec.deterministic = options_.deterministic;
    spec.exact_points = options_.exact_points;
    if (plan_.type3 == generator::Type3Rule::compose)
      spec.longest_sum = generator::longest_sum(problem_, generator::magnification(window, problem_.dim));
    spec.trust_points = true;  // find_geometry has already checked every point
    return spec;
  }

  // Binds grids, gridders and FFTs; they are kept when a new point set needs the same sizes.
  void bind_grids() {
    std::array<std::int64_t, 3> outer{1, 1, 1}, inner{1, 1, 1}, held{1, 1, 1};
    for (int d = 0; d < problem_.dim; ++d)
      outer[d] = geometry_.along[d].outer, inner[d] = geometry_.along[d].inner, held[d] = geometry_.along[d].held;
    if (fft_ && outer == outer_shape_.fine && held == inner_shape_.fine && inner == plan_.inner.fine) return;
    fft_.reset(), adjoint_fft_.reset();
    outer_.reset(), inner_.reset();
    outer_grids_ = {}, inner_grids_ = {};
    outer_shape_ = halo_shape(problem_.dim, outer, plan_.window.width, sizeof(Complex));
    inner_shape_ = held_shape(problem_.dim, held, outer, plan_.inner.width, sizeof(Complex));
    plan_.window.fine = outer, plan_.inner.fine = inner;
    GridderSpec outer_spec = gridder_spec(outer_shape_, plan_.window);
    outer_spec.pairs = problem_.dim == 2 && pairs_pay();
    outer_ = make_gridder<T>(outer_spec);
    inner_ = make_gridder<T>(gridder_spec(inner_shape_, plan_.inner));
    fft_ = make_fft(problem_.sign, false);
    outer_grids_ = Buffer<Complex>(checked_multiply(outer_shape_.elements, chunk_, "type 3 outer grid"));
    inner_grids_ = Buffer<Complex>(checked_multiply(inner_shape_.elements, chunk_, "type 3 inner grid"));
  }

  std::unique_ptr<PrunedFft<T>> make_fft(int sign, bool truncates) const {
    PrunedFftSpec spec;
    spec.grid = inner_shape_;
    spec.modes = outer_shape_.fine;
    spec.mode_stride = outer_shape_.stride;
    spec.sign = sign;
    spec.order = geometry_.along[0].middle ? ModeOrder::centred : ModeOrder::fft;
    const generator::Window window = bound_window(plan_.inner);
    for (int d = 0; d < problem_.dim; ++d) {
      if (geometry_.along[d].part) spec.length[d] = geometry_.along[d].inner;
      spec.factors[d] = deconvolution(window, geometry_.along[d].inner, outer_shape_.fine[d]);
    }
    spec.fft = plan_.cpu().fft;
    spec.threads = plan_.cpu().threads;
    spec.together = chunk_;
    spec.wisdom = options_.wisdom;
    if (options_.deterministic) spec.fft.rigor = generator::Rigor::estimate, spec.wisdom.clear();
    return make_pruned_fft<T>(spec, truncates);
  }

  generator::Window bound_window(const generator::WindowChoice& choice) const {
    if (beta_ > 0) return generator::Window(choice.kind, choice.width, choice.sigma, beta_);
    return generator::window_of(choice);
  }

  void make_phases(const T* const* sources, const T* const* targets) {
    before_conjugate_ = {}, after_conjugate_ = {};
    geometry_.before(sources, m_, plan_.cpu().threads, before_);
    if (!transform_) transform_.emplace(bound_window(plan_.window), std::min(kPi, 1.0000001 * window_reach()));
    geometry_.after(targets, k_, *transform_, plan_.cpu().threads, after_);
  }

  // The largest |h s'| at which the transform of the outer window is needed.
  double window_reach() const {
    return kPi / (plan_.type3 == generator::Type3Rule::gaussian ? plan_.gaussian_r : plan_.window.sigma);
  }

  void forward(const Complex* values, Complex* results, std::int64_t now) {
    clock_.time("spread",
                [&] { outer_->spread(values, m_, before_.data(), outer_grids_.data(), outer_shape_.elements, now); });
    clock_.time("fft", [&] {
      fft_->pad(outer_grids_.data(), outer_shape_.elements, inner_grids_.data(), inner_shape_.elements, now);
    });
    clock_.time("interpolate", [&] {
      inner_->interpolate(inner_grids_.data(), inner_shape_.elements, after_.data(), results, k_, now);
    });
  }

  void backward(Complex* values, const Complex* results, std::int64_t now) {
    clock_.time("spread", [&] {
      inner_->spread(results, k_, after_conjugate_.data(), inner_grids_.data(), inner_shape_.elements, now);
    });
    clock_.time("fft", [&] {
      adjoint_fft_->truncate(inner_grids_.data(), inner_shape_.elements, outer_grids_.data(), outer_shape_.elements,
                             now);
    });
    clock_.time("interpolate", [&] {
      outer_->interpolate(outer_grids_.data(), outer_shape_.elements, before_conjugate_.data(), values, m_, now);
    });
  }

  // The adjoint's factors and FFT are made when it is first used after set_points.
  void prepare_adjoint() {
    if (!adjoint_fft_) adjoint_fft_ = make_fft(-problem_.sign, true);
    conjugate_once(before_, before_conjugate_);
    conjugate_once(after_, after_conjugate_);
  }

  std::int64_t estimate_bytes() const {
    double cells = static_cast<double>(chunk_), outer = cells;
    for (int d = 0; d < problem_.dim; ++d) {
      const double product = generator::type3_extent(problem_)[static_cast<std::size_t>(d)];
      const Type3Dimension guess = type3_dimension(plan_, {0, product}, {0, 1}, gaussian_);
      cells *= static_cast<double>(guess.held);
      outer *= static_cast<double>(guess.outer);
    }
    const double points = static_cast<double>(problem_.m.value_or(0) + problem_.k.value_or(0)) *
                          (4 + sizeof(Complex) + problem_.dim * sizeof(T));
    const double bytes = (cells + outer) * sizeof(Complex) + points;
    return bytes < 9e18 ? static_cast<std::int64_t>(bytes) : INT64_MAX;
  }

  static constexpr const char* names[6] = {"x", "y", "z", "s", "t", "u"};

  Problem problem_;
  generator::Plan plan_;            // with the oversampling in use
  generator::Type3Sigma sigma_of_;  // from the one that was asked for
  ExecutorOptions options_;
  GaussianRule gaussian_;
  double beta_ = 0;
  std::int64_t chunk_ = 1, m_ = 0, k_ = 0;
  bool ready_ = false;
  std::optional<Bounds> bounds_;
  Type3Geometry geometry_;
  GridShape outer_shape_, inner_shape_;
  std::unique_ptr<Gridder<T>> outer_, inner_;
  std::unique_ptr<PrunedFft<T>> fft_, adjoint_fft_;
  Buffer<Complex> outer_grids_, inner_grids_;
  Buffer<Complex> before_, after_, before_conjugate_, after_conjugate_;
  std::optional<generator::FourierInterpolant> transform_;  // of the outer window
  StageClock clock_;
};

}  // namespace

std::unique_ptr<Executor> make_type3_executor(const Problem& problem, const generator::Plan& plan,
                                              const ExecutorOptions& options) {
  if (problem.precision == Precision::f32) return std::make_unique<Type3Executor<float>>(problem, plan, options);
  return std::make_unique<Type3Executor<double>>(problem, plan, options);
}

}  // namespace fourtune::runtime::cpu
