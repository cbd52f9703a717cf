#include "runtime/backends/cuda/device_streams.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/reached_memory.h"

namespace fourtune::runtime::cuda {
namespace {

// Copies and exchanges are urgent, so that their blocks need not wait for those of work that was queued before them. An
// exchange beside computing gains a tenth (docs/design/distributed.md).
class CudaStreams final : public DeviceStreams {
 public:
  explicit CudaStreams(std::shared_ptr<const Device> device)
      : device_(std::move(device)),
        work_(device_),
        copies_(device_, true),
        exchange_(device_, true),
        order_(device_, false) {}

  void* stream(Lane lane) const override { return of(lane).get(); }

  void copy(Lane lane, const Rows& to, const Rows& from, std::int64_t bytes, std::int64_t rows) override {
    if (bytes == 0 || rows == 0) return;
    const ContextGuard guard(*device_);
    const auto size = static_cast<std::size_t>(bytes);
    if (rows == 1 || (to.stride == bytes && from.stride == bytes))
      return run(lane, address(to.at), address(from.at), size * static_cast<std::size_t>(rows));
    if (driver().cuMemcpy2DAsync && to.stride <= kMostPitch && from.stride <= kMostPitch) {
      const CUmemcpy2D copy{0,
                            0,
                            kUnified,
                            nullptr,
                            address(from.at),
                            nullptr,
                            static_cast<std::size_t>(from.stride),
                            0,
                            0,
                            kUnified,
                            nullptr,
                            address(to.at),
                            nullptr,
                            static_cast<std::size_t>(to.stride),
                            size,
                            static_cast<std::size_t>(rows)};
      return check(driver().cuMemcpy2DAsync(&copy, of(lane).get()), "copying rows on the GPU");
    }
    for (std::int64_t row = 0; row < rows; ++row)
      run(lane, address(to.at) + static_cast<CUdeviceptr>(row * to.stride),
          address(from.at) + static_cast<CUdeviceptr>(row * from.stride), size);
  }

  void follow(Lane later, Lane earlier) override {
    const ContextGuard guard(*device_);
    order_.record(of(earlier).get());
    order_.hold_back(of(later).get());
  }
  void mark(int number, Lane lane) override {
    while (static_cast<int>(marks_.size()) <= number) marks_.emplace_back(device_, false);
    const ContextGuard guard(*device_);
    at(number).record(of(lane).get());
  }
  void follow_mark(Lane later, int number) override {
    const ContextGuard guard(*device_);
    at(number).hold_back(of(later).get());
  }
  void wait_for_mark(int number) override {
    const ContextGuard guard(*device_);
    at(number).wait();
  }
  void wait(Lane lane) override {
    const ContextGuard guard(*device_);
    of(lane).synchronise();
  }
  void wait_for_stream(void* stream) const override {
    const ContextGuard guard(*device_);
    check(driver().cuStreamSynchronize(static_cast<CUstream>(stream)), "waiting for a stream");
  }

  void* allocate_host(std::int64_t bytes) override {
    if (!driver().cuMemAllocHost)
      throw Error(Status::backend_unavailable, "the NVIDIA driver has no cuMemAllocHost; a later one is needed");
    const ContextGuard guard(*device_);
    void* memory = nullptr;
    if (driver().cuMemAllocHost(&memory, static_cast<std::size_t>(bytes)) != CUDA_SUCCESS)
      throw Error(Status::out_of_memory, fmt::format("{} bytes of pinned host memory are needed", bytes));
    return memory;
  }
  void release_host(void* memory) noexcept override {
    CUcontext before = nullptr;
    if (memory == nullptr || driver().cuCtxPushCurrent(device_->context()) != CUDA_SUCCESS) return;
    driver().cuMemFreeHost(memory);
    driver().cuCtxPopCurrent(&before);
  }

