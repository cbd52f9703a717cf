// Types 1 and 2 on a GPU: sort; then clear, spread and FFT, or FFT and interpolate.
#include "runtime/backends/gpu/nufft_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/planner/gpu_nufft/choices.h"
#include "generator/window/polynomial.h"
#include "runtime/backends/gpu/nufft_common.h"

namespace fourtune::runtime::gpu {
namespace {

using generator::GpuProgram;
using generator::nufft::Kernels;
using generator::nufft::kWorkspaces;

enum Slot : int { kX, kY, kZ, kGrid, kWork, kSort = kWork + 2, kSlots = kSort + kWorkspaces };

class Type12Executor final : public Executor {
 public:
  Type12Executor(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options,
                 std::unique_ptr<Queue> queue)
      : problem_(problem),
        plan_(plan),
        options_(options),
        whole_(options.only == Only::whole),
        stream_(options.stream),
        runner_(std::move(queue), kSlots, options.time_stages) {
    check_supported(plan);
    if (!whole_) {
      plan_.window.fine = problem.n;  // the caller's array is the grid, one transform after the other
      plan_.gpu().points.spread_with.group = plan_.gpu().points.interp_with.group = 1;
    }
    if (plan.gpu().fft.family == generator::GpuFftFamily::cufft && largest_group() > 1)
      throw Error(Status::invalid_plan, "fft=cufft: the library's transform takes grids one by one; choose group=1");
    chunk_ = std::clamp<std::int64_t>(plan_.chunk, 1, std::min<std::int64_t>(problem.batch, 65535));
    complex_ = 2 * real_bytes(problem.precision);
    modes_ = volume(problem.n, "modes");
    cells_ = volume(plan_.window.fine, "fine grid");
    grid_bytes_ = checked_multiply(checked_multiply(cells_, complex_, "fine grid"), chunk_, "fine grids");
    const generator::Window window(plan_.window.kind, plan_.window.width, plan_.window.sigma);
    polynomial_ = generator::kernel_polynomial(window, epsilon(problem.precision));
    make_kernels(problem.m.value_or(0));
    lists_tasks_ = works_by_tasks(problem.type == 1);
    build(directions_[0], problem.type == 1, problem.sign, problem.m.value_or(1));
  }

  void set_points(const PointSet& points) override {
    count_ = -1;
    if (counts_of(points.m) != counts_) make_kernels(points.m), bound_ = -1;
    reserve_points(points.m, large_bytes(points.m));
    bind_points(points.m);
    const void* given[] = {points.x, points.y, points.z};
    for (int d = 0; d < problem_.dim; ++d) check_alignment(given[d], complex_ / 2, kNames[d]);
    runner_.begin_set_points();
    const generator::nufft::LargeBins large = sort(points);
    if (scratch_bytes() < sort_kernels().large_bytes(points.m, large.points)) sort_large(points.m, large);
    count_ = points.m;
  }

  void execute(void* first, void* second, bool adjoint) override {
    Direction& direction = directions_[adjoint ? 1 : 0];
    const bool fresh = !direction.made;
    if (fresh) {
      list_tasks((problem_.type == 1) != adjoint);
      build(direction, (problem_.type == 1) != adjoint, adjoint ? -problem_.sign : problem_.sign, count_);
    }
    const bool to_modes = direction.to_modes;
    check_alignment(first, complex_, "execute: point_values");
    check_alignment(second, complex_, "execute: mode_values");
    runner_.begin_execute();
    Run run(runner_.queue(), stream_);
    std::byte* values = runner_.queue().open(first, problem_.batch * count_ * complex_,
                                             to_modes ? Access::in : Access::out, "point_values");
    std::byte* modes = runner_.queue().open(second, problem_.batch * modes_ * complex_,
                                            to_modes ? Access::out : Access::in, "mode_values");
    if (fresh) runner_.rehearse([&] { launch_all(direction, values, modes); });
    launch_all(direction, values, modes);
    runner_.end_stages(false);
    run.complete();
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = runner_.held() + sort_.bytes();
    for (const Direction& direction : directions_)
      for (const auto& parts : direction.fft)
        for (const Part& part : parts) use.held += part.bytes();
    use.needed = use.held;
    if (count_ >= 0) return use;
    const std::int64_t m = problem_.m.value_or(0);
    const auto bytes = workspace_bytes(m, large_bytes(m));
    for (int i = 0; i < kWorkspaces; ++i) {
      const int slot = i == generator::nufft::kScratch ? scratch_slot() : static_cast<int>(kSort) + i;
      use.needed += std::max<std::int64_t>(0, bytes[static_cast<std::size_t>(i)] - runner_.slot_bytes(slot));
    }
    return use;
  }
  std::span<const StageTime> stage_times() const override { return times_ = runner_.stage_times(); }
  std::vector<LaunchTime> launch_times() const override { return runner_.launch_times(); }
  const generator::Plan& plan() const override { return plan_; }
  std::vector<KernelReport> kernels() const override { return runner_.kernels(); }
  void set_stream(void* stream) override { stream_ = stream; }

