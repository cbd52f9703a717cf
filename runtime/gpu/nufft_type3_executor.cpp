// Type 3 on a GPU: spread the sources, FFT between the two grids, read at the targets, with the products before and
// after (generator/type3_geometry.h has the formulas).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "generator/gpu_nufft_choices.h"
#include "generator/gpu_nufft_type3.h"
#include "generator/window_fourier.h"
#include "runtime/gpu/nufft_common.h"
#include "runtime/gpu/nufft_executor.h"

namespace fourtune::runtime::gpu {
namespace {

using generator::GpuProgram;
using generator::Type3Dimension;
using generator::gpu_nufft::Type3Kernels;
using generator::nufft::Kernels;
using generator::nufft::kWorkspaces;

constexpr double kPi = std::numbers::pi;

enum Slot : int {
  kPoints,  // x, y, z, s, t, u
  kOuter = kPoints + 6,
  kInner,
  kWork,
  kWords = kWork + 2,
  kBefore,
  kAfter,
  kScaled,
  kSources,
  kTargets = kSources + kWorkspaces,
  kSlots = kTargets + kWorkspaces
};

// One side's points with its grid: kernels, and where everything is.
struct Side {
  int sort_slot, grid_slot, first_point;
  generator::GpuPointsChoice choice;
  std::optional<Kernels> spread, interp;
  std::array<generator::nufft::Map, 3> map;
};

class Type3Executor final : public Executor {
 public:
  Type3Executor(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options,
                std::unique_ptr<Queue> queue)
      : problem_(problem),
        plan_(plan),
        options_(options),
        stream_(options.stream),
        runner_(std::move(queue), kSlots, options.time_stages),
        own_(problem.dim, problem.precision) {
    check_supported(plan);
    chunk_ = std::clamp<std::int64_t>(plan_.chunk, 1, std::min<std::int64_t>(problem.batch, 65535));
    complex_ = 2 * real_bytes(problem.precision);
    if (plan_.type3 == generator::Type3Rule::gaussian) bind_gaussian();
    runner_.reserve(kWords, 8 * Type3Kernels::kWords, "extents");
    GpuProgram extents;
    own_.emit_extents(extents, point_refs(), slot_ref(kWords), 1, 1);
    extents_ = runner_.make(extents);
  }

  void set_points(const PointSet& points) override {
    ready_ = false;
    m_ = points.m, k_ = points.k;
    given_ = {points.x, points.y, points.z, points.s, points.t, points.u};
    runner_.begin_set_points();
    if (m_ > 0 || k_ > 0) find_geometry();
    if (m_ > 0 && k_ > 0) {
      bind();
      sort();
      ready_ = true;
    } else {
      bind_empty();
    }
  }

  void execute(void* first, void* second, bool adjoint) override {
    if (adjoint && ready_ && !adjoint_.made) build(adjoint_, true);
    runner_.begin_execute();
    Run run(runner_.queue(), stream_);
    std::byte* values =
        runner_.queue().open(first, problem_.batch * m_ * complex_, adjoint ? Access::out : Access::in, "point_values");
    std::byte* results =
        runner_.queue().open(second, problem_.batch * k_ * complex_, adjoint ? Access::in : Access::out, "mode_values");
    if (!ready_) {  // no sources or no targets: an empty sum
      runner_.launch(empty_[adjoint ? 1 : 0], values, results);
    } else {
      Direction& direction = adjoint ? adjoint_ : forward_;
      for (std::int64_t b = 0; b < problem_.batch; b += chunk_)
        for (Part& part : direction.parts[problem_.batch - b < chunk_ ? 1 : 0])
          runner_.launch(part, values + b * m_ * complex_, results + b * k_ * complex_);
    }
    runner_.end_stages(false);
    run.complete();
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = runner_.held() + extents_.bytes() + phases_.bytes();
    for (const Direction* direction : {&forward_, &adjoint_})
      for (const auto& parts : direction->parts)
        for (const Part& part : parts) use.held += part.bytes();
    use.needed = ready_ ? use.held : std::max(use.held, estimate_bytes());
    return use;
  }
  std::span<const StageTime> stage_times() const override { return times_ = runner_.stage_times(); }
  std::vector<LaunchTime> launch_times() const override { return runner_.launch_times(); }
  const generator::Plan& plan() const override { return plan_; }
  std::vector<KernelReport> kernels() const override { return runner_.kernels(); }
  void set_stream(void* stream) override { stream_ = stream; }

