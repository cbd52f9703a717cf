#include "tools/common/gpu_argument.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/known_devices.h"
#include "base/text.h"
#include "tools/common/gpu_backends.h"

namespace fourtune::tools {
namespace {

std::string why_no_gpu(const std::string& argument) {
  const auto number = text::number<int>(argument);
  if (names_known_gpu(argument) || (number && *number >= 0)) return {};
  return fmt::format("'{}' is neither the number of a GPU of this machine, from 0, nor one of {}", argument,
                     fmt::join(generator::known_device_names(), ", "));
}

}  // namespace

CLI::Option* add_gpu_option(CLI::App& command, std::string& gpu, const std::string& purpose) {
  return command
      .add_option("--device", gpu, purpose + ": by number one of this machine, by name one that need not be here")
      ->check(CLI::Validator(why_no_gpu, ""))
      ->type_name(fmt::format("N|{{{}}}", fmt::join(generator::known_device_names(), ",")));
}

bool names_known_gpu(const std::string& gpu) {
  const auto& names = generator::known_device_names();
  return std::find(names.begin(), names.end(), gpu) != names.end();
}

int gpu_number(const std::string& gpu) { return text::number<int>(gpu).value_or(0); }

DeviceTraits gpu_traits(const std::string& gpu) {
  if (const auto known = generator::known_device(gpu)) return *known;
  return bench_backend("cuda").traits(gpu_number(gpu));
}

}  // namespace fourtune::tools
