#include "runtime/backends/gpu/nufft_type3_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "generator/plan/summation.h"
#include "generator/planner/gpu_nufft/choices.h"
#include "generator/window/polynomial.h"

namespace fourtune::runtime::gpu {

using generator::GpuProgram;
using generator::Type3Dimension;
using generator::nufft::kWorkspaces;

constexpr double kPi = std::numbers::pi;

namespace {

generator::nufft::Map cell_map(double centre, long double cells_per_unit, std::int64_t cells, bool middle) {
  const auto [start, start_low, factor, factor_low] = generator::type3_map(centre, cells_per_unit, cells, middle);
  return {start, start_low, factor, factor_low};
}

}  // namespace

generator::nufft::Map type3_source_map(const Type3Dimension& g, std::int64_t outer) {
  return cell_map(g.source_centre, 1 / static_cast<long double>(g.spacing), outer, g.middle);
}
generator::nufft::Map type3_target_map(const Type3Dimension& g, std::int64_t inner, std::int64_t held) {
  const auto spacing = static_cast<long double>(g.spacing);
  return cell_map(g.target_centre, spacing * static_cast<long double>(inner) / (2 * std::numbers::pi_v<long double>),
                  held, g.part);
}

generator::GpuPointsChoice type3_points(const generator::Plan& plan, const generator::nufft::Shape& shape,
                                        bool sources) {
  using namespace generator::gpu_nufft;
  const auto& points = plan.gpu().points;
  return refit(sources ? with_partner_of_spread(shape, points.spread, points.spread_with)
                       : with_partner_of_interpolate(shape, points.interp, points.interp_with),
               shape, sources ? Lead::spread : Lead::interpolate);
}

Type3Stages::Type3Stages(const Problem& problem, const generator::Plan& plan, const DeviceTraits& device,
                         const ExecutorOptions& options)
    : problem_(problem),
      plan_(plan),
      device_(device),
      deterministic_(options.deterministic),
      exact_points_(options.exact_points),
      own_(problem.dim, problem.precision, std::max(1, device.multiprocessors)) {
  sources_.sort_slot = kSources, sources_.grid_slot = kOuter, sources_.first_point = 0;
  targets_.sort_slot = kTargets, targets_.grid_slot = kInner, targets_.first_point = 3;
  chunk_ = std::clamp<std::int64_t>(plan_.chunk, 1, std::min<std::int64_t>(problem.batch, 65535));
  complex_ = 2 * real_bytes(problem.precision);
  if (plan_.gpu().fft.family == generator::GpuFftFamily::cufft)
    throw Error(Status::unsupported, "fft=cufft: type 3 takes generated kernels; choose fft=plain");
  if (plan_.type3 == generator::Type3Rule::gaussian) bind_gaussian();
}

void Type3Stages::bind_gaussian() {
  gaussian_ = generator::gaussian_rule(problem_.tol, plan_.gaussian_r);
  plan_.window.kind = plan_.inner.kind = generator::WindowKind::gaussian;
  plan_.window.width = plan_.inner.width = gaussian_.width;
  plan_.window.sigma = plan_.inner.sigma = std::min(plan_.gaussian_r, generator::kMaxSigma);
  // phi(x) = exp(-beta x^2) with x = 2 t / w is exp(-t^2 / (4 b)).
  beta_ = gaussian_.width * static_cast<double>(gaussian_.width) / (16 * gaussian_.b);
}
generator::Window Type3Stages::bound_window(const generator::WindowChoice& choice) const {
  if (beta_ > 0) return generator::Window(choice.kind, choice.width, choice.sigma, beta_);
  return generator::window_of(choice);
}

std::int64_t Type3Stages::grid_bytes(const std::array<std::int64_t, 3>& cells) const {
  return checked_multiply(checked_multiply(volume(cells, "type 3 grid"), complex_, "type 3 grid"), chunk_,
                          "type 3 grids");
}
std::int64_t Type3Stages::scaled_bytes(bool adjoint) const {
  if (!adjoint && !shifted_) return 0;
  return checked_multiply((adjoint ? k_ : m_) * complex_, chunk_, "values");
}
std::array<std::int64_t, kWorkspaces> Type3Stages::point_bytes(bool sources) const {
  const auto& kernels = *(sources ? sources_.spread : targets_.spread);
  auto bytes = kernels.workspace_bytes(sources ? m_ : k_);
  bytes[generator::nufft::kScratch] =
      std::max(bytes[generator::nufft::kScratch], kernels.large_bytes(sources ? m_ : k_, sources ? m_ : k_));
  return bytes;
}

// Arrays that are missing are replaced by the first one present.
GpuProgram Type3Stages::extents(std::int64_t m, std::int64_t k) const {
  std::array<generator::BufferRef, 6> refs;
  for (int i = 0; i < 6; ++i) {
    const int side = (i < 3 ? m : k) > 0 ? i / 3 : 1 - i / 3;
    refs[static_cast<std::size_t>(i)] = slot_ref(kPoints + 3 * side + (i % 3 < problem_.dim ? i % 3 : 0));
  }
  GpuProgram program;
  own_.emit_extents(program, refs, slot_ref(kWords), m > 0 ? m : k, k > 0 ? k : m);
  return program;
}

bool Type3Stages::set_points(const std::array<generator::gpu_nufft::Type3Kernels::Extent, 6>& extents, std::int64_t m,
                             std::int64_t k) {
  std::array<std::int64_t, 3> outer{1, 1, 1}, inner{1, 1, 1}, held{1, 1, 1};
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
    generator::Interval source = generator::type3_interval(extents[d].low, extents[d].high);
    const generator::Interval target = generator::type3_interval(extents[d + 3].low, extents[d + 3].high);
    if (problem_.extent && source.half * target.half > 1.001 * (*problem_.extent)[d] + 1e-300)
      throw Error(
          Status::contradiction,
          fmt::format("extent: half-widths of the points multiply to {} in dimension {}, but the problem says {}",
                      source.half * target.half, "xyz"[d], (*problem_.extent)[d]));
    source.half = generator::type3_source_half(problem_, static_cast<int>(d), source.half, target.half);
    geometry_[d] = generator::type3_dimension(plan_, source, target, gaussian_);
    outer[d] = std::max<std::int64_t>(geometry_[d].outer, plan_.window.width);
    inner[d] = geometry_[d].inner, held[d] = geometry_[d].held;
  }
  const bool shifted =
      std::any_of(geometry_.begin(), geometry_.end(), [](const auto& g) { return g.target_centre != 0; });
  const bool same =
      std::exchange(known_, false) && outer == outer_ && inner == inner_ && held == held_ && m == m_ && k == k_;
  const bool changed = !same || shifted != shifted_;
  outer_ = outer, inner_ = inner, held_ = held, m_ = m, k_ = k, shifted_ = shifted;
  plan_.window.fine = outer, plan_.inner.fine = inner;
  if (!same) {
    make_side(sources_, plan_.window, outer, true);
    make_side(targets_, plan_.inner, held, false);
  }
  set_maps();
  bind_sorts(same);
  known_ = true;
  return changed;
}

