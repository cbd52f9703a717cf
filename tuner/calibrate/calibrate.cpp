#include "tuner/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <utility>

#include "fourtune/fourtune.h"
#include "runtime/backends/gpu/program_backend.h"
#include "tuner/calibrate/gpu_tests.h"
#include "tuner/calibrate/processor_tests.h"

namespace fourtune::tuner {
namespace {

// Whether the device's sensors say that heat or others hold its clocks down.
bool is_slowed(const runtime::Backend& backend, int device) try {
  const auto sensors = backend.sensors(device);
  return sensors && sensors->slowed();
} catch (const Error&) {
  return false;
}

// The same work, which ends at the next sample once it is to stop.
Workload stoppable(Workload work, const std::function<bool()>& stop) {
  const auto ask = [stop] {
    if (stop && stop())
      throw Error(Status::interrupted, "interrupted: nothing was written, and an earlier calibration stays");
  };
  if (work.timed) work.timed = [ask, timed = work.timed](int count) { return ask(), timed(count); };
  work.run = [ask, run = work.run](int count) { ask(), run(count); };
  return work;
}

}  // namespace

std::string calibration_date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

CalibrateResult measure_rates(const std::vector<RateTestMaker>& tests, const CalibrateOptions& options,
                              const Clock& clock, const Probe& probe) {
  CalibrateResult result;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const auto field = std::find_if(rate_fields.begin(), rate_fields.end(),
                                    [&](const RateField& one) { return one.value == tests[i].rate; });
    if (options.report) options.report(field->name, i + 1, tests.size());
    const double share = options.seconds / static_cast<double>(tests.size());
    RateTest test = tests[i].make();
    test.work = stoppable(std::move(test.work), options.stop);
    if (const auto rate = measure_rate(test, field->unit == "s", share, clock, probe, result.busy)) {
      result.calibration.traits.rates.*field->value = rate->value;
      result.calibration.spread.*field->value = rate->spread;
    } else {
      result.missing.emplace_back(field->name);
    }
  }
  return result;
}

CalibrateResult calibrate(const runtime::Backend& backend, int device, const CalibrateOptions& options) {
  DeviceTraits traits = backend.traits(device);
  const auto* const gpu = dynamic_cast<const runtime::gpu::ProgramBackend*>(&backend);
  if (!gpu && backend.capabilities().arrays != runtime::MemoryKind::host)
    throw Error(Status::unsupported,
                fmt::format("backend '{}' cannot be calibrated: it runs no kernels of this program", backend.name()));
  // Times of a GPU's events are not lengthened by other work of the processor. A separate backend gives the GPU back at
  // the end, also where the caller's lives on.
  const auto own = gpu ? gpu->with_programs(runtime::gpu::generated_programs()) : nullptr;
  CalibrateResult result =
      gpu ? measure_rates(gpu_tests(dynamic_cast<const runtime::gpu::ProgramBackend&>(*own), device), options,
                          wall_clock(), usage_ignored)
          : measure_rates(processor_tests(traits), options, wall_clock(), usage_probe());
  result.slowed = is_slowed(backend, device);
  traits.rates = result.calibration.traits.rates;
  result.calibration.traits = traits;
  result.calibration.date = calibration_date();
  result.calibration.program = fmt::format("fourtune {}", fourtune_version());
  return result;
}

}  // namespace fourtune::tuner
