// What first use loads: kernels that are compiled at the same time are asked for at the same time, and few.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "runtime/backends/gpu/nufft_executor.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime {
namespace {

// Loads and runs nothing, and notes how many kernels each load asks for. What is read says that all points are good.
class NotingQueue final : public gpu::Queue {
 public:
  NotingQueue(DeviceTraits traits, std::vector<std::size_t>& loads) : traits_(std::move(traits)), loads_(loads) {}

  const DeviceTraits& traits() const override { return traits_; }
  std::unique_ptr<gpu::QueueMemory> allocate(std::int64_t bytes, const char*) override {
    auto memory = std::make_unique<gpu::QueueMemory>();
    memory->bytes = bytes, memory->data = nowhere();
    return memory;
  }
  void upload(gpu::QueueMemory&, std::span<const std::byte>) override {}
  std::vector<int> load(std::span<const generator::KernelSource> sources) override {
    loads_.push_back(sources.size());
    std::vector<int> numbers;
    for (std::size_t i = 0; i < sources.size(); ++i) numbers.push_back(next_++);
    return numbers;
  }
  std::vector<KernelReport> kernels() const override { return {}; }
  std::unique_ptr<gpu::LibraryFft> library_fft(const Problem&) override { return nullptr; }
  void begin(void*) override {}
  std::byte* open(void*, std::int64_t, gpu::Access, const char*) override { return nowhere(); }
  void launch(int, const generator::Extent3&, gpu::LaunchArguments&) override {}
  void read(void* host, const std::byte*, std::size_t bytes) override { std::memset(host, 255, bytes); }
  void end(bool) noexcept override {}
  void mark(int) override {}
  double seconds(int, int) override { return 0; }

 private:
  static std::byte* nowhere() {
    alignas(256) static std::byte one[256];
    return one;
  }
  DeviceTraits traits_;
  std::vector<std::size_t>& loads_;
  int next_ = 0;
};

std::vector<std::size_t> loads_of(const std::string& token) {
  const Problem problem = parse_problem(token);
  const DeviceTraits h200 = *generator::known_device("h200");
  ExecutorOptions options;
  options.trust_points = problem.type == 3;  // with bounds it then needs no extents
  std::vector<std::size_t> loads;
  const auto executor = gpu::make_gpu_nufft_executor(problem, generator::default_plan(problem, h200), options,
                                                     std::make_unique<NotingQueue>(h200, loads));
  alignas(256) static double array[32];
  PointSet points;
  points.m = *problem.m, points.k = problem.k.value_or(0);
  points.x = points.y = points.z = points.s = points.t = points.u = array;
  if (problem.type == 3) {
    Bounds bounds;
    for (std::size_t d = 0; d < 3; ++d)
      bounds.low[d] = -3, bounds.high[d] = 3, bounds.low[3 + d] = -50, bounds.high[3 + d] = 50;
    executor->set_bounds(bounds);
  }
  executor->set_points(points);
  executor->execute(array, array, false);
  return loads;
}

using Loads = std::vector<std::size_t>;

TEST(KernelLoads, TypesOneAndTwoLoadAllTheirKernelsAtOnce) {
  EXPECT_EQ(loads_of("nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-3,points=spiral"), Loads({7}));
  EXPECT_EQ(loads_of("nufft:type=2,n=128x128,m=200000,prec=f32,tol=1e-3,points=spiral"), Loads({9}));
  EXPECT_EQ(loads_of("nufft:type=1,n=64x64x64,m=500000,prec=f64,tol=1e-6,points=radial"), Loads({14}));
}

TEST(KernelLoads, TypeThreeLoadsWhatItsExtentsDecideAtOnce) {
  EXPECT_EQ(loads_of("nufft:type=3,dim=2,m=16384,k=16384,prec=f64,tol=1e-10"), Loads({2, 13}));
}

}  // namespace
}  // namespace fourtune::runtime
