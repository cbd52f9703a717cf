// Type 3 on a GPU: spread the sources, FFT between the two grids, interpolate at the targets, with multiplications
// before and after.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/backends/gpu/nufft_executor.h"
#include "runtime/backends/gpu/nufft_type3_stages.h"

namespace fourtune::runtime::gpu {
namespace {

using generator::GpuProgram;
using generator::gpu_nufft::Type3Kernels;

class Type3Executor final : public Executor, private Type3Slots {
 public:
  Type3Executor(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options,
                std::unique_ptr<Queue> queue)
      : problem_(problem),
        options_(options),
        stream_(options.stream),
        runner_(std::move(queue), kSlots, options.time_stages),
        stages_(problem, plan, runner_.queue().traits(), options),
        complex_(2 * real_bytes(problem.precision)) {
    check_supported(plan);
    runner_.reserve(kWords, 8 * Type3Kernels::kWords, "extents");
  }

  void set_points(const PointSet& points) override {
    ready_ = false;
    m_ = points.m, k_ = points.k;
    given_ = {points.x, points.y, points.z, points.s, points.t, points.u};
    runner_.begin_set_points();
    if (m_ > 0 && k_ > 0) {
      if (stages_.set_points(known_extents(), m_, k_)) forward_.made = adjoint_.made = false;
      reserve();
      if (!forward_.made) build(forward_, false);
      sort();
      ready_ = true;
    } else {
      if (m_ > 0 || k_ > 0) look_at_points();
      for (const bool adjoint : {false, true}) empty_[adjoint ? 1 : 0] = runner_.make(stages_.zeros(m_, k_, adjoint));
    }
  }

  void execute(void* first, void* second, bool adjoint) override {
    const bool fresh = adjoint && ready_ && !adjoint_.made;
    if (fresh) build(adjoint_, true);
    check_alignment(first, complex_, "execute: point_values");
    check_alignment(second, complex_, "execute: mode_values");
    runner_.begin_execute();
    LaunchScope run(runner_.queue(), stream_);
    std::byte* values =
        runner_.queue().open(first, problem_.batch * m_ * complex_, adjoint ? Access::out : Access::in, "point_values");
    std::byte* results =
        runner_.queue().open(second, problem_.batch * k_ * complex_, adjoint ? Access::in : Access::out, "mode_values");
    if (!ready_) {  // without sources or targets the sum is empty
      runner_.launch(empty_[adjoint ? 1 : 0], values, results);
    } else {
      Direction& direction = adjoint ? adjoint_ : forward_;
      if (fresh) runner_.rehearse([&] { launch_all(direction, values, results); });
      launch_all(direction, values, results);
    }
    runner_.end_stages(false);
    run.complete();
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = runner_.held() + extents_.bytes() + products_.bytes();
    for (const Direction* direction : {&forward_, &adjoint_})
      for (const auto& parts : direction->parts)
        for (const BoundLaunches& part : parts) use.held += part.bytes();
    use.needed = ready_ ? use.held : std::max(use.held, stages_.estimate_bytes());
    return use;
  }
  std::span<const StageTime> stage_times() const override { return times_ = runner_.stage_times(); }
  std::vector<LaunchTime> launch_times() const override { return runner_.launch_times(); }
  const generator::Plan& plan() const override { return stages_.plan(); }
  std::vector<KernelReport> kernels() const override { return runner_.kernels(); }
  void set_stream(void* stream) override { stream_ = stream; }
  void set_bounds(const Bounds& bounds) override { bounds_ = bounds; }

 private:
  using Extents = std::array<Type3Kernels::Extent, 6>;
  // Two million coordinates come from a GPU in some 3 ms, where a kernel that looks at them takes 60 ms to compile.
  static constexpr std::int64_t kHostNumbers = 1 << 21;
  static constexpr const char* kNames[6] = {"x", "y", "z", "s", "t", "u"};

  struct Direction {
    bool made = false;
    std::array<std::vector<BoundLaunches>, 2> parts;  // for full chunks, and for the last, smaller one
  };