 private:
  static constexpr const char* kNames[6] = {"x", "y", "z", "s", "t", "u"};

  struct Direction {
    bool made = false;
    std::array<std::vector<Part>, 2> parts;  // of full chunks and of the last, smaller one
  };

  void bind_gaussian() {
    gaussian_ = generator::gaussian_rule(problem_.tol, plan_.gaussian_r);
    plan_.window.kind = plan_.inner.kind = generator::WindowKind::gaussian;
    plan_.window.width = plan_.inner.width = gaussian_.width;
    plan_.window.sigma = plan_.inner.sigma = std::min(plan_.gaussian_r, generator::kMaxSigma);
    // phi(x) = exp(-beta x^2) with x = 2 t / w is exp(-t^2 / (4 b)).
    beta_ = gaussian_.width * static_cast<double>(gaussian_.width) / (16 * gaussian_.b);
  }
  generator::Window bound_window(const generator::WindowChoice& choice) const {
    if (beta_ > 0) return generator::Window(choice.kind, choice.width, choice.sigma, beta_);
    return generator::Window(choice.kind, choice.width, choice.sigma);
  }

  // Absent dimensions and empty sides point at an array that is there.
  std::array<generator::BufferRef, 6> point_refs() const {
    std::array<generator::BufferRef, 6> refs;
    for (int i = 0; i < 6; ++i) refs[static_cast<std::size_t>(i)] = slot_ref(kPoints + i);
    return refs;
  }
  // Within a run.
  void open_points() {
    std::byte* any = nullptr;
    for (int i = 0; i < 6; ++i) {
      const bool there = i % 3 < problem_.dim && (i < 3 ? m_ : k_) > 0;
      std::byte* const at = there ? runner_.queue().open(const_cast<void*>(given_[static_cast<std::size_t>(i)]),
                                                         (i < 3 ? m_ : k_) * complex_ / 2, Access::in, kNames[i])
                                  : nullptr;
      runner_.point(kPoints + i, at);
      if (at && !any) any = at;
    }
  }
  std::array<generator::BufferRef, 3> side_points(int first) const {
    std::array<generator::BufferRef, 3> refs;
    for (int d = 0; d < 3; ++d)
      refs[static_cast<std::size_t>(d)] = slot_ref(kPoints + first + (d < problem_.dim ? d : 0));
    return refs;
  }

