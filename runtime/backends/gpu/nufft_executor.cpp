// Types 1 and 2 on a GPU: sort; then clear, spread and FFT, or FFT and interpolate.
#include "runtime/backends/gpu/nufft_executor.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "runtime/backends/gpu/nufft_common.h"
#include "runtime/backends/gpu/nufft_type12_programs.h"

namespace fourtune::runtime::gpu {
namespace {

using generator::GpuProgram;
using generator::nufft::kWorkspaces;

constexpr auto kX = Type12Programs::kX, kGrid = Type12Programs::kGrid, kWork = Type12Programs::kWork,
               kSort = Type12Programs::kSort;

class Type12Executor final : public MappedExecutor {
 public:
  Type12Executor(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options,
                 std::unique_ptr<Queue> queue)
      : problem_(problem),
        trust_points_(options.trust_points),
        agree_(options.slab.agree),
        crowded_(options.crowded || options.trust_points),
        stream_(options.stream),
        runner_(std::move(queue), Type12Programs::kSlots, options.time_stages),
        programs_(problem, plan, options, runner_.queue().traits()) {
    lists_tasks_ = programs_.works_by_tasks(problem.type == 1);
    build(directions_[0], problem.type == 1, problem.sign, problem.m.value_or(1));
  }

  void set_points(const PointSet& points) override {
    count_ = -1;
    if (!programs_.kernels_serve(points.m)) programs_.make_kernels(points.m), bound_ = -1;
    reserve_points(points.m, large_bytes(points.m));
    bind_points(points.m);
    const void* given[] = {points.x, points.y, points.z};
    for (int d = 0; d < problem_.dim; ++d) check_alignment(given[d], programs_.complex_bytes() / 2, kNames[d]);
    runner_.begin_set_points();
    const generator::nufft::LargeBins large = sort(points);
    if (sort_scratch() < programs_.sort_kernels().large_bytes(points.m, large.points)) sort_large(points.m, large);
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
    check_alignment(first, programs_.complex_bytes(), "execute: point_values");
    check_alignment(second, programs_.complex_bytes(), "execute: mode_values");
    runner_.begin_execute();
    LaunchScope run(runner_.queue(), stream_);
    std::byte* values = runner_.queue().open(first, problem_.batch * count_ * programs_.complex_bytes(),
                                             to_modes ? Access::in : Access::out, "point_values");
    std::byte* modes = runner_.queue().open(second, problem_.batch * programs_.modes() * programs_.complex_bytes(),
                                            !to_modes          ? Access::in
                                            : programs_.adds() ? Access::both
                                                               : Access::out,
                                            "mode_values");
    if (fresh && !programs_.agrees()) runner_.rehearse([&] { launch_all(direction, values, modes); });
    launch_all(direction, values, modes);
    runner_.end_stages(false);
    run.complete();
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = runner_.held() + sort_.bytes();
    for (const Direction& direction : directions_)
      for (const auto& parts : direction.fft)
        for (const BoundLaunches& part : parts) use.held += part.bytes();
    use.needed = use.held;
    if (count_ >= 0) return use;
    const std::int64_t m = problem_.m.value_or(0);
    const auto bytes = programs_.workspace_bytes(m, large_bytes(m), lists_tasks_);
    for (int i = 0; i < kWorkspaces; ++i) {
      const int slot = i == generator::nufft::kScratch ? scratch_slot() : static_cast<int>(kSort) + i;
      use.needed += std::max<std::int64_t>(0, bytes[static_cast<std::size_t>(i)] - runner_.slot_bytes(slot));
    }
    return use;
  }
  std::span<const StageTime> stage_times() const override { return times_ = runner_.stage_times(); }
  std::vector<LaunchTime> launch_times() const override { return runner_.launch_times(); }
  const generator::Plan& plan() const override { return programs_.plan(); }
  std::vector<KernelReport> kernels() const override { return runner_.kernels(); }
  void set_stream(void* stream) override { stream_ = stream; }
  void set_slab(std::int64_t start, bool adds) override {
    if (programs_.set_slab(start, adds)) bound_ = -1;
  }
  void set_maps(const std::array<generator::nufft::Map, 3>& maps) override {
    programs_.set_maps(maps);
    bound_ = -1;
  }

 private:
  static constexpr const char* kNames[3] = {"x", "y", "z"};

  // The parts that run for one direction; [1] is for the last, smaller chunk.
  struct Direction {
    bool made = false, to_modes = false;
    std::array<BoundLaunches, 2> points;
    BoundLaunches bounds;  // what comes before `points` where slabs agree on bounds
    std::array<std::vector<BoundLaunches>, 2> fft;
  };

