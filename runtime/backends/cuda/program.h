// Runs GpuPrograms on a GPU: kernels from the kernel store or NVRTC, workspaces and tables on the device, launches on
// the caller's stream.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/codegen/kernel_source.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/cuda/kernel_shelf.h"
#include "runtime/backends/cuda/launch_list.h"
#include "runtime/backends/cuda/stream_order.h"
#include "runtime/backends/gpu/gpu_executor.h"
#include "runtime/backends/gpu/launch_arguments.h"

namespace fourtune::runtime::cuda {

// Loads all kernels. Those missing in the store are compiled on up to `threads` threads, slowest first, stored, and
// loaded by the thread that compiled them. If the store has them all, NVRTC is not even searched for. Where there is no
// NVRTC, the driver translates PTX of trusted packs; without that, throws NoCompiler. Throws CompileError with the
// compiler's messages when a text does not compile or takes longer than `seconds`, and whatever Kernel throws.
std::vector<LoadedKernel> load_kernels(const std::shared_ptr<const Device>& device,
                                       std::span<const generator::KernelSource> sources, const KernelShelf& shelf,
                                       int threads, double seconds, std::vector<KernelReport>& reports);

// Compiles the kernels that are not on the shelf, one after the other on this thread, and keeps them. Throws as
// load_kernels does.
void compile_kernels(std::span<const generator::KernelSource> sources, KernelTarget target, const KernelShelf& shelf,
                     double seconds);

// The same in pieces (Backend::missing_kernels): the kernels that are not on the shelf, each once; compiling one, which
// throws CompileError; and keeping it. Kept kernels are written a few dozen at a time, and by the store's flush().
std::vector<KernelJob> list_missing(std::span<const generator::KernelSource> sources, KernelTarget target,
                                    const KernelShelf& shelf);
KernelImage compile_job(const KernelJob& job, double seconds);
void keep_job(const KernelJob& job, KernelImage image, const KernelShelf& shelf);

class CudaProgram final : public gpu::GpuTransform {
 public:
  CudaProgram(std::shared_ptr<const Device> device, generator::GpuProgram program, const KernelShelf& shelf,
              bool time_stages, double compile_seconds = 120);
  void run(void* in, void* out, void* stream) override;
  std::int64_t bytes() const override { return bytes_; }
  std::array<int, 2> alignment() const override { return program_.alignment; }
  std::vector<StageTime> stage_times() override;
  std::vector<LaunchTime> launch_times() override;
  std::vector<KernelReport> kernels() const override { return reports_; }

 private:
  std::shared_ptr<const Device> device_;
  generator::GpuProgram program_;
  std::vector<KernelReport> reports_;
  std::vector<LoadedKernel> kernels_;
  std::vector<DeviceMemory> workspace_, constants_;
  std::vector<gpu::LaunchArguments> arguments_;
  LaunchList launches_;
  std::optional<StreamOrder> order_;  // where there is work memory
  std::int64_t bytes_ = 0;
  bool time_stages_ = false;
  std::vector<Event> marks_;  // before each launch and after the last one
  bool ran_ = false;
};

// Throws Error{invalid_argument} for a pointer that the GPU cannot use: host memory, or another GPU's memory to which
// this one has no access. The device's context must be current.
void check_device_pointer(const Device& device, const void* pointer);

}  // namespace fourtune::runtime::cuda