  // The one wait of set_points.
  void find_geometry() {
    GpuProgram program;
    auto refs = point_refs();
    for (int i = 0; i < 6; ++i) {  // what is not there is looked at as the first of what is
      const int side = (i < 3 ? m_ : k_) > 0 ? i / 3 : 1 - i / 3;
      refs[static_cast<std::size_t>(i)] = slot_ref(kPoints + 3 * side + (i % 3 < problem_.dim ? i % 3 : 0));
    }
    own_.emit_extents(program, refs, slot_ref(kWords), m_ > 0 ? m_ : k_, k_ > 0 ? k_ : m_);
    runner_.change(extents_, program);
    Run run(runner_.queue(), stream_);
    open_points();
    runner_.bind(extents_, true);
    runner_.launch(extents_, nullptr, nullptr);
    std::array<std::uint64_t, Type3Kernels::kWords> words{};
    runner_.end_stages(true);  // a gap follows, in which the host makes grids and kernels
    runner_.queue().read(words.data(), runner_.data(kWords), sizeof words);
    run.complete();
    const auto extents = Type3Kernels::extents(words);
    for (int i = 0; i < 6 && !options_.trust_points; ++i) {
      const auto bad = extents[static_cast<std::size_t>(i)].bad;
      if (i % 3 < problem_.dim && (i < 3 ? m_ : k_) > 0 && bad != ~std::uint64_t{0})
        throw Error(Status::invalid_point,
                    fmt::format("{}[{}] is NaN or infinite; coordinates are finite numbers", kNames[i], bad));
    }
    if (m_ == 0 || k_ == 0) return;
    for (int d = 0; d < problem_.dim; ++d) {
      const auto &from = extents[static_cast<std::size_t>(d)], &to = extents[static_cast<std::size_t>(d + 3)];
      const generator::Interval source = generator::type3_interval(from.low, from.high);
      const generator::Interval target = generator::type3_interval(to.low, to.high);
      geometry_[static_cast<std::size_t>(d)] = generator::type3_dimension(plan_, source, target, gaussian_);
      if (problem_.extent && source.half * target.half > 1.001 * (*problem_.extent)[d] + 1e-300)
        throw Error(
            Status::contradiction,
            fmt::format("extent: half-widths of the points multiply to {} in dimension {}, but the problem says {}",
                        source.half * target.half, "xyz"[d], (*problem_.extent)[d]));
    }
  }

  // ---- what follows from the geometry ----
  void bind() {
    std::array<std::int64_t, 3> outer{1, 1, 1}, inner{1, 1, 1}, held{1, 1, 1};
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
      outer[d] = std::max<std::int64_t>(geometry_[d].outer, plan_.window.width);
      inner[d] = geometry_[d].inner, held[d] = geometry_[d].held;
    }
    const bool same_grids = forward_.made && outer == outer_ && inner == inner_ && held == held_;
    const bool same = same_grids && bound_m_ == m_ && bound_k_ == k_;
    outer_ = outer, inner_ = inner, held_ = held;
    plan_.window.fine = outer, plan_.inner.fine = inner;
    if (!same) {
      make_side(sources_, plan_.window, outer, true);
      make_side(targets_, plan_.inner, held, false);
    }
    set_maps();
    bind_sort(same);
    try {
      reserve();
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      explain_memory(error, problem_, plan_, grid_bytes(outer_) + grid_bytes(held_), estimate_bytes());
    }
    shifted_ = std::any_of(geometry_.begin(), geometry_.end(), [](const auto& g) { return g.target_centre != 0; });
    if (!same || bound_shifted_ != shifted_) {
      forward_.made = adjoint_.made = false;
      build(forward_, false);
      bound_m_ = m_, bound_k_ = k_, bound_shifted_ = shifted_;
    }
  }

  void make_side(Side& side, const generator::WindowChoice& window, const std::array<std::int64_t, 3>& cells,
                 bool sources) {
    generator::nufft::Shape shape;
    shape.dim = problem_.dim;
    shape.fine = cells;
    shape.precision = problem_.precision;
    shape.width = window.width;
    shape.large_counts = (sources ? m_ : k_) >= std::int64_t{1} << 31;
    // The families of the plan; their parameters where this grid allows them.
    const auto lead = sources ? generator::gpu_nufft::Lead::spread : generator::gpu_nufft::Lead::interpolate;
    const auto& points = plan_.gpu_points;
    side.choice = sources ? generator::gpu_nufft::with_partner_of_spread(shape, points.spread, points.spread_with)
                          : generator::gpu_nufft::with_partner_of_interpolate(shape, points.interp, points.interp_with);
    side.choice = generator::gpu_nufft::refit(side.choice, shape, lead);
    if (options_.deterministic) side.choice = generator::gpu_nufft::deterministic(side.choice, shape, lead);
    side.choice.spread_with.check = side.choice.interp_with.check = false;  // find_geometry has looked at all points
    const double error =
        beta_ > 0 ? 0 : generator::predicted_error(window.kind, window.width, window.sigma, problem_.dim);
    const auto polynomial = window_polynomial(bound_window(window), error, problem_.precision);
    side.spread.emplace(shape, side.choice.spread_with, polynomial);
    side.interp.emplace(shape, side.choice.interp_with, polynomial);
  }

