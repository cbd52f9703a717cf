// Prices are fitted to drawn transforms (`fourtune soak --list --fft`), each with all families on one and two threads:
// least absolute logarithms of the ratios, and what the choice loses (tools/fit, docs/design/cpu-choices.md).
//
// Xeon with AVX-512 and Debian's FFTW: 590 problems (seed 19010: 260 of at most 3 MB, seed 19012: 330 of at most 2 MB).
// Values that threads exchange are of 160 problems on two threads of another such Xeon (seed 20262602). Family along is
// of 87 lines (seed 20261804: 320 problems of at most 2 MB) on one thread of an AMD EPYC with AVX-512. What a step
// costs, memory, FFTW's short lines in several dimensions and convolved long lines are of 420 problems on two idle
// cores of a third Xeon (seeds 20264610: 260 of at most 6 MB, 20264611: 160 of at most 40 MB). In a loop of executes a
// step costs 0.4 us there, and `fourtune calibrate` measures 1.15. Memory for our lines, and what FFTW's threads
// exchange in f64, are of 260 problems of at most 60 MB (seed 20264870) on pairs of cores of a fourth one.
// EPYC (Zen 4) with AVX-512 and Debian's FFTW: f64 of 530 problems on an idle machine (seed 20264382: 330 of at most 2
// MB, seed 20264383: 200 of at most 12 MB), f32 of 500 (seed 20264543: 300 of at most 2 MB, seed 20264544: 200 of at
// most 20 MB). Moves of our lines of f64 are of 190 problems on such a machine since their levels move values
// themselves (seeds 20264742: 130 of at most 3 MB, 20264743: 60 of at most 12 MB). There a step costs 0.4 us in a loop
// of executes; the price is what `fourtune calibrate` measures, so that batches of 2 us do not depend on how busy the
// machine is. Values that threads exchange cost 0.13 and 0.16 ns in those runs and 1 to 3 ns in others of the same
// virtual machine, whose cores are not always neighbours. Their price, and that of memory in f32 for FFTW, are of 259
// problems (seeds 20264873, of at most 12 MB, and 20264874, of at most 20 MB) and 23 that had been slow before, in runs
// of both kinds.
#include <string_view>

#include "generator/planner/cpu/fft_times.h"
#include "generator/planner/reference_rates.h"

namespace fourtune::generator {
namespace {

constexpr FftPrices kXeon32{{0.237, 0.0634, 0.0668, 0.0502, 0.024, 0.209, 66.5, 28.2, 0.494, 0.0668, 0.35, 0.4, 9},
                            {0.087, 0.144, 0.17, 0.189, 0.96, 0.119, 44.5, 1.18, 3.33, 1.27, 73.5, 0, 1.25, 0.7},
                            {0.126, 0.322, 0.01, 0.0957, 0.4, 4, 32, 0.2},
                            {800, 1.1},
                            &reference_processor};
constexpr FftPrices kXeon64{{0.885, 0.352, 0.0915, 0.0945, 0.105, 0.359, 14.9, 21.1, 1.22, 0.146, 0.45, 0.8, 7},
                            {0.181, 0.074, 0.0578, 0.218, 0.84, 0.96, 41.1, 0.0183, 4.78, 0.802, 71.8, 1.8, 1.25, 0.7},
                            {0.0726, 0.54, 0.02, 0.239, 0.632, 2.5, 60, 0.4},
                            {800, 1.1},
                            &reference_processor};

constexpr FftPrices kEpyc32{{0.573, 0.38, 0.063, 0.0433, 0.0246, 0.168, 12.4, 34.6, 1.15, 0.073, 0.6, 0, 4.5},
                            {0.101, 0.0924, 0.0466, 0.207, 0.353, 0.2, 36.7, 0.583, 2.45, 1.38, 69.3, 0.525, 1.2, 1},
                            {0.0336, 0.357, 0.01, 0.136, 0.0527, 2.65, 41.7, 0},
                            {830, 1.1},
                            &reference_epyc};
constexpr FftPrices kEpyc64{{0.622, 0.413, 0.0915, 0.0971, 0.102, 0.592, 0.756, 37.4, 1.22, 0.146, 0.6, 0, 4.5},
                            {0.181, 0.0785, 0.0213, 0.2, 0.364, 0.0155, 27.2, 0.00174, 4.78, 1.09, 55.1, 0.137, 1.2, 1},
                            {0.0525, 0.517, 0.02, 0.145, 0.137, 0.125, 63.6, 0},
                            {830, 1.1},
                            &reference_epyc};

}  // namespace

const FftPrices& fft_prices(const DeviceTraits& traits, Precision precision) {
  const bool f32 = precision == Precision::f32;
  if (std::string_view(traits.name).find("AMD") != std::string_view::npos) return f32 ? kEpyc32 : kEpyc64;
  return f32 ? kXeon32 : kXeon64;
}

}  // namespace fourtune::generator
