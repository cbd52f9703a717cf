#include "runtime/backends/gpu/nufft_type12_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/plan/summation.h"

namespace fourtune::runtime::gpu {
namespace {

using generator::GpuProgram;
using generator::nufft::kWorkspaces;
using generator::nufft::StageKernels;

// From this many bytes on, the FFT of a 3D grid runs without a workspace instead of transforming x first. Whole
// executes of type 1, x first and in place: 336 x 336 x 240 cells 780 and 778 us, 256^3 1357 and 1365, 192^3 738 and
// 729; the FFT of 180^3 alone 53 and 60 (f32, H200). For smaller grids the workspace is negligible.
constexpr std::int64_t kLargeGrid = std::int64_t{64} << 20;

}  // namespace

Type12Programs::Type12Programs(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options,
                               const DeviceTraits& device)
    : problem_(problem), plan_(plan), options_(options), device_(device), whole_(options.only == Only::whole) {
  check_supported(plan);
  if (!whole_) {
    sized_ = plan;
    plan_.window.fine = problem.n.xyz();  // the caller's array is the grid, one transform after the other
    plan_.gpu().points.spread_with.group = plan_.gpu().points.interp_with.group = 1;
  }
  if (plan.gpu().fft.family == generator::GpuFftFamily::cufft && largest_group() > 1)
    throw Error(Status::invalid_plan, "fft=cufft: the library's transform takes grids one by one; choose group=1");
  chunk_ = std::clamp<std::int64_t>(plan_.chunk, 1, std::min<std::int64_t>(problem.batch, 65535));
  if (agrees()) chunk_ = 1;
  complex_ = 2 * real_bytes(problem.precision);
  modes_ = volume(problem.n.xyz(), "modes");
  cells_ = volume(plan_.window.fine, "fine grid");
  grid_bytes_ = checked_multiply(checked_multiply(cells_, complex_, "fine grid"), chunk_, "fine grids");
  polynomial_ = generator::kernel_polynomial(generator::window_of(plan_.window), epsilon(problem.precision));
  make_kernels(problem.m.value_or(0));
}

void Type12Programs::check_wide_enough(const generator::nufft::Shape& shape) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dim); ++d)
    if (shape.fine[d] < shape.width)
      throw Error(Status::unsupported,
                  fmt::format("a grid of {} cells along {} is smaller than the window, {} cells; kernels of GPUs need "
                              "room for it",
                              shape.fine[d], "xyz"[d], shape.width));
}

void Type12Programs::make_kernels(std::int64_t m) {
  counts_ = counts_of(m);
  generator::nufft::Shape shape = generator::nufft::shape_on(device_, problem_, plan_.window.fine, plan_.window.width);
  shape.semicircle = generator::semicircle_of(plan_.window);
  shape.large_counts = counts_ == 2;
  shape.period = options_.slab.period, shape.before = options_.slab.before;
  shape.agreed = agrees();
  const auto lead = problem_.type == 1 ? generator::gpu_nufft::Lead::spread : generator::gpu_nufft::Lead::interpolate;
  auto& points = plan_.gpu().points;
  if (!whole_) {  // the plan is for the fine grid of a whole transform, the caller's may be odd
    check_wide_enough(shape);
    points = generator::gpu_nufft::refit(points, shape, lead);
  }
  // What slabs of one grid add up has to be rounded alike, whatever their sizes.
  const generator::Plan& sized = agrees() ? sized_ : plan_;
  if (options_.deterministic)
    points =
        generator::gpu_nufft::deterministic(points, shape, lead, !generator::fixed_point_is_enough(problem_, sized));
  generator::nufft::Parameters spread = points.spread_with, interp = points.interp_with;
  if (spread.order != interp.order || spread.bin != interp.bin || spread.cap != interp.cap ||
      spread.placement != interp.placement || spread.segment != interp.segment || spread.slice != interp.slice)
    throw Error(Status::invalid_plan, "sort: spreading and interpolation share it and want different ones");
  spread.check = interp.check = !options_.trust_points;
  shape.whole_cells = counts_ != 0 || !generator::nufft::by_subproblems(points.spread) ||
                      !generator::nufft::by_subproblems(points.interp);
  const auto& window = plan_.window;
  if (!agrees())
    shape.unit = position_unit(shape, window.sigma, problem_.tol,
                               generator::predicted_error(window.kind, window.width, window.sigma, problem_.dim),
                               options_.exact_points);
  spread_kernels_.emplace(shape, spread, polynomial_);
  interp_kernels_.emplace(shape, interp, polynomial_);
}

bool Type12Programs::works_by_tasks(bool to_modes) const {
  return to_modes ? generator::nufft::by_subproblems(plan_.gpu().points.spread)
                  : generator::nufft::by_subproblems(plan_.gpu().points.interp);
}

generator::nufft::Arrays Type12Programs::arrays() const {
  generator::nufft::Arrays out;
  out.points = {slot_ref(kX), slot_ref(kY), slot_ref(kZ)};
  out.values = kFirst;
  out.grid = whole_ ? slot_ref(kGrid) : kSecond;
  out.workspace = kSort;
  return out;
}