  // Rehearses the launches of execute while the device sorts.
  void rehearse() {
    if (programs_.agrees()) return;  // that communicates
    for (Direction& direction : directions_)
      if (direction.made) runner_.rehearse([&] { launch_all(direction, nullptr, nullptr); });
  }
  // Call this within a run; it waits for the device.
  void agree_on_bounds(Direction& direction, std::byte* values, std::byte* grid) {
    constexpr int slot = kSort + static_cast<int>(generator::nufft::kFixed);
    runner_.launch(direction.bounds, values, grid);
    std::array<std::uint64_t, 2> bounds{};
    runner_.queue().read(bounds.data(), runner_.data(slot), sizeof bounds);
    agree_(bounds);
    runner_.upload(slot, std::as_bytes(std::span(bounds)));
  }
  // Call this within a run.
  void launch_all(Direction& direction, std::byte* values, std::byte* modes) {
    for (std::int64_t b = 0; b < problem_.batch; b += programs_.chunk()) {
      const std::size_t which = problem_.batch - b < programs_.chunk() ? 1 : 0;
      std::byte *at = values + b * count_ * programs_.complex_bytes(),
                *to = modes + b * programs_.modes() * programs_.complex_bytes();
      if (direction.to_modes && programs_.agrees()) agree_on_bounds(direction, at, to);
      if (direction.to_modes) runner_.launch(direction.points[which], at, to);
      for (BoundLaunches& part : direction.fft[which]) runner_.launch(part, at, to);
      if (!direction.to_modes) runner_.launch(direction.points[which], at, to);
    }
  }

  // Returns what is known about large coarse bins: nothing if points are not checked, since then there is room for all.
  generator::nufft::LargeBins sort(const PointSet& points) {
    const void* given[] = {points.x, points.y, points.z};
    LaunchScope run(runner_.queue(), stream_);
    std::array<const std::byte*, 3> opened{};
    const std::int64_t bytes = checked_multiply(points.m, programs_.complex_bytes() / 2, "points");
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
    if (!trust_points_ && points.m > 0)
      large = check_status(runner_.queue(), runner_.data(kSort + static_cast<int>(generator::nufft::kStatus)), opened,
                           problem_);
    run.complete();
    return large;
  }

  // Completes a sort that found more points in large coarse bins than it had room for.
  void sort_large(std::int64_t m, const generator::nufft::LargeBins& large) {
    const std::int64_t before = scratch_bytes();
    reserve_points(m, programs_.sort_kernels().large_scratch(m, large));
    const bool moved = scratch_bytes() != before;
    if (moved) {
      bound_ = -1;
      bind_points(m);
    }
    GpuProgram program;
    programs_.sort_kernels().emit_large_bins(program, programs_.arrays(), m, large, scratch_bytes(), lists_tasks_);
    runner_.change(late_, program);
    LaunchScope run(runner_.queue(), stream_);
    runner_.launch(late_, nullptr, nullptr);
    runner_.end_stages(true);
    if (moved) rehearse();  // the grid has moved
    run.complete();
    if (!std::exchange(crowded_, true)) bound_ = -1;  // later points are probably like these
  }

  // Called before a direction is made: if it needs subproblems, later sorts list them, and those of the current points
  // are listed now.
  void list_tasks(bool to_modes) {
    if (lists_tasks_ || !programs_.works_by_tasks(to_modes)) return;
    lists_tasks_ = true;
    bound_ = -1;
    try {
      reserve_points(count_, 0);
      GpuProgram program;
      programs_.sort_kernels().emit_tasks(program, programs_.arrays(), count_);
      runner_.change(late_, program);
      runner_.begin_execute();
      LaunchScope run(runner_.queue(), stream_);
      runner_.launch(late_, nullptr, nullptr);
      runner_.end_stages(true);
      run.complete();
    } catch (...) {
      lists_tasks_ = false;
      throw;
    }
  }

  void build(Direction& direction, bool to_modes, int sign, std::int64_t m) {
    const bool library = programs_.plan().gpu().fft.family == generator::GpuFftFamily::cufft;
    std::array<GpuProgram, 2> points;
    std::array<std::vector<GpuProgram>, 2> fft;
    std::vector<const GpuProgram*> all;
    const GpuProgram sort = programs_.sort_program(std::max<std::int64_t>(m, 1), sort_scratch(), lists_tasks_);
    if (!directions_[0].made) all.push_back(&sort);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t transforms = programs_.chunks()[i];
      if (transforms == 0) continue;
      points[i] = programs_.points_program(to_modes, std::max<std::int64_t>(m, 1), transforms);
      all.push_back(&points[i]);
      if (!programs_.whole()) continue;
      for (const Type12Programs::Unit& unit : programs_.units(to_modes, transforms))
        fft[i].push_back(programs_.fft_program(to_modes, sign, unit));
      for (const GpuProgram& program : fft[i]) all.push_back(&program);
    }
    reserve_grids(fft);
    runner_.preload(all);
    if (!directions_[0].made) sort_ = runner_.make(sort);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t transforms = programs_.chunks()[i];
      if (transforms == 0) continue;
      direction.points[i] = runner_.make(points[i]);
      if (to_modes && programs_.agrees())
        direction.bounds = runner_.make(programs_.bounds_program(std::max<std::int64_t>(m, 1)));
      direction.fft[i].clear();
      if (library && to_modes && programs_.whole())
        direction.fft[i].push_back(runner_.make_library(programs_.library_problem(sign, transforms), kGrid));
      for (const GpuProgram& program : fft[i]) direction.fft[i].push_back(runner_.make(program));
      if (library && !to_modes && programs_.whole())
        direction.fft[i].push_back(runner_.make_library(programs_.library_problem(sign, transforms), kGrid));
    }
    direction.to_modes = to_modes;
    direction.made = true;
    if (count_ >= 0) bound_ = -1, bind_points(count_);
  }

