// The findings of `fourtune doctor` on GPUs and their emulation.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/backends/cuda/cufft_api.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/cuda/nvml_api.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/backends/emulated/module.h"
#include "tools/cli/machine.h"
#include "tools/common/text.h"

namespace fourtune::tools {
namespace {

namespace cuda = runtime::cuda;

// Opens the GPU and does not only query it: a GPU without a usable context (compute mode, broken hardware) runs
// nothing. The context is released at once.
std::vector<Finding> look_at(int ordinal, std::vector<int>& targets) {
  const std::string name = fmt::format("GPU {}", ordinal);
  try {
    const DeviceTraits traits = cuda::Device::open(ordinal)->traits();
    targets.push_back(traits.compute_capability);
    return {{name,
             State::ok,
             fmt::format("{}, {}, {} multiprocessors, {}, {:.2f} TB/s", traits.name, traits.isa, traits.multiprocessors,
                         bytes_text(traits.memory_bytes), traits.memory_bandwidth / 1e12),
             {}},
            look_at_calibration(name + " rates", traits)};
  } catch (const Error& error) {
    return {{name, State::missing, error.what(), "nothing runs on this GPU"}};
  }
}

// "1980 of 2040 MHz"; nothing where the device does not tell what it has now.
template <class Value>
void add_value(std::string& words, const char* name, std::optional<Value> now, std::optional<Value> most,
               const char* unit) {
  if (!now) return;
  words += fmt::format("{}{}{:.4g}", words.empty() ? "" : ", ", name, static_cast<double>(*now));
  if (most) words += fmt::format(" of {:.4g}", static_cast<double>(*most));
  words += fmt::format(" {}", unit);
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// The state's values, and under max_* the device's greatest ones.
std::string values_of(const runtime::DeviceState& state, const runtime::DeviceMaxima& most) {
  std::string values = runtime::state_text(state);
  if (values.empty()) return values;
  values.pop_back();
  const auto add = [&](const char* name, const auto& value) {
    if (value) values += fmt::format(R"(,"{}":{})", name, *value);
  };
  add("max_clock_mhz", most.clock_mhz);
  add("max_memory_clock_mhz", most.memory_clock_mhz);
  add("max_watts", most.watts);
  return values + "}";
}

// What the GPU says of its clocks now. They are low while it is idle, which is no fault.
Finding look_at_sensors(int ordinal) {
  Finding finding{fmt::format("GPU {} clocks", ordinal), State::ok, {}, {}};
  try {
    const auto sensors = cuda::nvml_sensors(ordinal);
    const runtime::DeviceState state = sensors->read();
    const runtime::DeviceMaxima most = sensors->maxima();
    finding.values = values_of(state, most);
    std::string& words = finding.found;
    add_value(words, "", state.clock_mhz, most.clock_mhz, "MHz");
    add_value(words, "memory ", state.memory_clock_mhz, most.memory_clock_mhz, "MHz");
    add_value(words, "", state.watts, most.watts, "W");
    add_value(words, "", state.celsius, std::optional<int>(), "C");
    if (words.empty())
      words = "NVML tells nothing of this GPU";
    else
      words += state.limits.empty() ? ", nothing holds them down" : ", held down by " + joined(state.limits);
    if (state.slowed()) {
      finding.state = State::note;
      finding.cost =
          "everything is slower than it will be once that is over; `fourtune tune` measures such times again";
    }
  } catch (const Error& error) {
    finding.state = State::note;
    finding.found = error.what();
  }
  return finding;
}

// One line for all GPUs where there is no NVML.
std::vector<Finding> sensors_of(const std::vector<int>& ordinals) {
  if (ordinals.empty()) return {};
  if (const std::string why = cuda::why_no_nvml(); !why.empty())
    return {{"NVML", State::note, why,
             "clocks, power and temperature are not known: times at clocks that heat holds down count like others, and "
             "`fourtune tune --objective energy` is refused"}};
  std::vector<Finding> findings;
  for (const int ordinal : ordinals) findings.push_back(look_at_sensors(ordinal));
  return findings;
}

std::vector<Finding> driver_and_devices(std::optional<int> gpu, std::vector<int>& targets) {
  if (const std::string why = cuda::why_no_driver(); !why.empty())
    return {{"CUDA driver", State::missing, why, "no GPU: transforms run on the processor"}};
  std::vector<Finding> findings;
  const int version = cuda::driver().version;
  findings.push_back({"CUDA driver",
                      State::ok,
                      fmt::format("{}, CUDA {}.{}", cuda::driver().path, version / 1000, version % 1000 / 10),
                      {}});
  std::vector<int> usable;
  for (int i = 0; i < cuda::device_count(); ++i)
    if (gpu.value_or(i) == i) {
      std::vector<Finding> seen = look_at(i, targets);
      if (seen.front().state == State::ok) usable.push_back(i);
      std::move(seen.begin(), seen.end(), std::back_inserter(findings));
    }
  for (Finding& finding : sensors_of(usable)) findings.push_back(std::move(finding));
  return findings;
}

Finding compiler(const std::vector<int>& targets) {
  if (const std::string why = cuda::why_no_nvrtc(); !why.empty())
    return {"CUDA compiler", State::missing, why, "generated kernels cannot be compiled, so GPUs have cuFFT only"};
  const cuda::NvrtcApi& api = cuda::nvrtc();
  Finding finding{"CUDA compiler",
                  State::ok,
                  fmt::format("{}, version {}.{}, sm_{} to sm_{}", api.path, api.major, api.minor,
                              api.architectures.front(), api.architectures.back()),
                  {}};
  for (const int target : targets)
    if (std::find(api.architectures.begin(), api.architectures.end(), target) == api.architectures.end()) {
      finding.state = State::note;
      finding.cost = fmt::format(
          "it does not compile for this machine's sm_{}: install the NVRTC of a CUDA version that "
          "does",
          target);
    }
  return finding;
}

Finding library() {
  if (const std::string why = cuda::why_no_cufft(); !why.empty())
    return {"cuFFT", State::missing, why, "on GPUs tuning has no library to fall back to"};
  const int version = cuda::cufft().version;
  return {"cuFFT",
          State::ok,
          fmt::format("{}, version {}.{}.{}", cuda::cufft().path, version / 1000, version % 1000 / 100, version % 100),
          {}};
}

}  // namespace

std::vector<Finding> examine_gpu(std::optional<int> gpu) {
  std::vector<int> targets;
  std::vector<Finding> findings = driver_and_devices(gpu, targets);
  findings.push_back(compiler(targets));
  findings.push_back(library());
  return findings;
}

std::vector<Finding> examine_emulation() {
  try {
    const std::string version = runtime::emulated::compiler_version();
    if (!version.empty())
      return {{"GPU emulation",
               State::ok,
               fmt::format("{}, kernels kept in {}", version, runtime::emulated::cache_folder().string()),
               {}}};
  } catch (const Error& error) {
    return {{"GPU emulation", State::missing, error.what(), "GPU kernels cannot be tested on the processor"}};
  }
  return {{"GPU emulation", State::missing, "no C++ compiler can be started",
           "GPU kernels cannot be tested on the processor; install g++ or set FOURTUNE_EMULATED_CXX"}};
}

}  // namespace fourtune::tools