  bool reaches(const void* array) const override {
    constexpr int kMemoryType = 2, kManaged = 8, kOrdinal = 9;
    constexpr unsigned kDeviceMemory = 2;
    const ContextGuard guard(*device_);
    const auto ask = [&](auto& answer, int attribute) {
      return driver().cuPointerGetAttribute(&answer, attribute, address(array)) == CUDA_SUCCESS;
    };
    unsigned type = 0, managed = 0;
    int ordinal = -1;
    if (ask(managed, kManaged) && managed != 0) return true;  // it goes to the device that uses it
    return ask(type, kMemoryType) && type == kDeviceMemory && ask(ordinal, kOrdinal) && ordinal == device_->ordinal();
  }
  SharedPlace share(const void* array) const override {
    constexpr int kBufferId = 7, kRangeStart = 11;
    if (!driver().cuIpcGetMemHandle)
      throw Error(Status::unsupported, "the NVIDIA driver shares no memory between processes; a later one is needed");
    const ContextGuard guard(*device_);
    CUdeviceptr begin = 0;
    unsigned long long number = 0;
    CUipcMemHandle handle{};
    check(driver().cuPointerGetAttribute(&begin, kRangeStart, address(array)), "sharing GPU memory");
    check(driver().cuPointerGetAttribute(&number, kBufferId, address(array)), "sharing GPU memory");
    check(driver().cuIpcGetMemHandle(&handle, begin), "sharing GPU memory");
    return {handle.bytes, number, getpid(), static_cast<std::int64_t>(address(array) - begin)};
  }
  void* reach(const SharedPlace& place) override { return reached_.reach(place); }
  void forget_shared() noexcept override { reached_.forget(); }
  std::string identity() const override {
    std::array<unsigned char, 16> uuid{};
    std::string text;
    if (driver().cuDeviceGetUuid && driver().cuDeviceGetUuid(uuid.data(), device_->handle()) == CUDA_SUCCESS) {
      for (const unsigned char byte : uuid) text += fmt::format("{:02x}", byte);
      return text;
    }
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return fmt::format("GPU {} of {}", device_->ordinal(), host.data());
  }
  std::shared_ptr<void> current() const override { return std::make_shared<ContextGuard>(*device_); }

 private:
  static constexpr std::int64_t kMostPitch = std::numeric_limits<int>::max();
  static constexpr int kUnified = 4;
  static CUdeviceptr address(const void* array) { return reinterpret_cast<CUdeviceptr>(array); }
  const Stream& of(Lane lane) const { return lane == Lane::work ? work_ : lane == Lane::copies ? copies_ : exchange_; }
  const Event& at(int number) const { return marks_[static_cast<std::size_t>(number)]; }
  void* open(const SharedPlace& place) const {
    constexpr unsigned kPeerAccess = 1;
    const ContextGuard guard(*device_);
    CUdeviceptr begin = 0;
    if (!driver().cuIpcGetMemHandle)
      throw Error(Status::unsupported, "the NVIDIA driver shares no memory between processes; a later one is needed");
    check(driver().cuIpcOpenMemHandle(&begin, CUipcMemHandle{place.handle}, kPeerAccess),
          "opening the GPU memory of another process");
    return reinterpret_cast<void*>(begin);
  }
  void close(void* begin) const noexcept {
    CUcontext before = nullptr;
    if (driver().cuCtxPushCurrent(device_->context()) != CUDA_SUCCESS) return;
    driver().cuIpcCloseMemHandle(address(begin));
    driver().cuCtxPopCurrent(&before);
  }
  // Any two addresses of the unified address space: the driver knows which memory each belongs to.
  void run(Lane lane, CUdeviceptr to, CUdeviceptr from, std::size_t bytes) const {
    check(driver().cuMemcpyAsync(to, from, bytes, of(lane).get()), "copying between arrays");
  }

  std::shared_ptr<const Device> device_;
  Stream work_, copies_, exchange_;
  Event order_;
  std::vector<Event> marks_;
  ReachedMemory reached_{[this](const SharedPlace& place) { return open(place); }, [this](void* at) { close(at); }};
};

}  // namespace

std::unique_ptr<DeviceStreams> make_streams(std::shared_ptr<const Device> device) {
  if (!driver().cuMemcpyAsync)
    throw Error(Status::backend_unavailable, "the NVIDIA driver has no cuMemcpyAsync; a later one is needed");
  return std::make_unique<CudaStreams>(std::move(device));
}

}  // namespace fourtune::runtime::cuda