  void reserve_grids(const std::array<std::vector<GpuProgram>, 2>& fft) {
    if (!programs_.whole()) return;
    std::int64_t work = 0;
    try {
      runner_.reserve(kGrid, std::max(programs_.grid_bytes(), runner_.slot_bytes(kGrid)), "the fine grids");
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
      explain_memory(error, problem_, programs_.plan(), programs_.grid_bytes() + work,
                     point_bytes(problem_.m.value_or(0)));
    }
  }

  // Bytes of scratch reserved from the start: trusted points are not checked, so all may lie in large coarse bins.
  std::int64_t large_bytes(std::int64_t m) const {
    return trust_points_ ? programs_.sort_kernels().large_bytes(m, m) : 0;
  }
  // Scratch lies in the grid, which is unused during the sort.
  int scratch_slot() const {
    return programs_.whole() ? static_cast<int>(kGrid) : kSort + static_cast<int>(generator::nufft::kScratch);
  }
  std::int64_t scratch_bytes() const { return runner_.slot_bytes(scratch_slot()); }
  // What a first sort uses of it. Few points have crowded bins, whose three kernels take a quarter of the time to
  // compile a 3D sort; so they are left to sort_large until there are such points. Trusted points are not looked at.
  std::int64_t sort_scratch() const { return crowded_ ? std::max<std::int64_t>(1, scratch_bytes()) : 0; }
  std::int64_t point_bytes(std::int64_t m) const {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : programs_.workspace_bytes(m, 0, lists_tasks_)) sum += bytes;
    return sum;
  }
  // Reserves memory for m points, with `large` bytes of scratch for large coarse bins.
  void reserve_points(std::int64_t m, std::int64_t large) {
    using namespace generator::nufft;
    try {
      const auto bytes = programs_.workspace_bytes(m, large, lists_tasks_);
      for (int i = 0; i < kWorkspaces; ++i) {
        if (i == kScratch && programs_.whole()) {
          runner_.reserve(kGrid, std::max(programs_.grid_bytes(), bytes[kScratch]), "the fine grids");
          runner_.alias(kSort + i, kGrid);
        } else {
          const bool kept = i == kRecords || i == kIndex || i == kTasks || i == kOffsets || i == kSums;
          runner_.reserve(kSort + i, bytes[static_cast<std::size_t>(i)], "the points", kept);
        }
      }
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      explain_memory(error, problem_, programs_.plan(), programs_.grid_bytes(), point_bytes(m) + large);
    }
  }

  // Makes the launches for m points; the kernels are loaded already.
  void bind_points(std::int64_t m) {
    if (bound_ == m) return;
    runner_.change(sort_, programs_.sort_program(m, sort_scratch(), lists_tasks_));
    for (Direction& direction : directions_)
      for (std::size_t i = 0; i < 2; ++i)
        if (direction.made && programs_.chunks()[i] > 0)
          runner_.change(direction.points[i], programs_.points_program(direction.to_modes, m, programs_.chunks()[i]));
    for (Direction& direction : directions_)
      if (direction.made && direction.to_modes && programs_.agrees())
        runner_.change(direction.bounds, programs_.bounds_program(m));
    bound_ = m;
    for (Direction& direction : directions_)
      for (std::size_t i = 0; i < 2; ++i) {
        runner_.bind(direction.points[i]);
        runner_.bind(direction.bounds);
        for (BoundLaunches& part : direction.fft[i]) runner_.bind(part);
      }
  }

  Problem problem_;
  bool trust_points_;
  std::function<void(std::array<std::uint64_t, 2>&)> agree_;
  bool crowded_;  // sorts have the kernels for large coarse bins
  void* stream_;
  mutable Runner runner_;
  Type12Programs programs_;
  std::int64_t count_ = -1;              // number of points; -1: not set
  std::int64_t bound_ = -1;              // number of points for which the launches are made
  bool lists_tasks_ = false;             // sorts list subproblems, because a direction made so far needs them
  BoundLaunches sort_, late_;            // late_: work left over by a sort
  std::array<Direction, 2> directions_;  // forward, adjoint
  mutable std::vector<StageTime> times_;
};

}  // namespace

std::unique_ptr<MappedExecutor> make_gpu_mapped_executor(const Problem& problem, const generator::Plan& plan,
                                                         const ExecutorOptions& options, std::unique_ptr<Queue> queue) {
  return std::make_unique<Type12Executor>(problem, plan, options, std::move(queue));
}

std::unique_ptr<Executor> make_gpu_type12_executor(const Problem& problem, const generator::Plan& plan,
                                                   const ExecutorOptions& options, std::unique_ptr<Queue> queue) {
  return std::make_unique<Type12Executor>(problem, plan, options, std::move(queue));
}

}  // namespace fourtune::runtime::gpu
