#include "runtime/backends/cuda/nufft_queue.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "runtime/backends/cuda/cufft_api.h"
#include "runtime/backends/cuda/launch_list.h"
#include "runtime/backends/cuda/program.h"
#include "runtime/backends/cuda/stream_order.h"

namespace fourtune::runtime::cuda {
namespace {

class CudaMemory final : public gpu::QueueMemory {
 public:
  CudaMemory(const std::shared_ptr<const Device>& device, std::int64_t size)
      : memory(device, static_cast<std::size_t>(size)) {
    data = static_cast<std::byte*>(memory.pointer());
    bytes = size;
  }
  DeviceMemory memory;
};

// A little host memory that the GPU writes directly; null when the driver has none left.
class PinnedBytes {
 public:
  static constexpr std::size_t kBytes = 256;
  explicit PinnedBytes(const Device& device) {
    const ContextGuard guard(device);
    if (!driver().cuMemAllocHost || driver().cuMemAllocHost(&at_, kBytes) != CUDA_SUCCESS) at_ = nullptr;
  }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  ~PinnedBytes() {
    if (at_) driver().cuMemFreeHost(at_);
  }
  void* at() const { return at_; }

 private:
  void* at_ = nullptr;
};

class CudaQueue final : public gpu::Queue {
 public:
  CudaQueue(std::shared_ptr<const Device> device, const KernelShelf& shelf)
      : device_(std::move(device)), shelf_(shelf), order_(device_), pinned_(*device_) {}

  const DeviceTraits& traits() const override { return device_->traits(); }
  std::unique_ptr<gpu::QueueMemory> allocate(std::int64_t bytes, const char* name) override {
    try {
      return std::make_unique<CudaMemory>(device_, bytes);
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      throw Error(Status::out_of_memory, fmt::format("{}: {}", name, error.what()));
    }
  }
  void upload(gpu::QueueMemory& memory, std::span<const std::byte> bytes) override {
    static_cast<CudaMemory&>(memory).memory.upload(bytes.data(), bytes.size());
  }
  std::vector<int> load(std::span<const generator::KernelSource> sources) override {
    constexpr double kCompileSeconds = 120;
    std::vector<KernelReport> reports;
    auto fresh = load_kernels(device_, sources, shelf_, device_->traits().cores, kCompileSeconds, reports);
    std::vector<int> numbers;
    for (LoadedKernel& kernel : fresh) {
      numbers.push_back(static_cast<int>(kernels_.size()));
      kernels_.push_back(std::move(kernel));
      kernels_.back().let_overlap();
    }
    reports_.insert(reports_.end(), reports.begin(), reports.end());
    return numbers;
  }
  std::vector<KernelReport> kernels() const override { return reports_; }

  std::unique_ptr<gpu::LibraryFft> library_fft(const Problem& problem) override {
    class Library final : public gpu::LibraryFft {
     public:
      Library(CudaQueue& queue, const Problem& one) : queue_(queue), sign_(one.sign), plan_(queue.device_, one) {}
      void run(std::byte* data) override {
        queue_.flush();
        if (!queue_.rehearsing_) plan_.execute(data, data, sign_, queue_.order_.stream(), queue_.order_.capturing());
      }
      std::int64_t bytes() const override { return static_cast<std::int64_t>(plan_.work_bytes()); }

     private:
      CudaQueue& queue_;
      int sign_;
      CufftPlan plan_;
    };
    return std::make_unique<Library>(*this, problem);
  }

  void begin(void* stream) override {
    context_.emplace(*device_);
    order_.begin(static_cast<CUstream>(stream));
  }
  std::byte* open(void* array, std::int64_t bytes, gpu::Access, const char* name) override {
    if (bytes == 0) return static_cast<std::byte*>(array);
    try {
      check_device_pointer(*device_, array);
    } catch (const Error& error) {
      throw Error(error.status(), fmt::format("{} ({})", error.what(), name));
    }
    return static_cast<std::byte*>(array);
  }
  void launch(int kernel, const generator::Extent3& grid, gpu::LaunchArguments& arguments) override {
    list_.add(kernels_[static_cast<std::size_t>(kernel)], grid, arguments);
  }
  void flush() override { rehearsing_ ? list_.prepare() : list_.start(order_.stream(), order_.capturing()); }
  bool begin_rehearsal() override {
    if (order_.capturing()) return false;
    flush();
    return rehearsing_ = true;
  }
  void end_rehearsal() override {
    flush();
    rehearsing_ = false;
  }
  void read(void* host, const std::byte* device, std::size_t bytes) override {
    flush();
    void* const to = pinned_.at() && bytes <= PinnedBytes::kBytes ? pinned_.at() : host;
    check(driver().cuMemcpyDtoHAsync(to, reinterpret_cast<CUdeviceptr>(device), bytes, order_.stream()),
          "copying from the GPU");
    check(driver().cuStreamSynchronize(order_.stream()), "waiting for a stream");
    if (to != host) std::memcpy(host, to, bytes);
  }
  void end(bool) noexcept override {
    list_.drop();
    rehearsing_ = false;
    order_.end();
    context_.reset();
  }
  void mark(int index) override {
    list_.start(order_.stream(), true);
    while (marks_.size() <= static_cast<std::size_t>(index)) marks_.emplace_back(device_);
    marks_[static_cast<std::size_t>(index)].record(order_.stream());
  }
  double seconds(int from, int to) override {
    const ContextGuard guard(*device_);
    return marks_[static_cast<std::size_t>(to)].seconds_since(marks_[static_cast<std::size_t>(from)]);
  }

 private:
  std::shared_ptr<const Device> device_;
  KernelShelf shelf_;
  std::deque<LoadedKernel> kernels_;  // a deque, because the list points to them
  std::vector<KernelReport> reports_;
  std::vector<Event> marks_;
  StreamOrder order_;
  PinnedBytes pinned_;
  LaunchList list_;
  bool rehearsing_ = false;
  std::optional<ContextGuard> context_;
};

}  // namespace

std::unique_ptr<gpu::Queue> make_queue(std::shared_ptr<const Device> device, const KernelShelf& shelf) {
  return std::make_unique<CudaQueue>(std::move(device), shelf);
}

}  // namespace fourtune::runtime::cuda
