// The findings of `fourtune doctor` on GPUs and their emulation.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/backends/cuda/cufft_api.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/cuda/driver_api.h"
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

std::vector<Finding> driver_and_devices(std::optional<int> gpu, std::vector<int>& targets) {
  if (const std::string why = cuda::why_no_driver(); !why.empty())
    return {{"CUDA driver", State::missing, why, "no GPU: transforms run on the processor"}};
  std::vector<Finding> findings;
  const int version = cuda::driver().version;
  findings.push_back({"CUDA driver",
                      State::ok,
                      fmt::format("{}, CUDA {}.{}", cuda::driver().path, version / 1000, version % 1000 / 10),
                      {}});
  for (int i = 0; i < cuda::device_count(); ++i)
    if (gpu.value_or(i) == i)
      for (Finding& finding : look_at(i, targets)) findings.push_back(std::move(finding));
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
