// The CUDA backend: generated kernels and cuFFT on NVIDIA GPUs.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "db/kernel_store.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/gpu/program_source.h"

namespace fourtune::runtime::cuda {

// There is a driver and a GPU. Cheap after the first call.
bool available();
std::string why_not_available();

// Arrays given to its executors are device pointers of the device chosen by the options.
class CudaBackend final : public Backend {
 public:
  // store: the database that keeps compiled kernels; empty: the user's.
  explicit CudaBackend(gpu::ProgramSource programs, std::filesystem::path store = {});
  std::string_view name() const override { return "cuda"; }
  int device_count() const override;
  // Throws Error{invalid_plan} when the plan is for another backend, Error{invalid_option} for a device that is not
  // there.
  std::unique_ptr<Executor> bind(const Problem& problem, const generator::Plan& plan,
                                 const ExecutorOptions& options) const override;
  void prepare(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options) const override;
  std::unique_ptr<ArrayMemory> memory(int device) const override;
  std::unique_ptr<StreamTimer> timer(int device) const override;

  // With a context on it, which stays until the backend ends: making one anew takes a good part of a second.
  std::shared_ptr<const Device> device(int ordinal) const;

 protected:
  DeviceTraits traits_of(int ordinal) const override;

 private:
  gpu::ProgramSource programs_;
  mutable db::KernelStore store_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::shared_ptr<const Device>> devices_;  // those that were used
  mutable std::map<int, DeviceTraits> traits_;                    // those that were asked for
};

}  // namespace fourtune::runtime::cuda
