#include "tools/common/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/known_devices.h"
#include "base/text.h"
#include "generator/plan/plan.h"
#include "tools/common/errors.h"
#include "tools/common/progress.h"
#include "tools/common/say.h"
#include "tools/common/stop_on_signal.h"
#include "tools/common/stopwatch.h"

namespace fourtune::tools {
namespace {

constexpr std::size_t kLongest = 2000;  // bytes of a note

void note_what_is_missing(const tuner::CalibrateResult& found) {
  if (!found.missing.empty())
    say("fourtune: note: {} not measured, as {}; do it again when the machine is idle\n",
        fmt::join(found.missing, ", "), found.busy.text());
  if (found.slowed) say("fourtune: note: the device held its clocks down, so its rates may be too low\n");
}

}  // namespace

std::string rate_text(double value, std::string_view unit) {
  if (unit == "s") return fmt::format("{:.3g} us", value * 1e6);
  const std::pair<double, const char*> scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [scale, letter] : scales)
    if (value >= scale) return fmt::format("{:.4g} {}{}", value / scale, letter, unit);
  return fmt::format("{:.4g} {}", value, unit);
}

std::string what_is_measured(std::string_view backend, std::string_view rate) {
  struct Row {
    std::string_view rate;
    const char *processor, *gpu;
  };
  static constexpr Row rows[] = {
      {"flops32", "multiply-adds in f32, one core", "multiply-adds in f32"},
      {"flops64", "multiply-adds in f64, one core", "multiply-adds in f64"},
      {"load", "loads from the first-level cache, one core", "loads from shared memory"},
      {"store", "stores to the first-level cache, one core", "stores to shared memory"},
      {"copy_near", "copies in the second-level cache, read plus written, one core",
       "copies in the second-level cache, read plus written"},
      {"copy_far", "copies in memory, read plus written, one core", "copies in memory, read plus written"},
      {"copy_all", "copies in memory, read plus written, all cores", ""},
      {"clock", "additions that wait for each other, one core", ""},
      {"atomics32", "", "atomic additions in f32 to separate words"},
      {"atomics64", "", "atomic additions in f64 to separate words"},
      {"launch", "all cores begin a loop and end it", "a kernel that waits for the one before it"}};
  for (const Row& row : rows)
    if (row.rate == rate) return generator::is_gpu(backend) ? row.gpu : row.processor;
  return {};
}

std::filesystem::path own_calibration_file(const DeviceTraits& traits) {
  const auto folder = calibration_folder();
  if (folder.empty())
    throw UsageError("there is no folder for calibrations: FOURTUNE_CALIBRATIONS is empty, or there is no home",
                     "name a file with -o");
  return folder / calibration_name(traits);
}

tuner::CalibrateResult calibrated(const runtime::Backend& backend, int device, double seconds,
                                  const std::filesystem::path& file, bool quiet, const std::string& title) {
  const StopOnSignal signal;
  const Stopwatch watch;
  ProgressLine line(stderr);
  tuner::CalibrateOptions options;
  options.seconds = seconds;
  options.stop = [&] { return signal.raised().load(); };
  if (!quiet)
    options.report = [&](std::string_view rate, std::size_t number, std::size_t all) {
      const double part = static_cast<double>(number - 1) / static_cast<double>(all);
      line.show(watch.seconds(), (1 - part) * seconds, fmt::format("{} [{}/{}] {}", title, number, all, rate));
    };
  tuner::CalibrateResult found;
  try {
    found = tuner::calibrate(backend, device, options);
  } catch (...) {
    line.close();
    throw;
  }
  line.close();
  note_what_is_missing(found);
  const DeviceRates& rates = found.calibration.traits.rates;
  if (std::none_of(rate_fields.begin(), rate_fields.end(),
                   [&](const RateField& field) { return rates.*field.value > 0; }))
    throw Failure("nothing could be measured: " + found.busy.text(), "do it again when the machine is idle");
  save(found.calibration, file);
  return found;
}

std::string calibration_state(const DeviceTraits& traits) {
  const KnownCalibration known = known_calibration(traits);
  if (!known.why.empty()) return known.why;
  if (!known.date.empty()) return "calibrated on " + known.date;
  const bool of_kind = generator::known_rates(traits).copy_far > 0;
  return of_kind ? "not calibrated, rates of another one of its kind" : "not calibrated";
}

void warn_of_calibration(const DeviceTraits& traits) {
  static bool said = false;
  const KnownCalibration known = known_calibration(traits);
  if (known.why.empty() || std::exchange(said, true)) return;
  say("fourtune: warning: {}; this calibration is ignored\n", text::shown(known.why, kLongest));
}

}  // namespace fourtune::tools
