#include "runtime/backends/backend.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <new>

namespace fourtune::runtime {
namespace {

class HostMemory final : public ArrayMemory {
 public:
  void* allocate(std::size_t bytes) override {
    void* array = ::operator new(bytes, kAlignment, std::nothrow);
    if (!array) throw Error(Status::out_of_memory, fmt::format("{} bytes of memory are needed", bytes));
    return array;
  }
  void release(void* array) noexcept override { ::operator delete(array, kAlignment); }
  void upload(void* array, const void* host, std::size_t bytes) override { std::memcpy(array, host, bytes); }
  void download(void* host, const void* array, std::size_t bytes) override { std::memcpy(host, array, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* array, unsigned char byte, std::size_t bytes) override { std::memset(array, byte, bytes); }
  void wait() override {}

 private:
  static constexpr std::align_val_t kAlignment{64};
};

class ClockTimer final : public StreamTimer {
 public:
  void start() override { start_ = std::chrono::steady_clock::now(); }
  void stop() override { stop_ = std::chrono::steady_clock::now(); }
  double seconds() override { return std::chrono::duration<double>(stop_ - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_, stop_;
};

}  // namespace

std::string kernels_text(std::span<const KernelReport> kernels) {
  std::string text;
  for (const KernelReport& kernel : kernels)  // entries are identifiers, so nothing needs escaping
    text += fmt::format(R"({}{{"entry":"{}","registers":{},"spill_bytes":{},"shared_bytes":{},"blocks":{}}})",
                        text.empty() ? "[" : ",", kernel.entry, kernel.registers, kernel.spill_bytes,
                        kernel.shared_bytes, kernel.blocks);
  return text.empty() ? text : text + "]";
}

void Executor::set_stream(void* stream) {
  if (stream) throw Error(Status::invalid_argument, "set_stream: this backend has no streams; pass null");
}

void Executor::set_slab(std::int64_t, bool) {
  throw Error(Status::internal, "set_slab: this executor works on no slab of a grid");
}

void Backend::check_device(int device) const {
  const int count = device_count();
  if (device >= 0 && device < count) return;
  throw Error(Status::invalid_option,
              count == 1 ? fmt::format("device={}: the {} backend has one device here, number 0", device, name())
                         : fmt::format("device={}: the {} backend has {} devices here, numbers 0 to {}", device, name(),
                                       count, count - 1));
}

KernelImage Backend::compile_kernel(const KernelJob& job, double) const {
  throw Error(Status::unsupported, fmt::format("kernel {}: the {} backend compiles nothing", job.entry, name()));
}

std::unique_ptr<ArrayMemory> Backend::memory(int) const { return std::make_unique<HostMemory>(); }

std::unique_ptr<DeviceStreams> Backend::streams(int) const { return process_streams(); }

std::unique_ptr<StreamTimer> clock_timer() { return std::make_unique<ClockTimer>(); }
std::unique_ptr<StreamTimer> Backend::timer(int) const { return clock_timer(); }

}  // namespace fourtune::runtime
