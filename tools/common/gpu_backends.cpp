#include "tools/common/gpu_backends.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"

namespace fourtune::tools {
namespace {

constexpr int kMostDevices = 1 << 16;

std::string why_no_number(const std::string& argument) {
  const auto number = text::number<int>(argument);
  if (number && *number >= 0 && *number < kMostDevices) return {};
  return fmt::format("'{}' is no device's number; the first one is 0 (explain, plan and emit take names of GPUs too)",
                     argument);
}

}  // namespace

std::span<const runtime::Backend* const> command_backends() {
  static const runtime::emulated::EmulatedBackend emulated(runtime::gpu::generated_programs());
  static const bool added = [] {
    for (const runtime::Backend* one : runtime::backends())
      if (one->name() == emulated.name()) return false;  // registered by a test
    runtime::add_backend(emulated);
    return true;
  }();
  (void)added;
  return runtime::backends();
}

const runtime::Backend& bench_backend(const std::string& name) {
  // Looking for the others would start a GPU's driver without need.
  if (!name.empty() && name != "cpu") command_backends();
  return runtime::find_backend(name);
}

const runtime::Backend& checked_backend(const std::string& name, int device) {
  const runtime::Backend& backend = bench_backend(name);
  backend.check_device(device);
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
