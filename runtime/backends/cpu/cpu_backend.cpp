#include "runtime/backends/cpu/cpu_backend.h"

#include "base/calibration.h"
#include "runtime/backends/cpu/fft/fft.h"
#include "runtime/backends/cpu/fft/library.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/nufft/nufft_executor.h"
#include "runtime/backends/distinct_points.h"
#include "runtime/backends/families.h"

namespace fourtune::runtime::cpu {

std::optional<Software> CpuBackend::software() const { return Software{{}, {}, fft_library_version()}; }

DeviceTraits CpuBackend::traits_of(int) const {
  DeviceTraits traits = cpu_traits();
  traits.isa = kernel_isa();
  traits.rates = known_calibration(traits).rates;
  return traits;
}

std::unique_ptr<Executor> CpuBackend::bind(const Problem& problem, const generator::Plan& plan,
                                           const ExecutorOptions& options) const {
  if (plan.backend != name())
    throw Error(Status::invalid_plan, "the plan is for backend '" + plan.backend + "', not for cpu");
  require_families(plan);
  if (problem.kind == Kind::fft) return make_fft_executor(problem, plan, options);
  if (options.distinct_points && problem.batch > 1) {
    ExecutorOptions own = options;
    own.distinct_points = false;
    return make_distinct_points_executor(problem, [&](const Problem& one) { return bind(one, plan, own); });
  }
  return problem.type == 3 ? make_type3_executor(problem, plan, options) : make_type12_executor(problem, plan, options);
}

}  // namespace fourtune::runtime::cpu
