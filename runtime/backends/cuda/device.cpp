#include "runtime/backends/cuda/device.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/calibration.h"
#include "base/known_devices.h"

namespace fourtune::runtime::cuda {
namespace {

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  // An attribute that this driver does not know gives 0.
  return driver().cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

// What FOURTUNE_CUDA_OVERLAP says (docs/design/cuda.md): 1 all kernels, 0 none, else those of nonuniform transforms.
bool wants_overlap(const char* value) {
  const char* const wanted = std::getenv("FOURTUNE_CUDA_OVERLAP");
  return wanted && std::strcmp(wanted, value) == 0;
}

// Whether there are programmatic dependent launches. A stream that is being captured supports them since CUDA 12.3.
bool can_overlap(const DeviceTraits& traits) {
  return traits.compute_capability >= 90 && driver().cuLaunchKernelEx && driver().version >= 12030;
}

CUdevice handle_of(int ordinal) {
  const DriverApi& api = driver();
  const int count = device_count();
  if (ordinal < 0 || ordinal >= count)
    throw Error(Status::invalid_option, fmt::format("there is no GPU {}; this process sees {}", ordinal, count));
  CUdevice device = 0;
  check(api.cuDeviceGet(&device, ordinal), "choosing the GPU");
  return device;
}

DeviceTraits read_traits(CUdevice device) {
  const DriverApi& api = driver();
  DeviceTraits traits = cpu_traits();  // starts from the host's cores
  traits.backend = "cuda";
  std::array<char, 256> name{};
  check(api.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device), "reading the GPU's name");
  traits.name = name.data();
  traits.compute_capability = 10 * attribute(device, kCapabilityMajor) + attribute(device, kCapabilityMinor);
  traits.isa = fmt::format("sm_{}", traits.compute_capability);
  std::size_t memory = 0;
  check(api.cuDeviceTotalMem(&memory, device), "reading the GPU's memory size");
  traits.memory_bytes = static_cast<std::int64_t>(memory);
  traits.l1_bytes = 0;
  traits.l2_bytes = attribute(device, kL2CacheBytes);
  traits.l3_bytes = 0;
  traits.multiprocessors = attribute(device, kMultiprocessors);
  traits.threads_per_multiprocessor = attribute(device, kThreadsPerMultiprocessor);
  traits.registers_per_multiprocessor = attribute(device, kRegistersPerMultiprocessor);
  traits.shared_per_multiprocessor = attribute(device, kSharedPerMultiprocessor);
  traits.shared_per_block = attribute(device, kSharedPerBlockOptin);
  traits.cluster_blocks = attribute(device, kClusterLaunch) ? 8 : 1;  // every device with clusters supports 8
  traits.clock_hz = 1e3 * attribute(device, kClockRate);
  // Two transfers per clock on a bus of this many bits.
  traits.memory_bandwidth = 2e3 * attribute(device, kMemoryClockRate) * attribute(device, kMemoryBusWidth) / 8;
  const KnownCalibration own = known_calibration(traits);
  traits.rates = own.date.empty() ? generator::known_rates(traits) : own.rates;
  return traits;
}

}  // namespace

int device_count() {
  int count = 0;
  return why_no_driver().empty() && driver().cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}

std::shared_ptr<const Device> Device::open(int ordinal) { return std::shared_ptr<const Device>(new Device(ordinal)); }

DeviceTraits device_traits(int ordinal) { return read_traits(handle_of(ordinal)); }

Device::Device(int ordinal) : ordinal_(ordinal), device_(handle_of(ordinal)), traits_(read_traits(device_)) {
  check(driver().cuDevicePrimaryCtxRetain(&context_, device_), "retaining the GPU's primary context");
}

Device::~Device() { driver().cuDevicePrimaryCtxRelease(device_); }

ContextGuard::ContextGuard(const Device& device) {
  check(driver().cuCtxPushCurrent(device.context()), "making the GPU's context current");
}
ContextGuard::~ContextGuard() {
  CUcontext ours = nullptr;
  driver().cuCtxPopCurrent(&ours);
}

