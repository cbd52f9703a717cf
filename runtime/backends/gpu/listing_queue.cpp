#include "runtime/backends/gpu/listing_queue.h"

namespace fourtune::runtime::gpu {
namespace {

// Notes what is loaded, and runs nothing in memory that holds no bytes.
class ListingQueue final : public Queue {
 public:
  ListingQueue(const DeviceTraits& traits, std::vector<generator::KernelSource>& kernels)
      : traits_(traits), kernels_(kernels) {}

  const DeviceTraits& traits() const override { return traits_; }
  std::unique_ptr<QueueMemory> allocate(std::int64_t bytes, const char*) override {
    auto memory = std::make_unique<QueueMemory>();
    memory->bytes = bytes;
    return memory;
  }
  void upload(QueueMemory&, std::span<const std::byte>) override {}
  std::vector<int> load(std::span<const generator::KernelSource> sources) override {
    std::vector<int> numbers;
    for (const generator::KernelSource& source : sources) {
      numbers.push_back(next_++);
      kernels_.push_back(source);
    }
    return numbers;
  }
  std::unique_ptr<LibraryFft> library_fft(const Problem&) override {
    class Nothing final : public LibraryFft {
      void run(std::byte*) override {}
      std::int64_t bytes() const override { return 0; }
    };
    return std::make_unique<Nothing>();
  }
  void begin(void*) override {}
  std::byte* open(void*, std::int64_t, Access, const char*) override { return nullptr; }
  void launch(int, const generator::Extent3&, LaunchArguments&) override {}
  void read(void*, const std::byte*, std::size_t) override {
    throw Error(Status::internal, "kernels are listed here, and nothing is run that could be read");
  }
  void end(bool) noexcept override {}
  void mark(int) override {}
  double seconds(int, int) override { return 0; }

 private:
  DeviceTraits traits_;
  std::vector<generator::KernelSource>& kernels_;
  int next_ = 0;
};

}  // namespace

std::unique_ptr<Queue> make_listing_queue(const DeviceTraits& traits, std::vector<generator::KernelSource>& kernels) {
  return std::make_unique<ListingQueue>(traits, kernels);
}

}  // namespace fourtune::runtime::gpu
