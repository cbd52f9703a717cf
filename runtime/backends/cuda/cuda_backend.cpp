#include "runtime/backends/cuda/cuda_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "db/tuning_store.h"
#include "generator/plan/type3_geometry.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/cufft_api.h"
#include "runtime/backends/cuda/device_streams.h"
#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/cuda/nufft_queue.h"
#include "runtime/backends/cuda/nvml_api.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/backends/cuda/program.h"
#include "runtime/backends/cuda/stream_order.h"
#include "runtime/backends/gpu/gpu_executor.h"
#include "runtime/backends/gpu/listing_queue.h"
#include "runtime/backends/gpu/nufft_executor.h"

namespace fourtune::runtime::cuda {
namespace {

// Runs the whole transform with cuFFT, exactly as the library would.
class CufftTransform final : public gpu::GpuTransform {
 public:
  CufftTransform(std::shared_ptr<const Device> device, const Problem& problem, bool time_stages)
      : device_(std::move(device)), sign_(problem.sign), plan_(device_, problem) {
    if (plan_.work_bytes() > 0) order_.emplace(device_);
    if (!time_stages) return;
    marks_.emplace_back(device_);
    marks_.emplace_back(device_);
  }
  void run(void* in, void* out, void* stream) override {
    auto* const queue = static_cast<CUstream>(stream);
    const ContextGuard guard(*device_);
    check_device_pointer(*device_, in);
    check_device_pointer(*device_, out);
    if (order_) order_->begin(queue);
    struct Ended {  // also after a call that fails: what came before it uses the work memory
      std::optional<StreamOrder>& order;
      ~Ended() {
        if (order) order->end();
      }
    } const ended{order_};
    const bool alone = !marks_.empty() || (order_ ? order_->capturing() : is_capturing(queue));
    if (!marks_.empty()) marks_[0].record(queue);
    plan_.execute(in, out, sign_, queue, alone);
    if (!marks_.empty()) marks_[1].record(queue);
    ran_ = true;
  }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(plan_.work_bytes()); }
  std::vector<StageTime> stage_times() override {
    if (marks_.empty() || !ran_) return {};
    const ContextGuard guard(*device_);
    return {{"fft", marks_[1].seconds_since(marks_[0])}};
  }

 private:
  std::shared_ptr<const Device> device_;
  int sign_;
  CufftPlan plan_;
  std::optional<StreamOrder> order_;  // where there is work memory
  std::vector<Event> marks_;
  bool ran_ = false;
};

class CudaArrays final : public ArrayMemory {
 public:
  explicit CudaArrays(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  void* allocate(std::size_t bytes) override {
    DeviceMemory memory(device_, std::max<std::size_t>(bytes, 1));
    void* const array = memory.pointer();
    held_.emplace(array, std::move(memory));
    return array;
  }
  void release(void* array) noexcept override { held_.erase(array); }
  void upload(void* array, const void* host, std::size_t bytes) override { held_.at(array).upload(host, bytes); }
  void download(void* host, const void* array, std::size_t bytes) override {
    if (bytes == 0) return;
    const ContextGuard guard(*device_);
    check(driver().cuMemcpyDtoHAsync(host, address(array), bytes, nullptr), "copying from the GPU");
    check(driver().cuStreamSynchronize(nullptr), "copying from the GPU");
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    const ContextGuard guard(*device_);
    check(driver().cuMemcpyDtoDAsync(address(to), address(from), bytes, nullptr), "copying on the GPU");
  }
  void fill(void* array, unsigned char byte, std::size_t bytes) override {
    if (bytes == 0) return;
    const ContextGuard guard(*device_);
    check(driver().cuMemsetD8Async(address(array), byte, bytes, nullptr), "filling an array on the GPU");
  }
  void wait() override {
    const ContextGuard guard(*device_);
    check(driver().cuStreamSynchronize(nullptr), "waiting for the GPU");
  }
  std::int64_t free_bytes() const override {
    const ContextGuard guard(*device_);
    const DriverApi& api = driver();
    CUmemoryPool pool = nullptr;  // freed memory that the pool keeps would not count as free
    if (api.cuDeviceGetDefaultMemPool && api.cuMemPoolTrimTo &&
        api.cuDeviceGetDefaultMemPool(&pool, device_->handle()) == CUDA_SUCCESS)
      api.cuMemPoolTrimTo(pool, 0);
    std::size_t available = 0, total = 0;
    check(api.cuMemGetInfo(&available, &total), "asking for the free memory");
    return static_cast<std::int64_t>(available);
  }

 private:
  static CUdeviceptr address(const void* array) { return reinterpret_cast<CUdeviceptr>(array); }
  std::shared_ptr<const Device> device_;
  std::map<void*, DeviceMemory> held_;
};

class EventTimer final : public StreamTimer {
 public:
  explicit EventTimer(std::shared_ptr<const Device> device)
      : device_(std::move(device)), start_(device_), stop_(device_) {}
  void start() override {
    const ContextGuard guard(*device_);
    start_.record(nullptr);
  }
  void stop() override {
    const ContextGuard guard(*device_);
    stop_.record(nullptr);
  }
  double seconds() override {
    const ContextGuard guard(*device_);
    return stop_.seconds_since(start_);
  }