  // Call this within a run.
  void launch_all(Direction& direction, std::byte* values, std::byte* results) {
    const std::int64_t chunk = stages_.chunk();
    for (std::int64_t b = 0; b < problem_.batch; b += chunk)
      for (BoundLaunches& part : direction.parts[problem_.batch - b < chunk ? 1 : 0])
        runner_.launch(part, values + b * m_ * complex_, results + b * k_ * complex_);
  }

  // Call this within a run.
  void open_points() {
    for (int i = 0; i < 6; ++i) {
      const bool there = i % 3 < problem_.dim && (i < 3 ? m_ : k_) > 0;
      check_alignment(given_[static_cast<std::size_t>(i)], complex_ / 2, kNames[i]);
      runner_.point(kPoints + i, there ? runner_.queue().open(const_cast<void*>(given_[static_cast<std::size_t>(i)]),
                                                              (i < 3 ? m_ : k_) * complex_ / 2, Access::in, kNames[i])
                                       : nullptr);
    }
  }

  // The extents of the points, or of the bounds that the points are promised to keep.
  Extents known_extents() {
    if (!bounds_) return look_at_points();
    if (!options_.trust_points) check_bounds(look_at_points());
    Extents extents;
    for (std::size_t i = 0; i < 6; ++i) extents[i] = {bounds_->low[i], bounds_->high[i], ~std::uint64_t{0}};
    return extents;
  }
  void check_bounds(const Extents& seen) const {
    for (std::size_t i = 0; i < 6; ++i)
      if (static_cast<int>(i % 3) < problem_.dim && (seen[i].low < bounds_->low[i] || seen[i].high > bounds_->high[i]))
        throw Error(Status::contradiction, fmt::format("{} lies from {} to {}, but set_bounds says {} to {}", kNames[i],
                                                       seen[i].low, seen[i].high, bounds_->low[i], bounds_->high[i]));
  }

  // The only place where set_points waits. The first points, unless they are very many, are looked at by the host:
  // their kernel then compiles beside those that follow from what is seen, and nothing waits for it alone.
  Extents look_at_points() {
    const bool few = (m_ + k_) * problem_.dim <= kHostNumbers && m_ > 0 && k_ > 0;
    const Extents extents = few && !extents_made_ ? seen_by_host() : seen_by_kernel();
    for (int i = 0; i < 6 && !options_.trust_points; ++i) {
      const auto bad = extents[static_cast<std::size_t>(i)].bad;
      if (i % 3 < problem_.dim && (i < 3 ? m_ : k_) > 0 && bad != ~std::uint64_t{0})
        throw Error(Status::invalid_point,
                    fmt::format("{}[{}] is NaN or infinite; coordinates are finite numbers", kNames[i], bad));
    }
    return extents;
  }

  Extents seen_by_host() {
    LaunchScope run(runner_.queue(), stream_);
    open_points();
    Extents extents;
    const std::int64_t real = complex_ / 2;
    for (int i = 0; i < 6; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i % 3 >= problem_.dim) {
        extents[at] = extents[at - 1];
        continue;
      }
      std::vector<std::byte> numbers(static_cast<std::size_t>((i < 3 ? m_ : k_) * real));
      runner_.queue().read(numbers.data(), runner_.data(kPoints + i), numbers.size());
      extents[at] = Type3Kernels::extent(numbers, problem_.precision);
    }
    run.complete();
    return extents;
  }

  void make_extents() {
    if (!std::exchange(extents_made_, true)) extents_ = runner_.make(stages_.extents(1, 1));
  }

  Extents seen_by_kernel() {
    make_extents();
    runner_.change(extents_, stages_.extents(m_, k_));
    LaunchScope run(runner_.queue(), stream_);
    open_points();
    runner_.bind(extents_, true);
    runner_.launch(extents_, nullptr, nullptr);
    runner_.end_stages(true);  // a gap follows, in which the host makes grids and kernels
    std::array<std::uint64_t, Type3Kernels::kWords> words{};
    runner_.queue().read(words.data(), runner_.data(kWords), sizeof words);
    run.complete();
    return Type3Kernels::extents(words);
  }