void Type3Stages::make_side(Side& side, const generator::WindowChoice& window, const std::array<std::int64_t, 3>& cells,
                            bool sources) const {
  generator::nufft::Shape shape = generator::nufft::shape_on(device_, problem_, cells, window.width);
  shape.semicircle = generator::semicircle_of(window);
  shape.large_counts = (sources ? m_ : k_) >= std::int64_t{1} << 31;
  const auto lead = sources ? generator::gpu_nufft::Lead::spread : generator::gpu_nufft::Lead::interpolate;
  side.choice = type3_points(plan_, shape, sources);
  if (deterministic_)
    side.choice = generator::gpu_nufft::deterministic(side.choice, shape, lead,
                                                      !generator::fixed_point_is_enough(problem_, plan_));
  side.choice.spread_with.check = side.choice.interp_with.check = false;  // find_geometry has checked all points
  const double error =
      beta_ > 0 ? 0 : generator::predicted_error(window.kind, window.width, window.sigma, problem_.dim);
  shape.whole_cells = (sources ? m_ : k_) >= std::int64_t{1} << (32 - generator::nufft::kMostStolen) ||
                      !generator::nufft::by_subproblems(side.choice.spread) ||
                      !generator::nufft::by_subproblems(side.choice.interp);
  shape.unit = position_unit(shape, window.sigma, problem_.tol, error, exact_points_);
  const auto polynomial = generator::kernel_polynomial(bound_window(window), epsilon(problem_.precision));
  side.spread.emplace(shape, side.choice.spread_with, polynomial);
  side.interp.emplace(shape, side.choice.interp_with, polynomial);
}

void Type3Stages::set_maps() {
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
    sources_.map[d] = type3_source_map(geometry_[d], outer_[d]);
    targets_.map[d] = type3_target_map(geometry_[d], inner_[d], held_[d]);
  }
}

std::array<generator::BufferRef, 3> Type3Stages::side_points(int first) const {
  std::array<generator::BufferRef, 3> refs;
  for (int d = 0; d < 3; ++d)
    refs[static_cast<std::size_t>(d)] = slot_ref(kPoints + first + (d < problem_.dim ? d : 0));
  return refs;
}

generator::nufft::Arrays Type3Stages::arrays(const Side& side, const generator::BufferRef& values) const {
  generator::nufft::Arrays out;
  out.points = side_points(side.first_point);
  out.values = values;
  out.grid = slot_ref(side.grid_slot);
  out.workspace = side.sort_slot;
  return out;
}

// Makes the launches of both sorts; for other points on the same grids only the maps change.
void Type3Stages::bind_sorts(bool same) {
  if (!same) {
    sorts_ = {};
    sources_.spread->emit_sort(sorts_, arrays(sources_, kFirst), m_, {}, sources_.spread->large_bytes(m_, m_));
    first_of_targets_ = sorts_.launches.size();
    targets_.interp->emit_sort(sorts_, arrays(targets_, kSecond), k_, {}, targets_.interp->large_bytes(k_, k_));
  }
  for (std::size_t i = 0; i < sorts_.launches.size(); ++i) {
    const auto& maps = (i < first_of_targets_ ? sources_ : targets_).map;
    for (auto& argument : sorts_.launches[i].arguments)
      if (generator::nufft::is_maps(argument)) argument = generator::nufft::maps_argument(maps);
  }
}