 private:
  std::shared_ptr<const Device> device_;
  Event start_, stop_;
};

// The device's context, current on the thread that made this.
struct Current {
  explicit Current(std::shared_ptr<const Device> one) : device(std::move(one)), guard(*device) {}
  std::shared_ptr<const Device> device;
  ContextGuard guard;
};

// Lets a type 3 that runs nothing make its grids, and so its kernels, for points that fill the problem's extent.
void expect_points(const Problem& problem, Executor& executor) {
  if (!problem.m || !problem.k || *problem.m == 0 || *problem.k == 0) return;
  Bounds bounds;
  const std::array<double, 3> extent = generator::type3_extent(problem);
  for (std::size_t d = 0; d < 3; ++d) {
    bounds.low[d] = -1, bounds.high[d] = 1;
    bounds.low[3 + d] = -extent[d], bounds.high[3 + d] = extent[d];
  }
  executor.set_bounds(bounds);
  Points none;
  none.m = *problem.m, none.k = *problem.k;
  executor.set_points(none);
}

}  // namespace

CudaBackend::CudaBackend(gpu::ProgramSource programs, std::filesystem::path store)
    : programs_(std::move(programs)), store_(store.empty() ? db::default_database_path() : std::move(store)) {}

std::shared_ptr<const Device> CudaBackend::device(int ordinal) const {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(ordinal);
  return found != devices_.end() ? found->second : devices_.emplace(ordinal, Device::open(ordinal)).first->second;
}

Capabilities CudaBackend::capabilities() const {
  Capabilities can;
  can.streams = true;
  can.arrays = MemoryKind::device;
  can.keeps_kernels = true;
  can.faults_stay = true;
  can.least_sample_seconds = 5e-4;
  can.modest_megabytes = 600;
  return can;
}

std::string CudaBackend::why_not_available() const { return why_no_driver(); }

std::string CudaBackend::driver_version() const {
  if (!why_no_driver().empty()) return {};
  return fmt::format("CUDA {}.{}", driver().version / 1000, driver().version % 1000 / 10);
}

std::optional<Software> CudaBackend::software() const {
  Software here;
  here.driver = driver_version();
  here.compiler = why_no_nvrtc().empty() ? nvrtc_version_text() : std::string("no nvrtc");
  if (why_no_cufft().empty()) here.libraries = fmt::format("cufft {}", cufft().version);
  return here;
}

int CudaBackend::device_count() const { return cuda::device_count(); }

std::unique_ptr<Backend> CudaBackend::with_programs(gpu::ProgramSource programs) const {
  return std::make_unique<CudaBackend>(std::move(programs));
}

std::unique_ptr<gpu::Queue> CudaBackend::queue(int ordinal) const {
  return make_queue(device(ordinal), KernelShelf(store_, {}));
}

void CudaBackend::connect(std::span<const int> devices) const {
  const DriverApi& api = driver();
  if (!api.cuDeviceCanAccessPeer || !api.cuCtxEnablePeerAccess) return;
  for (const int one : devices)
    for (const int other : devices) {
      int can = 0;
      if (one == other) continue;
      const ContextGuard guard(*device(one));
      if (api.cuDeviceCanAccessPeer(&can, device(one)->handle(), device(other)->handle()) != CUDA_SUCCESS || can == 0)
        continue;
      const CUresult result = api.cuCtxEnablePeerAccess(device(other)->context(), 0);
      if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) check(result, "letting a GPU reach another one's memory");
    }
}

