#include "runtime/distributed/gpu_type3_factors.h"

#include <algorithm>
#include <utility>

#include "runtime/backends/gpu/nufft_common.h"

namespace fourtune::runtime::distributed {

using generator::GpuProgram;
using generator::gpu_nufft::Type3Kernels;
using gpu::Access;
using gpu::slot_ref;

GpuType3Factors::GpuType3Factors(const Problem& problem, std::unique_ptr<gpu::Queue> queue, void* stream)
    : problem_(problem),
      runner_(std::move(queue), kSlots, false),
      stream_(stream),
      kernels_(problem.dim, problem.precision, std::max(1, runner_.queue().traits().multiprocessors)) {}

std::array<generator::BufferRef, 3> GpuType3Factors::refs(int first) const {
  std::array<generator::BufferRef, 3> refs;
  for (int d = 0; d < 3; ++d)
    refs[static_cast<std::size_t>(d)] = slot_ref(kPoints + first + (d < problem_.dim ? d : 0));
  return refs;
}

void GpuType3Factors::open(const PointSet& points) {
  static constexpr const char* kNames[6] = {"x", "y", "z", "s", "t", "u"};
  const std::array<const void*, 6> given{points.x, points.y, points.z, points.s, points.t, points.u};
  for (int i = 0; i < 6; ++i) {
    const std::int64_t count = i < 3 ? points.m : points.k;
    void* const at = const_cast<void*>(given[static_cast<std::size_t>(i)]);
    runner_.point(kPoints + i,
                  i % 3 < problem_.dim && count > 0
                      ? runner_.queue().open(at, count * real_bytes(problem_.precision), Access::in, kNames[i])
                      : nullptr);
  }
}

GpuType3Factors::Extents GpuType3Factors::extents(const PointSet& points) {
  if (points.m + points.k == 0) return {};
  runner_.reserve(kWords, 8 * Type3Kernels::kWords, "extents");
  // Where one side has no points the kernel looks at the other one twice.
  const int sources = points.m > 0 ? 0 : 3, targets = points.k > 0 ? 3 : 0;
  GpuProgram program;
  const std::array<generator::BufferRef, 3> first = refs(sources), second = refs(targets);
  kernels_.emit_extents(program, {first[0], first[1], first[2], second[0], second[1], second[2]}, slot_ref(kWords),
                        points.m > 0 ? points.m : points.k, points.k > 0 ? points.k : points.m);
  runner_.change(extents_, program);
  std::array<std::uint64_t, Type3Kernels::kWords> words{};
  gpu::LaunchScope run(runner_.queue(), stream_);
  open(points);
  runner_.bind(extents_, true);
  runner_.launch(extents_, nullptr, nullptr);
  runner_.queue().read(words.data(), runner_.data(kWords), sizeof words);
  run.complete();
  return Type3Kernels::extents(words);
}

void GpuType3Factors::make(const PointSet& points, const std::array<generator::Type3Dimension, 3>& geometry,
                           const generator::FourierInterpolant& transform) {
  const std::int64_t complex = 2 * real_bytes(problem_.precision);
  has_phases_ = std::any_of(geometry.begin(), geometry.end(), [](const auto& g) { return g.target_centre != 0; });
  m_ = points.m, k_ = points.k;
  scaling_made_ = {};
  GpuProgram phases, factors;
  if (has_phases_) {
    runner_.reserve(kBefore, m_ * complex, "the phases", true);
    kernels_.emit_phases(phases, refs(0), slot_ref(kBefore), m_, geometry, problem_.sign);
    runner_.change(phases_, phases);
  }
  if (k_ > 0) {
    runner_.reserve(kAfter, k_ * complex, "the factors", true);
    kernels_.emit_factors(factors, refs(3), slot_ref(kAfter), k_, geometry, problem_.sign, transform);
    if (!std::exchange(factors_made_, true)) factors_ = runner_.make(factors);
    runner_.change(factors_, factors);
  }
  gpu::LaunchScope run(runner_.queue(), stream_);
  open(points);
  if (has_phases_ && m_ > 0) {
    runner_.bind(phases_, true);
    runner_.launch(phases_, nullptr, nullptr);
  }
  if (k_ > 0) {
    runner_.bind(factors_, true);
    runner_.launch(factors_, nullptr, nullptr);
  }
  run.complete();
}

void GpuType3Factors::scale(void* from, void* to, bool of_sources, bool conjugate) {
  const std::int64_t count = of_sources ? m_ : k_, bytes = count * 2 * real_bytes(problem_.precision);
  if (count == 0) return;
  const std::size_t which = (of_sources ? 0U : 2U) + (conjugate ? 1U : 0U);
  if (!std::exchange(scaling_made_[which], true)) {
    GpuProgram program;
    kernels_.emit_scale(program, gpu::kFirst, slot_ref(of_sources ? kBefore : kAfter), gpu::kSecond, count, 1,
                        conjugate, of_sources ? "prephase" : "deconvolve");
    runner_.change(scaling_[which], program);
  }
  gpu::LaunchScope run(runner_.queue(), stream_);
  std::byte* const in = runner_.queue().open(from, bytes, from == to ? Access::both : Access::in, "values");
  std::byte* const out = from == to ? in : runner_.queue().open(to, bytes, Access::out, "values");
  runner_.launch(scaling_[which], in, out);
  run.complete();
}

void GpuType3Factors::clear(void* values, std::int64_t count) {
  const std::int64_t bytes = count * 2 * real_bytes(problem_.precision);
  if (bytes == 0) return;
  GpuProgram program;
  kernels_.emit_fill(program, gpu::kFirst, bytes / 8, 0, "interpolate");
  runner_.change(clearing_, program);
  gpu::LaunchScope run(runner_.queue(), stream_);
  runner_.launch(clearing_, runner_.queue().open(values, bytes, Access::out, "values"), nullptr);
  run.complete();
}

}  // namespace fourtune::runtime::distributed
