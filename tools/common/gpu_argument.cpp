#include "tools/common/gpu_argument.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "base/calibration.h"
#include "base/known_devices.h"
#include "base/text.h"
#include "generator/plan/plan.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"

namespace fourtune::tools {
namespace {

bool names_known_gpu(const std::string& device) {
  const auto& names = generator::known_device_names();
  return std::find(names.begin(), names.end(), device) != names.end();
}

bool names_file(const std::string& device) { return device.ends_with(".json"); }

std::string why_no_device(const std::string& argument) {
  const auto number = text::number<int>(argument);
  if (names_absent_device(argument) || (number && *number >= 0)) return {};
  return fmt::format(
      "'{}' is neither the number of a GPU of this machine, from 0, nor one of {}, nor a file FILE.json of `fourtune "
      "calibrate`",
      argument, fmt::join(generator::known_device_names(), ", "));
}

}  // namespace

CLI::Option* add_gpu_option(CLI::App& command, std::string& gpu, const std::string& purpose) {
  return command
      .add_option("--device", gpu,
                  purpose +
                      ": by number one of this machine; by name, or by the file of its calibration, one that "
                      "need not be here")
      ->check(CLI::Validator(why_no_device, ""))
      ->type_name(fmt::format("N|{{{}}}|FILE.json", fmt::join(generator::known_device_names(), ",")));
}

bool names_absent_device(const std::string& device) { return names_known_gpu(device) || names_file(device); }

int gpu_number(const std::string& gpu) { return text::number<int>(gpu).value_or(0); }

Calibration absent_device(const std::string& device) {
  if (names_file(device)) return load_calibration(device);
  Calibration sheet;
  sheet.traits = *generator::known_device(device);
  sheet.date = generator::known_device_date(device);
  return sheet;
}

DeviceTraits gpu_traits(const std::string& gpu) {
  if (!names_absent_device(gpu)) return bench_backend("cuda").traits(gpu_number(gpu));
  const DeviceTraits traits = absent_device(gpu).traits;
  if (!generator::is_gpu(traits.backend))
    throw UsageError(fmt::format("--device {}: this is the calibration of a processor, {}", text::shown(gpu),
                                 text::shown(traits.name)),
                     "these plans are of GPUs; `fourtune explain` takes processors too");
  return traits;
}

}  // namespace fourtune::tools
