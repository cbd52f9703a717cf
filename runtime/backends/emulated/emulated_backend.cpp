#include "runtime/backends/emulated/emulated_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "runtime/backends/emulated/counted_memory.h"
#include "runtime/backends/emulated/emulator.h"
#include "runtime/backends/emulated/late_streams.h"
#include "runtime/backends/emulated/nufft_queue.h"
#include "runtime/backends/emulated/shared_memory.h"
#include "runtime/backends/gpu/gpu_executor.h"
#include "runtime/backends/gpu/nufft_executor.h"

namespace fourtune::runtime::emulated {
namespace {

class EmulatedTransform final : public gpu::GpuTransform {
 public:
  EmulatedTransform(const Problem& problem, generator::GpuProgram program, const RunOptions& options)
      : options_(options), in_bytes_(gpu::input_bytes(problem)), out_bytes_(gpu::output_bytes(problem)) {
    program_ = std::make_unique<Program>(std::move(program), CompileOptions{options.instrumented, options.undefined});
  }

  void run(void* in, void* out, void*) override {
    const auto start = std::chrono::steady_clock::now();
    const std::span first(static_cast<std::byte*>(in), in == out ? std::max(in_bytes_, out_bytes_) : in_bytes_);
    const std::span second(static_cast<std::byte*>(out), in == out ? first.size() : out_bytes_);
    program_->run(first, second, options_);
    ++options_.seed;
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::int64_t bytes() const override {
    std::int64_t bytes = 0;
    for (const std::int64_t each : program_->program().workspace_bytes) bytes += each;
    for (const auto& table : program_->program().constants) bytes += static_cast<std::int64_t>(table.size());
    return bytes;
  }
  std::array<int, 2> alignment() const override { return program_->program().alignment; }
  std::vector<StageTime> stage_times() override { return {{"fft", seconds_}}; }
  // The emulator measures only the total time; every launch gets a share in proportion to its bytes.
  std::vector<LaunchTime> launch_times() override {
    double all = 0;
    for (const generator::Launch& launch : program_->program().launches) all += static_cast<double>(launch.bytes);
    std::vector<LaunchTime> times;
    for (const generator::Launch& launch : program_->program().launches)
      times.push_back({launch.stage, program_->program().kernels[static_cast<std::size_t>(launch.kernel)].entry,
                       all > 0 ? seconds_ * static_cast<double>(launch.bytes) / all : 0, launch.bytes, launch.flops});
    return times;
  }

 private:
  RunOptions options_;
  std::size_t in_bytes_, out_bytes_;
  std::unique_ptr<Program> program_;
  double seconds_ = 0;
};

}  // namespace

DeviceTraits emulated_traits() {
  DeviceTraits traits = cpu_traits();
  traits.backend = "emulated";
  traits.name = "emulated GPU";
  traits.isa = "sm_90";
  traits.l1_bytes = 0;
  traits.l2_bytes = 4 << 20;
  traits.l3_bytes = 0;
  traits.compute_capability = 90;
  traits.multiprocessors = 4;
  traits.threads_per_multiprocessor = 2048;
  traits.registers_per_multiprocessor = 65536;
  traits.shared_per_multiprocessor = 228 * 1024;
  traits.shared_per_block = 227 * 1024;
  traits.cluster_blocks = 8;
  traits.clock_hz = 1e9;
  traits.memory_bandwidth = 1e11;
  return traits;
}

EmulatedBackend::EmulatedBackend(gpu::ProgramSource programs, const RunOptions& options)
    : programs_(std::move(programs)), options_(options) {}

Capabilities EmulatedBackend::capabilities() const {
  Capabilities can;
  can.streams = true;  // takes any; its work is done when a call returns
  can.arrays = MemoryKind::aligned;
  can.modest_megabytes = 1;  // the processor runs every thread of a kernel
  return can;
}

int EmulatedBackend::device_count() const {
  constexpr int kMost = 64;
  const char* const wanted = std::getenv("FOURTUNE_EMULATED_DEVICES");
  if (!wanted || !*wanted) return 1;
  const int count = text::number<int>(wanted).value_or(0);
  if (count < 1 || count > kMost)
    throw Error(Status::invalid_argument, fmt::format("FOURTUNE_EMULATED_DEVICES is '{}'; there can be 1 to {}",
                                                      text::shown(wanted, 100), kMost));
  return count;
}

std::unique_ptr<Backend> EmulatedBackend::with_programs(gpu::ProgramSource programs) const {
  return std::make_unique<EmulatedBackend>(std::move(programs), options_);
}

std::unique_ptr<gpu::Queue> EmulatedBackend::queue(int) const { return make_queue(options_); }

std::unique_ptr<ArrayMemory> EmulatedBackend::memory(int device) const {
  check_device(device);
  return counted(shared_memory());
}

std::unique_ptr<DeviceStreams> EmulatedBackend::streams(int device) const { return late_streams(device); }

std::unique_ptr<Executor> EmulatedBackend::bind(const Problem& problem, const generator::Plan& plan,
                                                const ExecutorOptions& options) const {
  if (plan.backend != name())
    throw Error(Status::invalid_plan, "the plan is for backend '" + plan.backend + "', not for emulated");
  if (problem.kind == Kind::nufft) return gpu::make_gpu_nufft_executor(problem, plan, options, make_queue(options_));
  return gpu::make_gpu_fft_executor(
      problem, plan, options, [this, plan](const Problem& bound, bool weighted) -> std::unique_ptr<gpu::GpuTransform> {
        auto program = weighted ? generator::gpu_fft_adjoint_program(bound, emulated_traits())
                                : programs_(bound, plan, emulated_traits());
        if (!program)
          throw Error(Status::unsupported, "the emulated backend has no FFT library: choose generated kernels");
        return std::make_unique<EmulatedTransform>(bound, std::move(*program), options_);
      });
}

}  // namespace fourtune::runtime::emulated