  // Cell positions: (x - centre) * cells, and half of a grid's cells rounded down where position 0 is in the middle.
  void set_maps() {
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
      const Type3Dimension& g = geometry_[d];
      const auto outer = static_cast<double>(outer_[d]), held = static_cast<double>(held_[d]);
      const double per_source = 1 / g.spacing, per_target = g.spacing * static_cast<double>(inner_[d]) / (2 * kPi);
      sources_.map[d] = {g.source_centre - (g.middle ? static_cast<double>(outer_[d] / 2) / per_source : 0),
                         per_source / outer, 0};
      targets_.map[d] = {g.target_centre - (g.part ? static_cast<double>(held_[d] / 2) / per_target : 0),
                         per_target / held, 0};
    }
  }

  std::int64_t grid_bytes(const std::array<std::int64_t, 3>& cells) const {
    return checked_multiply(checked_multiply(volume(cells, "type 3 grid"), complex_, "type 3 grid"), chunk_,
                            "type 3 grids");
  }
  void reserve() {
    using namespace generator::nufft;
    runner_.reserve(kOuter, grid_bytes(outer_), "the outer grids");
    std::int64_t inner = grid_bytes(held_);
    for (const Side* side : {&sources_, &targets_}) {
      const auto bytes = side->spread->workspace_bytes(side == &sources_ ? m_ : k_);
      inner = std::max(inner, bytes[kScratch]);
      for (int i = 0; i < kWorkspaces; ++i) {
        const bool kept = i == kRecords || i == kIndex || i == kTasks || i == kOffsets;
        if (i == kScratch)
          runner_.alias(side->sort_slot + i, kInner);
        else
          runner_.reserve(side->sort_slot + i, bytes[static_cast<std::size_t>(i)], "the points", kept);
      }
    }
    runner_.reserve(kInner, inner, "the inner grids");
    runner_.reserve(kBefore, m_ * complex_, "the phases", true);
    runner_.reserve(kAfter, k_ * complex_, "the factors", true);
  }

  generator::nufft::Arrays arrays(const Side& side, const generator::BufferRef& values) const {
    generator::nufft::Arrays out;
    out.points = side_points(side.first_point);
    out.values = values;
    out.grid = slot_ref(side.grid_slot);
    out.workspace = side.sort_slot;
    return out;
  }

  // Sort both sides, and the products' factors.
  void sort() {
    GpuProgram products;
    if (shifted_) own_.emit_phases(products, side_points(0), slot_ref(kBefore), m_, geometry_, problem_.sign);
    if (!transform_) transform_.emplace(bound_window(plan_.window), std::min(kPi, 1.0000001 * window_reach()));
    own_.emit_factors(products, side_points(3), slot_ref(kAfter), k_, geometry_, problem_.sign, *transform_);
    if (!phases_made_) phases_ = runner_.make(products);
    phases_made_ = true;
    runner_.change(phases_, products);
    Run run(runner_.queue(), stream_);
    open_points();
    for (Part* part : {&sort_, &phases_}) {
      runner_.bind(*part, true);
      runner_.launch(*part, nullptr, nullptr);
    }
    runner_.end_stages(true);
    run.complete();
  }
  // The launches of both sorts; for other points on the same grids only the maps change.
  void bind_sort(bool same) {
    if (!same) {
      sort_program_ = {};
      sources_.spread->emit_sort(sort_program_, arrays(sources_, kFirst), m_, {});
      first_of_targets_ = sort_program_.launches.size();
      targets_.interp->emit_sort(sort_program_, arrays(targets_, kSecond), k_, {});
    }
    for (std::size_t i = 0; i < sort_program_.launches.size(); ++i) {
      auto& arguments = sort_program_.launches[i].arguments;
      const auto& map = (i < first_of_targets_ ? sources_ : targets_).map;
      // Kernels that look at coordinates take the maps as nine numbers in one row.
      for (std::size_t a = 0; a + 9 <= arguments.size(); ++a) {
        const auto begin = arguments.begin() + static_cast<std::ptrdiff_t>(a);
        if (!std::all_of(begin, begin + 9, [](const auto& one) { return std::holds_alternative<double>(one); }))
          continue;
        for (std::size_t d = 0; d < 3; ++d) {
          arguments[a + 3 * d] = map[d].centre;
          arguments[a + 3 * d + 1] = map[d].factor;
          arguments[a + 3 * d + 2] = map[d].factor_low;
        }
        break;
      }
    }
    runner_.change(sort_, sort_program_);
  }
  // Largest |h s'|: where the outer window's transform is needed.
  double window_reach() const {
    return kPi / (plan_.type3 == generator::Type3Rule::gaussian ? plan_.gaussian_r : plan_.window.sigma);
  }