// ---- memory, events, streams ----
DeviceMemory::DeviceMemory(std::shared_ptr<const Device> device, std::size_t bytes)
    : device_(std::move(device)), bytes_(bytes) {
  if (bytes == 0) return;
  const ContextGuard guard(*device_);
  const CUresult result = driver().cuMemAlloc(&address_, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0, total = 0;
    driver().cuMemGetInfo(&free, &total);
    throw Error(Status::out_of_memory,
                fmt::format("{} bytes of GPU memory are needed and {} of {} are free", bytes, free, total));
  }
  check(result, "allocating GPU memory");
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (!address_) return;
  const DriverApi& api = driver();
  CUcontext before = nullptr;
  if (api.cuCtxPushCurrent(device_->context()) != CUDA_SUCCESS) return;  // the driver is shutting down
  api.cuMemFree(address_);
  api.cuCtxPopCurrent(&before);
}

void DeviceMemory::upload(const void* host, std::size_t bytes, CUstream stream) const {
  if (bytes == 0) return;
  const ContextGuard guard(*device_);
  check(driver().cuMemcpyHtoDAsync(address_, host, bytes, stream), "copying to the GPU");
  check(driver().cuStreamSynchronize(stream), "copying to the GPU");
}

void DeviceMemory::download(void* host, std::size_t bytes) const {
  if (bytes == 0) return;
  const ContextGuard guard(*device_);
  check(driver().cuMemcpyDtoHAsync(host, address_, bytes, nullptr), "copying from the GPU");
  check(driver().cuStreamSynchronize(nullptr), "copying from the GPU");
}

Event::Event(std::shared_ptr<const Device> device, bool timed) : device_(std::move(device)) {
  const ContextGuard guard(*device_);
  constexpr unsigned kNoTime = 2;
  check(driver().cuEventCreate(&event_, timed ? 0 : kNoTime), "making an event");
}
Event::Event(Event&& other) noexcept
    : device_(std::move(other.device_)), event_(std::exchange(other.event_, nullptr)) {}
Event::~Event() {
  if (event_) driver().cuEventDestroy(event_);
}
void Event::record(CUstream stream) const { check(driver().cuEventRecord(event_, stream), "recording an event"); }
void Event::hold_back(CUstream stream) const {
  check(driver().cuStreamWaitEvent(stream, event_, 0), "ordering two streams");
}
void Event::wait() const { check(driver().cuEventSynchronize(event_), "waiting for an event"); }
double Event::seconds_since(const Event& earlier) const {
  wait();
  float ms = 0;
  check(driver().cuEventElapsedTime(&ms, earlier.event_, event_), "timing by events");
  return 1e-3 * static_cast<double>(ms);
}
std::optional<double> Event::seconds_if_reached(const Event& earlier) const {
  float ms = 0;
  const CUresult result = driver().cuEventElapsedTime(&ms, earlier.event_, event_);
  if (result == CUDA_ERROR_NOT_READY) return std::nullopt;
  check(result, "timing by events");
  return 1e-3 * static_cast<double>(ms);
}

Stream::Stream(std::shared_ptr<const Device> device, bool urgent) : device_(std::move(device)) {
  const ContextGuard guard(*device_);
  constexpr unsigned kNonBlocking = 1;
  constexpr int kUrgent = -100;  // the driver takes the nearest that there is
  check(urgent && driver().cuStreamCreateWithPriority
            ? driver().cuStreamCreateWithPriority(&stream_, kNonBlocking, kUrgent)
            : driver().cuStreamCreate(&stream_, kNonBlocking),
        "making a stream");
}
Stream::~Stream() { driver().cuStreamDestroy(stream_); }
void Stream::synchronise() const { check(driver().cuStreamSynchronize(stream_), "waiting for a stream"); }

// ---- kernels ----
LoadedKernel::LoadedKernel(std::shared_ptr<const Device> device, const generator::KernelSource& source,
                           std::span<const std::byte> image)
    : device_(std::move(device)),
      block_(source.block),
      cluster_(source.cluster),
      shared_bytes_(source.shared_bytes),
      waits_(generator::waits_for_earlier(source) && can_overlap(device_->traits())),
      overlaps_(waits_ && wants_overlap("1")),
      entry_(source.entry) {
  const ContextGuard guard(*device_);
  const std::string what = fmt::format("loading kernel {}", entry_);
  check(driver().cuModuleLoadData(&module_, image.data()), what.c_str());
  try {
    prepare(source);
  } catch (...) {
    driver().cuModuleUnload(module_);
    throw;
  }
}

