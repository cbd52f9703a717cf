// A queue that runs nothing and notes what it is asked for.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::test {

struct Noted {
  struct Launch {
    int kernel = 0;  // number among all that were loaded
    generator::Extent3 grid;
    std::vector<std::uint64_t> words;  // of all arguments
  };
  std::vector<std::vector<generator::KernelSource>> loads;
  std::vector<Launch> launches;
  std::vector<std::int64_t> bytes;  // of allocations and uploads
  std::vector<int> marks;
};

// All coordinates are in one array, which nobody reads.
inline runtime::PointSet points_of(const Problem& problem, const double* array) {
  runtime::PointSet points;
  points.m = *problem.m, points.k = problem.k.value_or(0);
  points.x = points.y = points.z = points.s = points.t = points.u = array;
  return points;
}

// Memory has addresses, but is none. What is read says that all points are good.
class NotingQueue final : public runtime::gpu::Queue {
 public:
  NotingQueue(DeviceTraits traits, Noted& noted) : traits_(std::move(traits)), noted_(noted) {}

  const DeviceTraits& traits() const override { return traits_; }
  std::unique_ptr<runtime::gpu::QueueMemory> allocate(std::int64_t bytes, const char*) override {
    auto memory = std::make_unique<runtime::gpu::QueueMemory>();
    memory->bytes = bytes, memory->data = somewhere();
    noted_.bytes.push_back(bytes);
    return memory;
  }
  void upload(runtime::gpu::QueueMemory&, std::span<const std::byte> bytes) override {
    noted_.bytes.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  std::vector<int> load(std::span<const generator::KernelSource> sources) override {
    noted_.loads.emplace_back(sources.begin(), sources.end());
    std::vector<int> numbers;
    for (std::size_t i = 0; i < sources.size(); ++i) numbers.push_back(kernels_++);
    return numbers;
  }
  std::unique_ptr<runtime::gpu::LibraryFft> library_fft(const Problem&) override {
    class Nothing final : public runtime::gpu::LibraryFft {
      void run(std::byte*) override {}
      std::int64_t bytes() const override { return 0; }
    };
    return std::make_unique<Nothing>();
  }
  void begin(void*) override {}
  std::byte* open(void*, std::int64_t, runtime::gpu::Access, const char*) override { return somewhere(); }
  void launch(int kernel, const generator::Extent3& grid, runtime::gpu::LaunchArguments& arguments) override {
    noted_.launches.push_back({kernel, grid, {arguments.words().begin(), arguments.words().end()}});
  }
  void read(void* host, const std::byte*, std::size_t bytes) override { std::memset(host, 255, bytes); }
  void end(bool) noexcept override {}
  void mark(int number) override { noted_.marks.push_back(number); }
  // Invented, and another one for each pair.
  double seconds(int from, int to) override { return 1000.0 * from + to; }

 private:
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that is only compared
  std::byte* somewhere() { return reinterpret_cast<std::byte*>(std::uintptr_t{++places_} << 40); }
  DeviceTraits traits_;
  Noted& noted_;
  int kernels_ = 0;
  std::uint32_t places_ = 0;
};

}  // namespace fourtune::test
