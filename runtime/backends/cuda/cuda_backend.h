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

// True when there is a driver and a GPU. Cheap after the first call.
bool available();
std::string why_not_available();

// Arrays passed to its executors are device pointers of the device selected by the options.
class CudaBackend final : public Backend {
 public:
  // store: the database that keeps compiled kernels; empty means the user's database.
  explicit CudaBackend(gpu::ProgramSource programs, std::filesystem::path store = {});
  std::string_view name() const override { return "cuda"; }
  int device_count() const override;
  // Throws Error{invalid_plan} when the plan is for another backend, Error{invalid_option} when there is no such
  // device.
  std::unique_ptr<Executor> bind(const Problem& problem, const generator::Plan& plan,
                                 const ExecutorOptions& options) const override;
  void prepare(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options) const override;
  std::unique_ptr<ArrayMemory> memory(int device) const override;
  std::unique_ptr<StreamTimer> timer(int device) const override;

  // The device with a context, which is kept until the backend ends: creating one takes a good part of a second.
  std::shared_ptr<const Device> device(int ordinal) const;

 protected:
  DeviceTraits traits_of(int ordinal) const override;

 private:
  gpu::ProgramSource programs_;
  mutable db::KernelStore store_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::shared_ptr<const Device>> devices_;  // devices used so far
  mutable std::map<int, DeviceTraits> traits_;                    // traits requested so far
};

}  // namespace fourtune::runtime::cuda
