// The CUDA backend: generated kernels and cuFFT on NVIDIA GPUs.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "db/kernel_store.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/gpu/program_backend.h"

namespace fourtune::runtime::cuda {

// Arrays passed to its executors are device pointers of the device selected by the options.
class CudaBackend final : public gpu::ProgramBackend {
 public:
  // store: the database that keeps compiled kernels; empty means the user's database.
  explicit CudaBackend(gpu::ProgramSource programs, std::filesystem::path store = {});
  std::string_view name() const override { return "cuda"; }
  Capabilities capabilities() const override;
  // Looks for a driver and a GPU. Cheap after the first call.
  std::string why_not_available() const override;
  std::string driver_version() const override;
  std::optional<Software> software() const override;
  int device_count() const override;
  std::unique_ptr<Backend> with_programs(gpu::ProgramSource programs) const override;
  std::unique_ptr<gpu::Queue> queue(int device) const override;
  // Throws Error{invalid_plan} when the plan is for another backend, Error{invalid_option} when there is no such
  // device.
  std::unique_ptr<Executor> bind(const Problem& problem, const generator::Plan& plan,
                                 const ExecutorOptions& options) const override;
  void prepare(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options) const override;
  // The same for a device that need not be in this machine, as a compiler needs neither device nor context; and what
  // the device would run may be compiled to something else.
  void prepare_for(const DeviceTraits& traits, KernelTarget target, const Problem& problem, const generator::Plan& plan,
                   const ExecutorOptions& options) const;
  std::vector<KernelJob> missing_kernels(const Problem& problem, const generator::Plan& plan,
                                         const ExecutorOptions& options) const override;
  KernelImage compile_kernel(const KernelJob& job, double seconds) const override;
  void keep_kernel(const KernelJob& job, KernelImage&& image) const override;
  void flush_kernels() const override;
  std::unique_ptr<ArrayMemory> memory(int device) const override;
  std::unique_ptr<StreamTimer> timer(int device) const override;
  std::unique_ptr<DeviceSensors> sensors(int ordinal) const override;
  std::unique_ptr<DeviceStreams> streams(int device) const override;
  void connect(std::span<const int> devices) const override;
  std::shared_ptr<void> make_current(int device) const override;

  // The device with a context, which is kept until the backend ends: creating one takes a good part of a second.
  std::shared_ptr<const Device> device(int ordinal) const;

 protected:
  DeviceTraits traits_of(int ordinal) const override;

 private:
  std::vector<generator::KernelSource> kernels_of(const DeviceTraits& traits, const Problem& problem,
                                                  const generator::Plan& plan, const ExecutorOptions& options) const;

  gpu::ProgramSource programs_;
  mutable db::KernelStore store_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::shared_ptr<const Device>> devices_;  // devices used so far
  mutable std::map<int, DeviceTraits> traits_;                    // traits requested so far
};

}  // namespace fourtune::runtime::cuda