void LoadedKernel::prepare(const generator::KernelSource& source) {
  const DriverApi& api = driver();
  check(api.cuModuleGetFunction(&function_, module_, entry_.c_str()), "finding the kernel's entry");
  const auto read = [&](CUfunction_attribute which) {
    int value = 0;
    check(api.cuFuncGetAttribute(&value, which, function_), "reading the kernel's resources");
    return value;
  };
  resources_.registers = read(kFunctionRegisters);
  resources_.local_bytes = read(kFunctionLocalBytes);
  resources_.static_shared_bytes = read(kFunctionSharedBytes);
  const DeviceTraits& traits = device_->traits();
  if (shared_bytes_ > traits.shared_per_block)
    throw Error(Status::unsupported, fmt::format("kernel {} needs {} bytes of shared memory a block and {} has {}",
                                                 entry_, shared_bytes_, traits.name, traits.shared_per_block));
  constexpr unsigned kWithoutAsking = 48 * 1024;
  if (shared_bytes_ > kWithoutAsking)
    check(api.cuFuncSetAttribute(function_, kFunctionMaxDynamicShared, static_cast<int>(shared_bytes_)),
          "asking for shared memory above 48 KB");
  const unsigned cluster = cluster_[0] * cluster_[1] * cluster_[2];
  if (cluster > 1 && (!api.cuLaunchKernelEx || traits.cluster_blocks <= 1))
    throw Error(Status::unsupported, fmt::format("kernel {} needs clusters of {} blocks and {} (sm_{}) or its driver "
                                                 "has none",
                                                 entry_, cluster, traits.name, traits.compute_capability));
  if (cluster > 8)
    check(api.cuFuncSetAttribute(function_, kFunctionNonPortableCluster, 1), "asking for a large cluster");
  const auto threads = static_cast<int>(source.block[0] * source.block[1] * source.block[2]);
  check(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&resources_.blocks_per_multiprocessor, function_, threads,
                                                        shared_bytes_),
        "computing the kernel's occupancy");
}

LoadedKernel::LoadedKernel(LoadedKernel&& other) noexcept
    : device_(std::move(other.device_)),
      module_(std::exchange(other.module_, nullptr)),
      function_(other.function_),
      block_(other.block_),
      cluster_(other.cluster_),
      shared_bytes_(other.shared_bytes_),
      waits_(other.waits_),
      overlaps_(other.overlaps_),
      entry_(std::move(other.entry_)),
      resources_(other.resources_) {}

LoadedKernel::~LoadedKernel() {
  if (!module_) return;
  CUcontext ours = nullptr;
  if (driver().cuCtxPushCurrent(device_->context()) != CUDA_SUCCESS) return;
  driver().cuModuleUnload(module_);
  driver().cuCtxPopCurrent(&ours);
}

void LoadedKernel::let_overlap() { overlaps_ = waits_ && !wants_overlap("0"); }

void LoadedKernel::launch(const generator::Extent3& grid, void** arguments, CUstream stream, bool overlap) const {
  const DriverApi& api = driver();
  std::array<CUlaunchAttribute, 2> attributes{};
  unsigned count = 0;
  if (cluster_[0] * cluster_[1] * cluster_[2] > 1) {
    attributes[count].id = kLaunchAttributeCluster;
    attributes[count++].value.cluster = {cluster_[0], cluster_[1], cluster_[2]};
  }
  if (overlap && overlaps_) {
    attributes[count].id = kLaunchAttributeProgrammaticSerialization;
    attributes[count++].value.programmatic_serialization = 1;
  }
  CUresult result;
  if (count > 0) {
    const CUlaunchConfig config{grid[0],   grid[1],       grid[2], block_[0],         block_[1],
                                block_[2], shared_bytes_, stream,  attributes.data(), count};
    result = api.cuLaunchKernelEx(&config, function_, arguments, nullptr);
  } else {
    result = api.cuLaunchKernel(function_, grid[0], grid[1], grid[2], block_[0], block_[1], block_[2], shared_bytes_,
                                stream, arguments, nullptr);
  }
  if (result != CUDA_SUCCESS) check(result, ("launching kernel " + entry_).c_str());
}

}  // namespace fourtune::runtime::cuda