std::shared_ptr<void> CudaBackend::make_current(int ordinal) const {
  return std::make_shared<Current>(Device::open(ordinal));
}

DeviceTraits CudaBackend::traits_of(int ordinal) const {
  const std::lock_guard lock(mutex_);
  const auto found = traits_.find(ordinal);
  return found != traits_.end() ? found->second : traits_.emplace(ordinal, device_traits(ordinal)).first->second;
}

std::unique_ptr<Executor> CudaBackend::bind(const Problem& problem, const generator::Plan& plan,
                                            const ExecutorOptions& options) const {
  if (plan.backend != name())
    throw Error(Status::invalid_plan, "the plan is for backend '" + plan.backend + "', not for cuda");
  const auto chosen = device(options.device);
  const KernelShelf shelf(store_, options.kernel_packs);
  if (problem.kind == Kind::nufft)
    return gpu::make_gpu_nufft_executor(problem, plan, options, make_queue(chosen, shelf));
  const bool timed = options.time_stages;
  const double seconds = options.compile_seconds;
  return gpu::make_gpu_fft_executor(
      problem, plan, options,
      [this, chosen, plan, shelf, timed, seconds](const Problem& bound,
                                                  bool weighted) -> std::unique_ptr<gpu::GpuTransform> {
        auto program = weighted ? generator::gpu_fft_adjoint_program(bound, chosen->traits())
                                : programs_(bound, plan, chosen->traits());
        if (!program) return std::make_unique<CufftTransform>(chosen, bound, timed);
        return std::make_unique<CudaProgram>(chosen, std::move(*program), shelf, timed, seconds);
      });
}

void CudaBackend::prepare(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options) const {
  const DeviceTraits here = traits(options.device);
  prepare_for(here, here.compute_capability, problem, plan, options);
}

void CudaBackend::prepare_for(const DeviceTraits& device_traits, KernelTarget target, const Problem& problem,
                              const generator::Plan& plan, const ExecutorOptions& options) const {
  ExecutorOptions unseen = options;
  unseen.crowded = true;
  compile_kernels(kernels_of(device_traits, problem, plan, unseen), target, KernelShelf(store_, options.kernel_packs),
                  options.compile_seconds);
}

std::vector<generator::KernelSource> CudaBackend::kernels_of(const DeviceTraits& device_traits, const Problem& problem,
                                                             const generator::Plan& plan,
                                                             const ExecutorOptions& options) const {
  std::vector<generator::KernelSource> kernels;
  if (problem.kind == Kind::nufft) {
    ExecutorOptions unseen = options;
    unseen.trust_points = options.trust_points || problem.type == 3;  // there are no points to look at
    const auto executor =
        gpu::make_gpu_nufft_executor(problem, plan, unseen, gpu::make_listing_queue(device_traits, kernels));
    if (problem.type == 3) expect_points(problem, *executor);
  } else if (auto program = programs_(problem, plan, device_traits)) {
    kernels = std::move(program->kernels);
  }
  return kernels;
}

std::vector<KernelJob> CudaBackend::missing_kernels(const Problem& problem, const generator::Plan& plan,
                                                    const ExecutorOptions& options) const {
  const DeviceTraits here = traits(options.device);
  return list_missing(kernels_of(here, problem, plan, options), here.compute_capability,
                      KernelShelf(store_, options.kernel_packs));
}

KernelImage CudaBackend::compile_kernel(const KernelJob& job, double seconds) const {
  return cuda::compile_job(job, seconds);
}

void CudaBackend::keep_kernel(const KernelJob& job, KernelImage&& image) const {
  keep_job(job, std::move(image), KernelShelf(store_));
}

void CudaBackend::flush_kernels() const { store_.flush(); }

std::unique_ptr<ArrayMemory> CudaBackend::memory(int ordinal) const {
  return std::make_unique<CudaArrays>(device(ordinal));
}

std::unique_ptr<StreamTimer> CudaBackend::timer(int ordinal) const {
  return std::make_unique<EventTimer>(device(ordinal));
}

std::unique_ptr<DeviceSensors> CudaBackend::sensors(int ordinal) const { return nvml_sensors(ordinal); }

std::unique_ptr<DeviceStreams> CudaBackend::streams(int ordinal) const { return make_streams(device(ordinal)); }

}  // namespace fourtune::runtime::cuda
