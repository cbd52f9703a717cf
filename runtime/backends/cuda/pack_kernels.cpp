#include "runtime/backends/cuda/pack_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <mutex>

#include "base/known_devices.h"
#include "base/text.h"
#include "db/kernel_store.h"
#include "generator/plan/plan.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/nvrtc_api.h"

namespace fourtune::runtime::cuda {
namespace {

namespace fs = std::filesystem;

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "fourtune-kernels-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw Error(Status::io, "no folder can be made in " + fs::temp_directory_path().string());
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The GPUs in this machine and those of the data sheets.
std::vector<DeviceTraits> known_gpus(const CudaBackend& backend) {
  std::vector<DeviceTraits> all;
  const int count = backend.why_not_available().empty() ? backend.device_count() : 0;
  for (int device = 0; device < count; ++device) all.push_back(backend.traits(device));
  for (const std::string& name : generator::known_device_names())
    if (const auto known = generator::known_device(name)) all.push_back(*known);
  return all;
}

// The one of this name, else the one of this target with the nearest numbers; null: none.
const DeviceTraits* find_gpu(const std::vector<DeviceTraits>& gpus, const db::Environment& measured) {
  const DeviceTraits* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const DeviceTraits& gpu : gpus) {
    if (gpu.isa != measured.isa) continue;
    if (gpu.name == measured.device) return &gpu;
    if (const double d = db::traits_distance(measured.traits, db::traits_text(gpu)); d < least)
      nearest = &gpu, least = d;
  }
  return nearest;
}

}  // namespace

CompiledForPack compile_for_pack(std::span<const db::PackPlan> plans, const std::string& target, int threads,
                                 const std::function<void(std::size_t, std::size_t)>& progress) {
  const KernelTarget wanted = parse_target(target);
  const auto& known = nvrtc().architectures;
  if (std::find(known.begin(), known.end(), wanted.compute_capability) == known.end())
    throw Error(Status::unsupported,
                fmt::format("this NVRTC does not compile for {}; it knows {}", target, fmt::join(known, ", ")));

  const ScratchFolder folder;
  const fs::path store = folder.path() / "kernels.db";
  const CudaBackend backend(gpu::generated_programs(), store);
  const std::vector<DeviceTraits> gpus = known_gpus(backend);
  std::vector<const db::PackPlan*> chosen;
  const std::string measured_on = to_text(KernelTarget(wanted.compute_capability));
  for (const db::PackPlan& plan : plans)
    if (plan.environment.backend == backend.name() && plan.environment.isa == measured_on) chosen.push_back(&plan);

  CompiledForPack made;
  std::mutex mutex;
  std::size_t done = 0;
  const std::vector<std::size_t> weights(chosen.size(), 1);
  run_longest_first(weights, threads, [&](std::size_t i) {
    const db::PackPlan& one = *chosen[i];
    std::string why;
    try {
      const DeviceTraits* device = find_gpu(gpus, one.environment);
      if (!device)
        throw Error(Status::unsupported,
                    fmt::format("the numbers of '{}' are not known here", text::shown(one.environment.device)));
      const Problem problem = parse_problem(one.verdict.problem);
      backend.prepare_for(*device, wanted, problem, generator::parse_plan(one.verdict.plan, problem), {});
    } catch (const Error& error) {
      why = error.what();
    }
    const std::lock_guard lock(mutex);
    if (!why.empty())
      made.left_out.push_back(fmt::format("{}: {}", text::shown(one.verdict.problem), text::shown(why, 1000)));
    if (progress) progress(++done, chosen.size());
  });
  std::sort(made.left_out.begin(), made.left_out.end());
  if (!chosen.empty()) made.kernels = db::KernelStore(store).all();
  return made;
}

}  // namespace fourtune::runtime::cuda