  generator::gpu_nufft::GridFft grid_fft_spec(int sign, std::int64_t transforms) const {
    generator::gpu_nufft::GridFft spec;
    spec.dim = problem_.dim;
    spec.precision = problem_.precision;
    spec.sign = sign;
    spec.batch = transforms;
    spec.modes = outer_;
    spec.fine = inner_;
    spec.order = order_of(geometry_[0].middle ? ModeOrder::centred : ModeOrder::fft);
    const generator::Window window = bound_window(plan_.inner);
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
      if (geometry_[d].part) spec.held[d] = held_[d];
      spec.factors[d] = generator::gpu_nufft::deconvolution_factors(window, inner_[d], outer_[d], spec.order);
    }
    return spec;
  }

  void build(Direction& direction, bool adjoint) {
    if (plan_.gpu_fft.family == generator::GpuFftFamily::cufft)
      throw Error(Status::unsupported, "fft=cufft: type 3 takes generated kernels; choose fft=plain");
    const std::int64_t sizes[2] = {chunk_, problem_.batch % chunk_};
    const int sign = adjoint ? -problem_.sign : problem_.sign;
    const Side &from = adjoint ? targets_ : sources_, &to = adjoint ? sources_ : targets_;
    const std::int64_t in = adjoint ? k_ : m_, out = adjoint ? m_ : k_;
    const auto &given = adjoint ? kSecond : kFirst, &wanted = adjoint ? kFirst : kSecond;
    const int before = adjoint ? kAfter : kBefore, after = adjoint ? kBefore : kAfter;
    const bool scale_before = adjoint || shifted_, scale_after = !adjoint || shifted_;
    if (scale_before) runner_.reserve(kScaled, checked_multiply(in * complex_, chunk_, "values"), "scaled values");
    std::array<std::vector<GpuProgram>, 2> programs;
    std::vector<const GpuProgram*> all;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t transforms = sizes[i];
      if (transforms == 0) continue;
      programs[i].resize(3);
      GpuProgram &spread = programs[i][0], &fft = programs[i][1], &interp = programs[i][2];
      if (scale_before)
        own_.emit_scale(spread, given, slot_ref(before), slot_ref(kScaled), in, transforms, adjoint,
                        adjoint ? "deconvolve" : "prephase");
      const auto values = arrays(from, scale_before ? slot_ref(kScaled) : given);
      from.spread->emit_clear(spread, values, transforms);
      from.spread->emit_spread(spread, values, in, transforms, from.choice.spread);
      fft = generator::gpu_nufft::placed(
          generator::gpu_nufft::grid_fft(grid_fft_spec(sign, transforms), plan_.gpu_fft, adjoint),
          slot_ref(from.grid_slot), slot_ref(to.grid_slot), kWork);
      generator::gpu_nufft::share_grid(fft, kInner, grid_bytes(held_) / chunk_ * transforms, kWork);
      for (std::size_t w = kWork; w < fft.workspace_bytes.size(); ++w)
        if (fft.workspace_bytes[w] > 0)
          runner_.reserve(static_cast<int>(w), fft.workspace_bytes[w], "the FFT's workspace");
      to.interp->emit_interpolate(interp, arrays(to, wanted), out, transforms, to.choice.interp);
      if (scale_after)
        own_.emit_scale(interp, wanted, slot_ref(after), wanted, out, transforms, adjoint,
                        adjoint ? "prephase" : "deconvolve");
      for (const GpuProgram& program : programs[i]) all.push_back(&program);
    }
    runner_.preload(all);
    for (std::size_t i = 0; i < 2; ++i) {
      direction.parts[i].clear();
      for (const GpuProgram& program : programs[i]) {
        direction.parts[i].push_back(runner_.make(program));
        runner_.bind(direction.parts[i].back());
      }
    }
    direction.made = true;
  }

  // Outputs of empty sums.
  void bind_empty() {
    for (const bool adjoint : {false, true}) {
      GpuProgram program;
      own_.emit_fill(program, adjoint ? kFirst : kSecond, problem_.batch * (adjoint ? m_ : k_) * complex_ / 8, 0,
                     "interpolate");
      empty_[adjoint ? 1 : 0] = runner_.make(program);
    }
  }

  std::int64_t estimate_bytes() const {
    double cells = static_cast<double>(chunk_), outer = cells;
    for (int d = 0; d < problem_.dim; ++d) {
      const double k = static_cast<double>(problem_.k.value_or(1));
      const double product = problem_.extent ? (*problem_.extent)[d] : kPi / 2 * std::pow(k, 1.0 / problem_.dim);
      const Type3Dimension guess = generator::type3_dimension(plan_, {0, product}, {0, 1}, gaussian_);
      cells *= static_cast<double>(guess.held);
      outer *= static_cast<double>(guess.outer);
    }
    const double point = (problem_.precision == Precision::f32 ? 24 : 40) + static_cast<double>(complex_);
    const double bytes = (1.5 * cells + outer) * static_cast<double>(complex_) +
                         static_cast<double>(problem_.m.value_or(0) + problem_.k.value_or(0)) * point;
    return bytes < 9e18 ? static_cast<std::int64_t>(bytes) : INT64_MAX;
  }

  Problem problem_;
  generator::Plan plan_;
  ExecutorOptions options_;
  void* stream_;
  mutable Runner runner_;
  Type3Kernels own_;
  generator::GaussianRule gaussian_;
  double beta_ = 0;
  std::int64_t chunk_ = 1, complex_ = 8, m_ = 0, k_ = 0, bound_m_ = -1, bound_k_ = -1;
  bool ready_ = false, shifted_ = false, bound_shifted_ = false, phases_made_ = false;
  std::array<const void*, 6> given_{};
  std::array<Type3Dimension, 3> geometry_;
  std::array<std::int64_t, 3> outer_{1, 1, 1}, inner_{1, 1, 1}, held_{1, 1, 1};
  Side sources_{kSources, kOuter, 0, {}, {}, {}, {}}, targets_{kTargets, kInner, 3, {}, {}, {}, {}};
  std::optional<generator::FourierInterpolant> transform_;  // of the outer window
  Part extents_, sort_, phases_;
  GpuProgram sort_program_;
  std::size_t first_of_targets_ = 0;
  std::array<Part, 2> empty_;
  Direction forward_, adjoint_;
  mutable std::vector<StageTime> times_;
};

}  // namespace

std::unique_ptr<Executor> make_gpu_type3_executor(const Problem& problem, const generator::Plan& plan,
                                                  const ExecutorOptions& options, std::unique_ptr<Queue> queue) {
  return std::make_unique<Type3Executor>(problem, plan, options, std::move(queue));
}

}  // namespace fourtune::runtime::gpu
