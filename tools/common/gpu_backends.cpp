#include "tools/common/gpu_backends.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "tools/common/calibration.h"

namespace fourtune::tools {
namespace {

constexpr int kMostDevices = 1 << 16;

std::string why_no_number(const std::string& argument) {
  const auto number = text::number<int>(argument);
  if (number && *number >= 0 && *number < kMostDevices) return {};
  return fmt::format("'{}' is no device's number; the first one is 0 (explain, plan and emit take names of GPUs too)",
                     argument);
}

// A test may have registered one of this name.
void add_emulated_backend() {
  static const runtime::emulated::EmulatedBackend emulated(runtime::gpu::generated_programs());
  static const bool added = [] {
    if (!runtime::known_backend(emulated.name())) runtime::add_backend(emulated);
    return true;
  }();
  (void)added;
}

}  // namespace

std::vector<const runtime::Backend*> command_backends() {
  add_emulated_backend();
  return runtime::backends();
}

const runtime::Backend* known_backend(const std::string& name) {
  add_emulated_backend();
  return runtime::known_backend(name);
}

runtime::Capabilities capabilities_of(const std::string& name) {
  const runtime::Backend* backend = known_backend(name);
  return backend ? backend->capabilities() : runtime::Capabilities{};
}

const runtime::Backend& bench_backend(const std::string& name) {
  add_emulated_backend();
  return runtime::find_backend(name);
}

const runtime::Backend& checked_backend(const std::string& name, int device) {
  const runtime::Backend& backend = bench_backend(name);
  warn_of_calibration(backend.traits(device));
  return backend;
}

void add_backend_option(CLI::App& command, std::string& backend, const std::string& otherwise) {
  command
      .add_option("--backend", backend,
                  fmt::format("Where to run (default: {}); emulated runs GPU kernels on the processor, to test them",
                              otherwise))
      ->type_name("{cpu,cuda,emulated}");
}

void add_device_option(CLI::App& command, int& device) {
  command
      .add_option("--device", device,
                  "Number of the backend's device in this machine, from 0 (default); `fourtune doctor` lists GPUs")
      ->check(CLI::Validator(why_no_number, ""))
      ->type_name("N");
}

}  // namespace fourtune::tools
