#include "tools/cli/emit_nufft.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "generator/candidates.h"
#include "generator/plan/type3_geometry.h"
#include "runtime/backends/gpu/nufft_type12_programs.h"
#include "runtime/backends/gpu/nufft_type3_stages.h"
#include "tools/common/errors.h"

namespace fourtune::tools {
namespace {

using generator::GpuProgram;
using generator::nufft::kScratch;
using generator::nufft::kWorkspaces;
using generator::nufft::Standalone;
using runtime::gpu::Type12Programs;
using runtime::gpu::Type3Stages;
using Slots = std::vector<Standalone::Slot>;

constexpr const char* kSortNames[kWorkspaces] = {"Records", "Index",  "Tasks",   "Offsets",
                                                 "Sums",    "Status", "Scratch", "Fixed"};

void add_sort(Slots& slots, const std::string& side, const std::array<std::int64_t, kWorkspaces>& bytes, int scratch) {
  for (int i = 0; i < kWorkspaces; ++i) {
    Standalone::Slot slot{"k" + side + kSortNames[i], bytes[static_cast<std::size_t>(i)]};
    if (i == kScratch) slot.bytes = 0, slot.same_as = scratch;
    slots.push_back(slot);
  }
}

// The FFT's workspaces have the size that the largest program needs.
void hold_work(Slots& slots, int first, const GpuProgram& program) {
  for (std::size_t w = static_cast<std::size_t>(first); w < program.workspace_bytes.size(); ++w)
    slots.at(w).bytes = std::max(slots.at(w).bytes, program.workspace_bytes[w]);
}

Standalone types12(const Problem& problem, const generator::Plan& plan, const DeviceTraits& device) {
  const Type12Programs programs(problem, plan, {}, device);
  const std::int64_t m = *problem.m;
  const bool to_modes = problem.type == 1, tasks = programs.works_by_tasks(to_modes);
  const auto bytes = programs.workspace_bytes(m, programs.sort_kernels().large_bytes(m, m), tasks);
  Standalone out;
  out.plan = generator::to_text(programs.plan(), problem);
  const std::int64_t grid = std::max(programs.grid_bytes(), bytes[kScratch]);
  out.slots = {{"kX"}, {"kY"}, {"kZ"}, {"kGrid", grid}, {"kWork0"}, {"kWork1"}};
  add_sort(out.slots, "", bytes, Type12Programs::kGrid);
  out.status = Type12Programs::kSort + static_cast<int>(generator::nufft::kStatus);
  out.set_points = {{programs.sort_program(m, std::max<std::int64_t>(1, grid), tasks), problem.precision}};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t transforms = programs.chunks()[i];
    if (transforms == 0) continue;
    auto& parts = out.execute[i];
    for (const Type12Programs::Unit& unit : programs.units(to_modes, transforms)) {
      parts.push_back({programs.fft_program(to_modes, problem.sign, unit), problem.precision});
      hold_work(out.slots, Type12Programs::kWork, parts.back().program);
    }
    parts.insert(to_modes ? parts.begin() : parts.end(),
                 {programs.points_program(to_modes, m, transforms), problem.precision});
  }
  out.chunk = programs.chunk();
  out.point_values = m;
  out.results = programs.modes();
  return out;
}

// Half-widths X and S with X S = extent, S an f32 number so that it is the same in both precisions.
void set_box(Standalone& out, const Problem& problem) {
  constexpr double kHalf = 3.140625;  // just below pi, exact in f32
  const auto extent = generator::type3_extent(problem);
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d) {
    auto half = static_cast<float>(extent[d] / kHalf);
    while (static_cast<double>(half) * kHalf > extent[d]) half = std::nextafterf(half, 0.0f);
    out.low[d] = -kHalf, out.high[d] = kHalf;
    out.low[d + 3] = -static_cast<double>(half), out.high[d + 3] = static_cast<double>(half);
  }
}

Standalone type3(const Problem& problem, const generator::Plan& plan, const DeviceTraits& device) {
  using Stages = Type3Stages;
  Standalone out;
  set_box(out, problem);
  Stages stages(problem, plan, device, {});
  std::array<generator::gpu_nufft::Type3Kernels::Extent, 6> box;
  for (std::size_t i = 0; i < 6; ++i) box[i] = {out.low[i], out.high[i], ~std::uint64_t{0}};
  const std::int64_t m = *problem.m, k = *problem.k, complex = 2 * real_bytes(problem.precision);
  stages.set_points(box, m, k);
  const auto sources = stages.point_bytes(true), targets = stages.point_bytes(false);
  out.plan = generator::to_text(plan, problem);
  out.slots = {{"kX"}, {"kY"}, {"kZ"}, {"kS"}, {"kT"}, {"kU"}, {"kOuterGrid", stages.outer_bytes()}};
  out.slots.push_back({"kInnerGrid", std::max({stages.inner_bytes(), sources[kScratch], targets[kScratch]})});
  out.slots.insert(out.slots.end(), {{"kWork0"}, {"kWork1"}});
  out.slots.push_back({"kWords", 8 * generator::gpu_nufft::Type3Kernels::kWords});
  out.slots.insert(out.slots.end(), {{"kPhases", m * complex}, {"kFactors", k * complex}});
  out.slots.push_back({"kScaled", stages.scaled_bytes(false)});
  add_sort(out.slots, "Source", sources, Stages::kInner);
  add_sort(out.slots, "Target", targets, Stages::kInner);
  out.words = Stages::kWords;
  out.extents = {{stages.extents(m, k), problem.precision}};
  out.set_points = {{stages.sorts(), problem.precision}, {stages.products(), Precision::f64}};
  out.chunk = stages.chunk();
  const std::int64_t sizes[] = {out.chunk, problem.batch % out.chunk};
  for (std::size_t i = 0; i < 2; ++i) {
    if (sizes[i] == 0) continue;
    for (GpuProgram& program : stages.transform(sizes[i], false)) {
      hold_work(out.slots, Stages::kWork, program);
      out.execute[i].push_back({std::move(program), problem.precision});
    }
  }
  out.point_values = m;
  out.results = k;
  return out;
}

}  // namespace

generator::Plan untuned_nufft_plan(const Problem& problem, const DeviceTraits& device) {
  generator::Plan plan = generator::default_plan(problem, device);
  if (plan.gpu().fft.family == generator::GpuFftFamily::cufft) plan.gpu().fft = {};
  return plan;
}

Standalone standalone_nufft(const Problem& problem, const generator::Plan& plan, const DeviceTraits& device) {
  for (const auto& [count, key] : {std::pair{problem.m, "m"}, std::pair{problem.k, "k"}})
    if ((*key == 'm' || problem.type == 3) && count.value_or(0) < 1)
      throw UsageError(std::string("emit writes a transform of known numbers of points, and the token has no ") + key,
                       std::string("a token with ") + key + "=100000");
  if (plan.gpu().fft.family == generator::GpuFftFamily::cufft)
    throw UsageError("fft=cufft is the library: there is nothing to emit", "fft=plain in the plan");
  Standalone out = problem.type == 3 ? type3(problem, plan, device) : types12(problem, plan, device);
  out.problem = problem;
  return out;
}

}  // namespace fourtune::tools