 private:
  // From this many bytes on, the FFT of a 3D grid runs without a workspace instead of transforming x first. Whole
  // executes of type 1, x first and in place: 336 x 336 x 240 cells 780 and 778 us, 256^3 1357 and 1365, 192^3 738 and
  // 729; the FFT of 180^3 alone 53 and 60 (f32, H200). For smaller grids the workspace is negligible.
  static constexpr std::int64_t kLargeGrid = std::int64_t{64} << 20;
  // Point counts from which other kernels are needed: first for whole cells in records, then for 64-bit counts.
  static int counts_of(std::int64_t m) {
    return m >= std::int64_t{1} << 31 ? 2 : m >= std::int64_t{1} << (32 - generator::nufft::kMostStolen) ? 1 : 0;
  }
  static constexpr const char* kNames[3] = {"x", "y", "z"};

  // The parts that run for one direction; [1] is for the last, smaller chunk.
  struct Direction {
    bool made = false, to_modes = false;
    std::array<Part, 2> points;
    std::array<std::vector<Part>, 2> fft;
  };

  // Rehearses the launches of execute while the device sorts.
  void rehearse() {
    for (Direction& direction : directions_)
      if (direction.made) runner_.rehearse([&] { launch_all(direction, nullptr, nullptr); });
  }
  // Call this within a run.
  void launch_all(Direction& direction, std::byte* values, std::byte* modes) {
    for (std::int64_t b = 0; b < problem_.batch; b += chunk_) {
      const std::size_t which = problem_.batch - b < chunk_ ? 1 : 0;
      std::byte *at = values + b * count_ * complex_, *to = modes + b * modes_ * complex_;
      if (direction.to_modes) runner_.launch(direction.points[which], at, to);
      for (Part& part : direction.fft[which]) runner_.launch(part, at, to);
      if (!direction.to_modes) runner_.launch(direction.points[which], at, to);
    }
  }

