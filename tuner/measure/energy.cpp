#include "tuner/measure/energy.h"

#include <algorithm>
#include <cmath>

namespace fourtune::tuner {
namespace {

// Executes in batches, each of which has ended when the next one starts.
class Batches {
 public:
  Batches(const Workload& work, double execute_seconds, const EnergyOptions& options, const Clock& clock)
      : work_(work), clock_(clock) {
    const double wanted = options.batch_seconds / std::max(execute_seconds, 1e-9);
    size_ = std::clamp(static_cast<int>(std::min(wanted, 1e6)), 1, std::max(1, work.most_loops));
  }
  void run() {
    if (work_.refresh) work_.refresh();
    if (work_.timed)
      work_.timed(size_);  // waits for the device
    else
      work_.run(size_);
    executes_ += size_;
  }
  double now() const { return static_cast<double>(clock_()) * 1e-9; }
  std::int64_t executes() const { return executes_; }

 private:
  const Workload& work_;
  const Clock& clock_;
  int size_ = 1;
  std::int64_t executes_ = 0;
};

// Works until the counter has moved, and at least until `least`; the counter's value then, or nothing after `latest`.
std::optional<double> next_step(Batches& batches, runtime::DeviceSensors& sensors, double from, double least,
                                double latest) {
  while (true) {
    batches.run();
    const double now = batches.now();
    const std::optional<double> value = sensors.joules();
    if (!value) return std::nullopt;
    if (*value != from) {
      if (now >= least) return value;
      from = *value;  // a step, but too early
    }
    if (now >= latest) return std::nullopt;
  }
}

std::optional<double> by_counter(Batches& batches, runtime::DeviceSensors& sensors, double before,
                                 const EnergyOptions& options) {
  const double begin = batches.now();
  const auto first = next_step(batches, sensors, before, begin, begin + options.patience);
  if (!first) return std::nullopt;
  const std::int64_t counted_before = batches.executes();
  const double start = batches.now() + options.seconds;
  const auto last = next_step(batches, sensors, *first, start, start + options.patience);
  if (!last || *last <= *first) return std::nullopt;
  return (*last - *first) / static_cast<double>(batches.executes() - counted_before);
}

std::optional<double> by_power(Batches& batches, runtime::DeviceSensors& sensors, const EnergyOptions& options) {
  const double settled = batches.now() + options.power_settles;
  while (batches.now() < settled) batches.run();
  const double start = batches.now();
  const std::int64_t counted_before = batches.executes();
  double watts = 0;
  int readings = 0;
  while (readings == 0 || batches.now() < start + options.seconds) {
    batches.run();
    const auto reading = sensors.read().watts;
    if (!reading) return std::nullopt;
    watts += *reading, ++readings;
  }
  return watts / readings * (batches.now() - start) / static_cast<double>(batches.executes() - counted_before);
}

}  // namespace

std::optional<double> joules_of_execute(const Workload& work, double execute_seconds, runtime::DeviceSensors& sensors,
                                        const EnergyOptions& options, const Clock& clock) {
  Batches batches(work, execute_seconds, options, clock);
  const auto before = sensors.joules();
  return before ? by_counter(batches, sensors, *before, options) : by_power(batches, sensors, options);
}

}  // namespace fourtune::tuner