GpuProgram Type12Programs::sort_program(std::int64_t m, std::int64_t scratch, bool lists_tasks) const {
  GpuProgram program;
  std::array<generator::nufft::Map, 3> maps = maps_;
  if (begins_at_minus_pi(options_.only)) maps.fill(generator::nufft::kFromMinusPi);
  sort_kernels().emit_sort(program, arrays(), m, maps, scratch, lists_tasks, options_.slab.start);
  return program;
}

GpuProgram Type12Programs::points_program(bool to_modes, std::int64_t m, std::int64_t transforms) const {
  GpuProgram program;
  const StageKernels& kernels = kernels_of(to_modes);
  if (to_modes && agrees()) {
    kernels.emit_within_bounds(program, arrays(), m, plan_.gpu().points.spread);
  } else if (to_modes) {
    if (!adds_) kernels.emit_clear(program, arrays(), transforms);
    kernels.emit_spread(program, arrays(), m, transforms, plan_.gpu().points.spread);
  } else {
    kernels.emit_interpolate(program, arrays(), m, transforms, plan_.gpu().points.interp);
  }
  return program;
}

GpuProgram Type12Programs::bounds_program(std::int64_t m) const {
  GpuProgram program;
  const StageKernels& kernels = kernels_of(true);
  if (!adds_) kernels.emit_clear(program, arrays(), 1);
  kernels.emit_bounds(program, arrays(), m);
  return program;
}

int Type12Programs::largest_group() const {
  return std::max(plan_.gpu().points.spread_with.group, plan_.gpu().points.interp_with.group);
}

std::vector<Type12Programs::Unit> Type12Programs::units(bool to_modes, std::int64_t transforms) const {
  const auto& points = plan_.gpu().points;
  std::vector<Unit> out;
  for (const auto& run :
       generator::nufft::group_runs(transforms, (to_modes ? points.spread_with : points.interp_with).group))
    if (run.size == 1)
      out.push_back({run.first, run.count, 1, false});
    else if (problem_.dim < 3 && plan_.gpu().fft.family == generator::GpuFftFamily::plain)
      out.push_back({run.first, run.size, run.count, true});
    else
      for (std::int64_t i = 0; i < run.count; ++i) out.push_back({run.first + i * run.size, run.size, 1, true});
  return out;
}

generator::gpu_nufft::GridFft Type12Programs::grid_fft_spec(int sign, std::int64_t transforms) const {
  generator::gpu_nufft::GridFft spec;
  spec.dim = problem_.dim;
  spec.precision = problem_.precision;
  spec.sign = sign;
  spec.batch = transforms;
  spec.modes = problem_.n.xyz();
  spec.fine = plan_.window.fine;
  spec.order = order_of(options_.mode_order);
  spec.device = device_;
  spec.save_memory = transforms == 1 && problem_.dim == 3 && grid_bytes_ / chunk_ >= kLargeGrid;
  spec.inside_grid = true;
  const generator::Window window = generator::window_of(plan_.window);
  for (int d = 0; d < problem_.dim; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const bool same = d > 0 && spec.fine[i] == spec.fine[0] && spec.modes[i] == spec.modes[0];
    spec.factors[i] =
        same ? spec.factors[0]
             : generator::gpu_nufft::deconvolution_factors(window, spec.fine[i], spec.modes[i], spec.order);
  }
  return spec;
}

GpuProgram Type12Programs::fft_program(bool to_modes, int sign, const Unit& unit) const {
  auto spec = grid_fft_spec(sign, unit.transforms);
  spec.interleaved = unit.interleaved, spec.groups = unit.groups;
  GpuProgram program = plan_.gpu().fft.family == generator::GpuFftFamily::cufft
                           ? generator::gpu_nufft::grid_copy(spec, to_modes)
                           : generator::gpu_nufft::grid_fft(spec, plan_.gpu().fft, to_modes);
  const std::int64_t offset = unit.first * cells_ * complex_;
  const generator::BufferRef grid = slot_ref(kGrid, offset);
  generator::BufferRef modes = kSecond;
  modes.byte_offset = unit.first * modes_ * complex_;
  program = generator::gpu_nufft::placed(std::move(program), to_modes ? grid : modes, to_modes ? modes : grid, kWork);
  generator::gpu_nufft::share_grid(program, kGrid, unit.groups * unit.transforms * cells_ * complex_, kWork, offset,
                                   unit.interleaved);
  return program;
}

Problem Type12Programs::library_problem(int sign, std::int64_t transforms) const {
  Problem fine;
  fine.kind = Kind::fft;
  fine.dim = problem_.dim;
  fine.n = plan_.window.fine;
  fine.precision = problem_.precision;
  fine.place = Place::in;
  fine.sign = sign;
  fine.batch = transforms;
  return fine;
}

std::array<std::int64_t, kWorkspaces> Type12Programs::workspace_bytes(std::int64_t m, std::int64_t large,
                                                                      bool lists_tasks) const {
  auto bytes = spread_kernels_->workspace_bytes(m, lists_tasks);
  const auto other = interp_kernels_->workspace_bytes(m, lists_tasks);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::max(bytes[i], other[i]);
  bytes[generator::nufft::kScratch] = std::max(bytes[generator::nufft::kScratch], large);
  return bytes;
}

}  // namespace fourtune::runtime::gpu