  void make_kernels(std::int64_t m) {
    counts_ = counts_of(m);
    generator::nufft::Shape shape;
    shape.dim = problem_.dim;
    shape.fine = plan_.window.fine;
    shape.precision = problem_.precision;
    shape.width = plan_.window.width;
    shape.large_counts = counts_ == 2;
    on_device(shape, runner_.queue().traits());
    const auto lead = problem_.type == 1 ? generator::gpu_nufft::Lead::spread : generator::gpu_nufft::Lead::interpolate;
    auto& points = plan_.gpu().points;
    if (!whole_) {  // the plan is for the fine grid of a whole transform, the caller's may be odd
      check_wide_enough(shape);
      points = generator::gpu_nufft::refit(points, shape, lead);
    }
    if (options_.deterministic) points = generator::gpu_nufft::deterministic(points, shape, lead);
    generator::nufft::Parameters spread = points.spread_with, interp = points.interp_with;
    if (spread.order != interp.order || spread.bin != interp.bin || spread.cap != interp.cap ||
        spread.placement != interp.placement || spread.segment != interp.segment || spread.slice != interp.slice)
      throw Error(Status::invalid_plan, "sort: spreading and interpolation share it and want different ones");
    spread.check = interp.check = !options_.trust_points;
    shape.whole_cells = counts_ != 0 || points.spread == generator::nufft::Spread::points ||
                        points.interp == generator::nufft::Interpolate::points;
    const auto& window = plan_.window;
    shape.unit = position_unit(
        window, generator::predicted_error(window.kind, window.width, window.sigma, problem_.dim), problem_);
    spread_kernels_.emplace(shape, spread, polynomial_);
    interp_kernels_.emplace(shape, interp, polynomial_);
  }
  static void check_wide_enough(const generator::nufft::Shape& shape) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dim); ++d)
      if (shape.fine[d] < shape.width)
        throw Error(
            Status::unsupported,
            fmt::format("a grid of {} cells along {} is smaller than the window, {} cells; kernels of GPUs need "
                        "room for it",
                        shape.fine[d], "xyz"[d], shape.width));
  }
  const Kernels& kernels_of(bool to_modes) const { return to_modes ? *spread_kernels_ : *interp_kernels_; }

  generator::nufft::Arrays arrays() const {
    generator::nufft::Arrays out;
    out.points = {slot_ref(kX), slot_ref(kY), slot_ref(kZ)};
    out.values = kFirst;
    out.grid = whole_ ? slot_ref(kGrid) : kSecond;
    out.workspace = kSort;
    return out;
  }
  const Kernels& sort_kernels() const { return kernels_of(problem_.type == 1); }
  GpuProgram sort_program(std::int64_t m) const {
    GpuProgram program;
    sort_kernels().emit_sort(program, arrays(), m, {}, scratch_bytes(), lists_tasks_);
    return program;
  }

  // Returns what is known about large coarse bins: nothing if points are not checked, since then there is room for all.
  generator::nufft::LargeBins sort(const PointSet& points) {
    const void* given[] = {points.x, points.y, points.z};
    Run run(runner_.queue(), stream_);
    std::array<const std::byte*, 3> opened{};
    const std::int64_t bytes = checked_multiply(points.m, complex_ / 2, "points");
    for (int d = 0; d < problem_.dim; ++d) {
      std::byte* at = runner_.queue().open(const_cast<void*>(given[d]), bytes, Access::in, kNames[d]);
      opened[static_cast<std::size_t>(d)] = at;
      runner_.point(kX + d, at);
    }
    runner_.bind(sort_, true);
    runner_.launch(sort_, nullptr, nullptr);
    runner_.end_stages(true);
    rehearse();
    generator::nufft::LargeBins large;
    if (!options_.trust_points && points.m > 0)
      large = check_status(runner_.queue(), runner_.data(kSort + static_cast<int>(generator::nufft::kStatus)), opened,
                           problem_.dim, problem_.precision, "xyz");
    run.complete();
    return large;
  }

  // Completes a sort that found more points in large coarse bins than it had room for.
  void sort_large(std::int64_t m, const generator::nufft::LargeBins& large) {
    const std::int64_t before = scratch_bytes();
    reserve_points(m, sort_kernels().late_bytes(m, large));
    const bool moved = scratch_bytes() != before;
    if (moved) {
      bound_ = -1;
      bind_points(m);
    }
    GpuProgram program;
    sort_kernels().emit_large(program, arrays(), m, large, scratch_bytes(), lists_tasks_);
    runner_.change(late_, program);
    Run run(runner_.queue(), stream_);
    runner_.launch(late_, nullptr, nullptr);
    runner_.end_stages(true);
    if (moved) rehearse();  // the grid has moved
    run.complete();
  }
  GpuProgram points_program(bool to_modes, std::int64_t m, std::int64_t transforms) const {
    GpuProgram program;
    const Kernels& kernels = kernels_of(to_modes);
    if (to_modes) {
      kernels.emit_clear(program, arrays(), transforms);
      kernels.emit_spread(program, arrays(), m, transforms, plan_.gpu().points.spread);
    } else {
      kernels.emit_interpolate(program, arrays(), m, transforms, plan_.gpu().points.interp);
    }
    return program;
  }

  // Whether this direction's family processes points by subproblems.
  bool works_by_tasks(bool to_modes) const {
    return to_modes ? plan_.gpu().points.spread != generator::nufft::Spread::points
                    : plan_.gpu().points.interp != generator::nufft::Interpolate::points;
  }
  // Called before a direction is made: if it needs subproblems, later sorts list them, and those of the current points
  // are listed now.
  void list_tasks(bool to_modes) {
    if (lists_tasks_ || !works_by_tasks(to_modes)) return;
    lists_tasks_ = true;
    bound_ = -1;
    try {
      reserve_points(count_, 0);
      GpuProgram program;
      sort_kernels().emit_tasks(program, arrays(), count_);
      runner_.change(late_, program);
      runner_.begin_execute();
      Run run(runner_.queue(), stream_);
      runner_.launch(late_, nullptr, nullptr);
      runner_.end_stages(true);
      run.complete();
    } catch (...) {
      lists_tasks_ = false;
      throw;
    }
  }

  // Transforms in a full chunk, and in the last chunk if that is smaller (else 0).
  std::array<std::int64_t, 2> chunks() const { return {chunk_, problem_.batch % chunk_}; }

  generator::gpu_nufft::GridFft grid_fft_spec(int sign, std::int64_t transforms) const {
    generator::gpu_nufft::GridFft spec;
    spec.dim = problem_.dim;
    spec.precision = problem_.precision;
    spec.sign = sign;
    spec.batch = transforms;
    spec.modes = problem_.n;
    spec.fine = plan_.window.fine;
    spec.order = order_of(options_.mode_order);
    spec.device = runner_.queue().traits();
    spec.save_memory = transforms == 1 && problem_.dim == 3 && grid_bytes_ / chunk_ >= kLargeGrid;
    const generator::Window window(plan_.window.kind, plan_.window.width, plan_.window.sigma);
    for (int d = 0; d < problem_.dim; ++d) {
      const auto i = static_cast<std::size_t>(d);
      const bool same = d > 0 && spec.fine[i] == spec.fine[0] && spec.modes[i] == spec.modes[0];
      spec.factors[i] =
          same ? spec.factors[0]
               : generator::gpu_nufft::deconvolution_factors(window, spec.fine[i], spec.modes[i], spec.order);
    }
    return spec;
  }

  int largest_group() const {
    return std::max(plan_.gpu().points.spread_with.group, plan_.gpu().points.interp_with.group);
  }
  // The transforms of a chunk that one program of the FFT processes: all in one layout.
  struct Unit {
    std::int64_t first = 0, transforms = 1, groups = 1;
    bool interleaved = false;
  };
  std::vector<Unit> units(bool to_modes, std::int64_t transforms) const {
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
  GpuProgram fft_program(bool to_modes, int sign, const Unit& unit) const {
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

  void build(Direction& direction, bool to_modes, int sign, std::int64_t m) {
    const bool library = plan_.gpu().fft.family == generator::GpuFftFamily::cufft;
    std::array<GpuProgram, 2> points;
    std::array<std::vector<GpuProgram>, 2> fft;
    std::vector<const GpuProgram*> all;
    const GpuProgram sort = sort_program(std::max<std::int64_t>(m, 1));
    if (!directions_[0].made) all.push_back(&sort);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t transforms = chunks()[i];
      if (transforms == 0) continue;
      points[i] = points_program(to_modes, std::max<std::int64_t>(m, 1), transforms);
      all.push_back(&points[i]);
      if (!whole_) continue;
      for (const Unit& unit : units(to_modes, transforms)) fft[i].push_back(fft_program(to_modes, sign, unit));
      for (const GpuProgram& program : fft[i]) all.push_back(&program);
    }
    reserve_grids(fft);
    runner_.preload(all);
    if (!directions_[0].made) sort_ = runner_.make(sort);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t transforms = chunks()[i];
      if (transforms == 0) continue;
      direction.points[i] = runner_.make(points[i]);
      direction.fft[i].clear();
      if (library && to_modes && whole_)
        direction.fft[i].push_back(runner_.make_library(library_problem(sign, transforms), kGrid));
      for (const GpuProgram& program : fft[i]) direction.fft[i].push_back(runner_.make(program));
      if (library && !to_modes && whole_)
        direction.fft[i].push_back(runner_.make_library(library_problem(sign, transforms), kGrid));
    }
    direction.to_modes = to_modes;
    direction.made = true;
    if (count_ >= 0) bound_ = -1, bind_points(count_);
  }

  Problem library_problem(int sign, std::int64_t transforms) const {
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

  void reserve_grids(const std::array<std::vector<GpuProgram>, 2>& fft) {
    if (!whole_) return;
    std::int64_t work = 0;
    try {
      runner_.reserve(kGrid, std::max(grid_bytes_, runner_.slot_bytes(kGrid)), "the fine grids");
      for (const auto& programs : fft)
        for (const GpuProgram& program : programs)
          for (std::size_t w = kWork; w < program.workspace_bytes.size(); ++w) {
            work = std::max(work, program.workspace_bytes[w]);
            if (program.workspace_bytes[w] == 0) continue;
            if (w >= kSort) throw Error(Status::internal, "an FFT with more than two workspaces");
            runner_.reserve(static_cast<int>(w), program.workspace_bytes[w], "the FFT's workspace");
          }
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      explain_memory(error, problem_, plan_, grid_bytes_ + work, point_bytes(problem_.m.value_or(0)));
    }
  }

  // For either direction; they differ only where spreading needs more. large: bytes of scratch for large coarse bins.
  std::array<std::int64_t, kWorkspaces> workspace_bytes(std::int64_t m, std::int64_t large) const {
    auto bytes = spread_kernels_->workspace_bytes(m, lists_tasks_);
    const auto other = interp_kernels_->workspace_bytes(m, lists_tasks_);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::max(bytes[i], other[i]);
    bytes[generator::nufft::kScratch] = std::max(bytes[generator::nufft::kScratch], large);
    return bytes;
  }
  // Bytes of scratch reserved from the start: trusted points are not checked, so all may lie in large coarse bins.
  std::int64_t large_bytes(std::int64_t m) const {
    return options_.trust_points ? sort_kernels().large_bytes(m, m) : 0;
  }
  // Scratch lies in the grid, which is unused during the sort.
  int scratch_slot() const {
    return whole_ ? static_cast<int>(kGrid) : kSort + static_cast<int>(generator::nufft::kScratch);
  }
  std::int64_t scratch_bytes() const { return runner_.slot_bytes(scratch_slot()); }
  std::int64_t point_bytes(std::int64_t m) const {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : workspace_bytes(m, 0)) sum += bytes;
    return sum;
  }
  // Reserves memory for m points, with `large` bytes of scratch for large coarse bins.
  void reserve_points(std::int64_t m, std::int64_t large) {
    using namespace generator::nufft;
    try {
      const auto bytes = workspace_bytes(m, large);
      for (int i = 0; i < kWorkspaces; ++i) {
        if (i == kScratch && whole_) {
          runner_.reserve(kGrid, std::max(grid_bytes_, bytes[kScratch]), "the fine grids");
          runner_.alias(kSort + i, kGrid);
        } else {
          const bool kept = i == kRecords || i == kIndex || i == kTasks || i == kOffsets || i == kSums;
          runner_.reserve(kSort + i, bytes[static_cast<std::size_t>(i)], "the points", kept);
        }
      }
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      explain_memory(error, problem_, plan_, grid_bytes_, point_bytes(m) + large);
    }
  }

  // Makes the launches for m points; the kernels are loaded already.
  void bind_points(std::int64_t m) {
    if (bound_ == m) return;
    runner_.change(sort_, sort_program(m));
    for (Direction& direction : directions_)
      for (std::size_t i = 0; i < 2; ++i)
        if (direction.made && chunks()[i] > 0)
          runner_.change(direction.points[i], points_program(direction.to_modes, m, chunks()[i]));
    bound_ = m;
    for (Direction& direction : directions_)
      for (std::size_t i = 0; i < 2; ++i) {
        runner_.bind(direction.points[i]);
        for (Part& part : direction.fft[i]) runner_.bind(part);
      }
  }

  Problem problem_;
  generator::Plan plan_;
  ExecutorOptions options_;
  bool whole_;
  void* stream_;
  mutable Runner runner_;
  generator::PiecewisePolynomial polynomial_;
  std::optional<Kernels> spread_kernels_, interp_kernels_;
  int counts_ = 0;
  std::int64_t chunk_ = 1, complex_ = 8, modes_ = 1, cells_ = 1, grid_bytes_ = 0;
  std::int64_t count_ = -1;              // number of points; -1: not set
  std::int64_t bound_ = -1;              // number of points for which the launches are made
  bool lists_tasks_ = false;             // sorts list subproblems, because a direction made so far needs them
  Part sort_, late_;                     // late_: work left over by a sort
  std::array<Direction, 2> directions_;  // forward, adjoint
  mutable std::vector<StageTime> times_;
};

}  // namespace

std::unique_ptr<Executor> make_gpu_type12_executor(const Problem& problem, const generator::Plan& plan,
                                                   const ExecutorOptions& options, std::unique_ptr<Queue> queue) {
  return std::make_unique<Type12Executor>(problem, plan, options, std::move(queue));
}

}  // namespace fourtune::runtime::gpu
