#include "generator/planner/gpu_fft/fft_costs.h"

namespace fourtune::generator::fft {
namespace {

// On an H200, by hand (docs/design/fft-plans.md).
constexpr FftCosts measured_by_hand{};

}  // namespace

const FftCosts& fft_costs(const DeviceTraits&) { return measured_by_hand; }

}  // namespace fourtune::generator::fft