// The largest |h s'| at which the transform of the outer window is needed.
double Type3Stages::window_reach() const {
  return kPi / (plan_.type3 == generator::Type3Rule::gaussian ? plan_.gaussian_r : plan_.window.sigma);
}

GpuProgram Type3Stages::products() {
  GpuProgram program;
  if (shifted_) own_.emit_phases(program, side_points(0), slot_ref(kBefore), m_, geometry_, problem_.sign);
  if (!transform_) transform_.emplace(bound_window(plan_.window), std::min(kPi, 1.0000001 * window_reach()));
  own_.emit_factors(program, side_points(3), slot_ref(kAfter), k_, geometry_, problem_.sign, *transform_);
  return program;
}

generator::gpu_nufft::GridFft Type3Stages::grid_fft_spec(int sign, std::int64_t transforms) const {
  generator::gpu_nufft::GridFft spec;
  spec.dim = problem_.dim;
  spec.precision = problem_.precision;
  spec.sign = sign;
  spec.batch = transforms;
  spec.modes = outer_;
  spec.fine = inner_;
  spec.device = device_;
  spec.inside_grid = true;
  spec.order = order_of(geometry_[0].middle ? ModeOrder::centred : ModeOrder::fft);
  const generator::Window window = bound_window(plan_.inner);
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
    if (geometry_[d].part) spec.held[d] = held_[d];
    spec.factors[d] = generator::gpu_nufft::deconvolution_factors(window, inner_[d], outer_[d], spec.order);
  }
  return spec;
}

std::array<GpuProgram, 3> Type3Stages::transform(std::int64_t transforms, bool adjoint) const {
  const int sign = adjoint ? -problem_.sign : problem_.sign;
  const Side &from = adjoint ? targets_ : sources_, &to = adjoint ? sources_ : targets_;
  const std::int64_t in = adjoint ? k_ : m_, out = adjoint ? m_ : k_;
  const auto &given = adjoint ? kSecond : kFirst, &wanted = adjoint ? kFirst : kSecond;
  const int before = adjoint ? kAfter : kBefore, after = adjoint ? kBefore : kAfter;
  const char* const stages[] = {adjoint ? "deconvolve" : "prephase", adjoint ? "prephase" : "deconvolve"};
  const bool scale_before = adjoint || shifted_, scale_after = !adjoint || shifted_;
  GpuProgram spread, interp;
  if (scale_before)
    own_.emit_scale(spread, given, slot_ref(before), slot_ref(kScaled), in, transforms, adjoint, stages[0]);
  const auto values = arrays(from, scale_before ? slot_ref(kScaled) : given);
  from.spread->emit_clear(spread, values, transforms);
  from.spread->emit_spread(spread, values, in, transforms, from.choice.spread);
  GpuProgram fft = generator::gpu_nufft::placed(
      generator::gpu_nufft::grid_fft(grid_fft_spec(sign, transforms), plan_.gpu().fft, adjoint),
      slot_ref(from.grid_slot), slot_ref(to.grid_slot), kWork);
  generator::gpu_nufft::share_grid(fft, kInner, inner_bytes() / chunk_ * transforms, kWork);
  to.interp->emit_interpolate(interp, arrays(to, wanted), out, transforms, to.choice.interp);
  if (scale_after) own_.emit_scale(interp, wanted, slot_ref(after), wanted, out, transforms, adjoint, stages[1]);
  return {std::move(spread), std::move(fft), std::move(interp)};
}

GpuProgram Type3Stages::zeros(std::int64_t m, std::int64_t k, bool adjoint) const {
  GpuProgram program;
  own_.emit_fill(program, adjoint ? kFirst : kSecond, problem_.batch * (adjoint ? m : k) * complex_ / 8, 0,
                 "interpolate");
  return program;
}

std::int64_t Type3Stages::estimate_bytes() const {
  double cells = static_cast<double>(chunk_), outer = cells;
  for (int d = 0; d < problem_.dim; ++d) {
    const double product = generator::type3_extent(problem_)[static_cast<std::size_t>(d)];
    const Type3Dimension guess = generator::type3_dimension(plan_, {0, product}, {0, 1}, gaussian_);
    cells *= static_cast<double>(guess.held);
    outer *= static_cast<double>(guess.outer);
  }
  const double point = (problem_.precision == Precision::f32 ? 16 : 24) + static_cast<double>(complex_);
  const double bytes = (1.5 * cells + outer) * static_cast<double>(complex_) +
                       static_cast<double>(problem_.m.value_or(0) + problem_.k.value_or(0)) * point;
  return bytes < 9e18 ? static_cast<std::int64_t>(bytes) : INT64_MAX;
}

}  // namespace fourtune::runtime::gpu