  void reserve() {
    using namespace generator::nufft;
    const auto sources = stages_.point_bytes(true), targets = stages_.point_bytes(false);
    try {
      runner_.reserve(kOuter, stages_.outer_bytes(), "the outer grids");
      runner_.reserve(kInner, std::max({stages_.inner_bytes(), sources[kScratch], targets[kScratch]}),
                      "the inner grids");
      for (int i = 0; i < kWorkspaces; ++i) {
        const bool kept = i == kRecords || i == kIndex || i == kTasks || i == kOffsets;
        for (const int slot : {kSources + i, kTargets + i})
          if (i == kScratch)
            runner_.alias(slot, kInner);
          else
            runner_.reserve(slot, (slot < kTargets ? sources : targets)[static_cast<std::size_t>(i)], "the points",
                            kept);
      }
      runner_.reserve(kBefore, m_ * complex_, "the phases", true);
      runner_.reserve(kAfter, k_ * complex_, "the factors", true);
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      std::int64_t points = (m_ + k_) * complex_;
      for (std::size_t i = 0; i < kWorkspaces; ++i) points += sources[i] + targets[i];
      explain_memory(error, problem_, stages_.plan(), stages_.outer_bytes() + stages_.inner_bytes(), points);
    }
  }

  // Sorts both sides and computes the factors of the products.
  void sort() {
    runner_.change(sorts_, stages_.sorts());
    const GpuProgram products = stages_.products();
    if (!std::exchange(products_made_, true)) products_ = runner_.make(products);
    runner_.change(products_, products);
    LaunchScope run(runner_.queue(), stream_);
    open_points();
    for (BoundLaunches* part : {&sorts_, &products_}) {
      runner_.bind(*part, true);
      runner_.launch(*part, nullptr, nullptr);
    }
    runner_.end_stages(true);
    for (Direction* direction : {&forward_, &adjoint_})
      if (direction->made) runner_.rehearse([&] { launch_all(*direction, nullptr, nullptr); });
    run.complete();
  }

  void build(Direction& direction, bool adjoint) {
    const std::int64_t sizes[2] = {stages_.chunk(), problem_.batch % stages_.chunk()};
    if (const std::int64_t bytes = stages_.scaled_bytes(adjoint)) runner_.reserve(kScaled, bytes, "scaled values");
    std::array<std::vector<GpuProgram>, 2> programs;
    // What sort() loads, and what looks at later points, is compiled together with these.
    const GpuProgram extents = stages_.extents(1, 1), sorts = stages_.sorts(), products = stages_.products();
    std::vector<const GpuProgram*> all{&extents, &sorts, &products};
    for (std::size_t i = 0; i < 2; ++i) {
      if (sizes[i] == 0) continue;
      for (GpuProgram& program : stages_.transform(sizes[i], adjoint)) programs[i].push_back(std::move(program));
      for (const GpuProgram& program : programs[i]) {
        all.push_back(&program);
        for (std::size_t w = kWork; w < program.workspace_bytes.size(); ++w)
          if (program.workspace_bytes[w] > 0)
            runner_.reserve(static_cast<int>(w), program.workspace_bytes[w], "the FFT's workspace");
      }
    }
    runner_.preload(all);
    make_extents();
    for (std::size_t i = 0; i < 2; ++i) {
      direction.parts[i].clear();
      for (const GpuProgram& program : programs[i]) direction.parts[i].push_back(runner_.make(program));
      for (BoundLaunches& part : direction.parts[i]) runner_.bind(part);
    }
    direction.made = true;
  }

  Problem problem_;
  ExecutorOptions options_;
  void* stream_;
  mutable Runner runner_;
  Type3Stages stages_;
  std::int64_t complex_, m_ = 0, k_ = 0;
  bool ready_ = false, products_made_ = false, extents_made_ = false;
  std::optional<Bounds> bounds_;
  std::array<const void*, 6> given_{};
  BoundLaunches extents_, sorts_, products_;
  std::array<BoundLaunches, 2> empty_;
  Direction forward_, adjoint_;
  mutable std::vector<StageTime> times_;
};

}  // namespace

std::unique_ptr<Executor> make_gpu_type3_executor(const Problem& problem, const generator::Plan& plan,
                                                  const ExecutorOptions& options, std::unique_ptr<Queue> queue) {
  return std::make_unique<Type3Executor>(problem, plan, options, std::move(queue));
}

}  // namespace fourtune::runtime::gpu
