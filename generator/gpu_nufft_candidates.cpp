// Plans of nonuniform transforms on GPU backends.
#include "generator/gpu_candidates.h"

namespace fourtune::generator {
namespace {

[[noreturn]] void none() {
  throw Error(Status::unsupported, "nonuniform transforms have no plans on GPU backends; use backend=cpu");
}

}  // namespace

Space gpu_nufft_candidates(const Problem&, const DeviceTraits&) { none(); }
Plan gpu_nufft_default_plan(const Problem&, const DeviceTraits&) { none(); }
Plan gpu_nufft_adapt(const Plan&, const Problem&, const DeviceTraits&) { none(); }
Cost gpu_nufft_estimate(const Plan&, const Problem&, const DeviceTraits&) { none(); }
double gpu_nufft_floor_seconds(const Plan&, const Problem&, const DeviceTraits&) { none(); }

}  // namespace fourtune::generator
