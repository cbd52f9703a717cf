#include "runtime/backends/cuda/nvml_api.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "fourtune/status.h"
#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/cuda/dynamic_library.h"

namespace fourtune::runtime::cuda {
namespace {

struct LoadedNvml {
  NvmlApi api{};
  std::string why;
};

// Returns the name of a function that is needed and not there, or null.
const char* load_all(const DynamicLibrary& library, NvmlApi& api) {
#define FOURTUNE_LOAD(name) \
  if (!library.load(#name, api.name)) return #name;
  FOURTUNE_LOAD(nvmlInit_v2)
  FOURTUNE_LOAD(nvmlDeviceGetHandleByPciBusId_v2)
  FOURTUNE_LOAD(nvmlErrorString)
#undef FOURTUNE_LOAD
  library.load("nvmlDeviceGetClockInfo", api.nvmlDeviceGetClockInfo);
  library.load("nvmlDeviceGetMaxClockInfo", api.nvmlDeviceGetMaxClockInfo);
  library.load("nvmlDeviceGetEnforcedPowerLimit", api.nvmlDeviceGetEnforcedPowerLimit);
  library.load("nvmlDeviceGetPowerUsage", api.nvmlDeviceGetPowerUsage);
  library.load("nvmlDeviceGetTemperature", api.nvmlDeviceGetTemperature);
  library.load("nvmlDeviceGetTotalEnergyConsumption", api.nvmlDeviceGetTotalEnergyConsumption);
  // Renamed in release 535; the old name is the one that every release has.
  if (!library.load("nvmlDeviceGetCurrentClocksThrottleReasons", api.nvmlDeviceGetCurrentClocksThrottleReasons))
    library.load("nvmlDeviceGetCurrentClocksEventReasons", api.nvmlDeviceGetCurrentClocksThrottleReasons);
  return nullptr;
}

const LoadedNvml& loaded_nvml() {
  static const LoadedNvml& loaded = *[] {
    auto* const made = new LoadedNvml;  // outlives all sensors
    std::vector<std::string> names{"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
    if (const char* forced = std::getenv("FOURTUNE_NVML"); forced && *forced) names = {forced};
    const DynamicLibrary library = DynamicLibrary::open(names);
    if (library.empty())
      made->why =
          fmt::format("no NVML: {} cannot be loaded ({}); it comes with NVIDIA's driver", names.front(), library.why());
    else if (const char* missing = load_all(library, made->api))
      made->why = fmt::format("NVML at {} has no {}", library.path(), missing);
    else if (const int result = made->api.nvmlInit_v2(); result != 0)
      made->why = fmt::format("NVML does not start: {}", made->api.nvmlErrorString(result));
    return made;
  }();
  return loaded;
}

// "00000000:1B:00.0", from the device's attributes, so that it does not depend on CUDA_VISIBLE_DEVICES.
std::string bus_of(int ordinal) {
  const DriverApi& api = driver();
  CUdevice device = 0;
  check(api.cuDeviceGet(&device, ordinal), "finding the GPU");
  const auto place = [&](CUdevice_attribute attribute) {
    int value = 0;
    check(api.cuDeviceGetAttribute(&value, attribute, device), "asking for the GPU's place on the bus");
    return value;
  };
  return fmt::format("{:08X}:{:02X}:{:02X}.0", place(kPciDomain), place(kPciBus), place(kPciDevice));
}

class NvmlSensors final : public DeviceSensors {
 public:
  NvmlSensors(const NvmlApi& api, nvmlDevice_t device) : api_(api), device_(device) {}
  DeviceState read() override {
    constexpr int kSensorOfGpu = 0;
    DeviceState state;
    state.clock_mhz = number(api_.nvmlDeviceGetClockInfo, kClockOfMultiprocessors);
    state.memory_clock_mhz = number(api_.nvmlDeviceGetClockInfo, kClockOfMemory);
    state.watts = watts(api_.nvmlDeviceGetPowerUsage);
    state.celsius = number(api_.nvmlDeviceGetTemperature, kSensorOfGpu);
    state.limits = limits();
    return state;
  }
  DeviceMaxima maxima() override {
    return {number(api_.nvmlDeviceGetMaxClockInfo, kClockOfMultiprocessors),
            number(api_.nvmlDeviceGetMaxClockInfo, kClockOfMemory), watts(api_.nvmlDeviceGetEnforcedPowerLimit)};
  }
  bool slowed() override {
    DeviceState state;
    state.limits = limits();
    return state.slowed();
  }
  std::optional<double> joules() override {
    unsigned long long millijoules = 0;
    if (!api_.nvmlDeviceGetTotalEnergyConsumption ||
        api_.nvmlDeviceGetTotalEnergyConsumption(device_, &millijoules) != 0)
      return std::nullopt;
    return static_cast<double>(millijoules) * 1e-3;
  }

 private:
  static constexpr int kClockOfMultiprocessors = 1, kClockOfMemory = 2;

  template <class Ask>
  std::optional<double> watts(Ask ask) {
    const std::optional<int> milliwatts = number(ask);
    return milliwatts ? std::optional(*milliwatts * 1e-3) : std::nullopt;
  }
  // Asks for one number; which: of several.
  template <class Ask, class... Which>
  std::optional<int> number(Ask ask, Which... which) {
    unsigned value = 0;
    if (!ask || ask(device_, which..., &value) != 0) return std::nullopt;
    return static_cast<int>(value);
  }
  // Idle clocks and clocks that somebody has set are no limits: that is how the device is used here.
  std::vector<std::string> limits() {
    static constexpr std::array<std::pair<unsigned long long, const char*>, 5> kReasons{
        {{0x4, "power"}, {0x8, "hardware"}, {0x20, "heat"}, {0x40, "heat"}, {0x80, "brake"}}};
    unsigned long long reasons = 0;
    if (!api_.nvmlDeviceGetCurrentClocksThrottleReasons ||
        api_.nvmlDeviceGetCurrentClocksThrottleReasons(device_, &reasons) != 0)
      return {};
    std::vector<std::string> names;
    for (const auto& [bit, name] : kReasons)
      if ((reasons & bit) && (names.empty() || names.back() != name)) names.emplace_back(name);
    return names;
  }

  const NvmlApi& api_;
  nvmlDevice_t device_;
};

}  // namespace

std::string why_no_nvml() { return loaded_nvml().why; }

std::unique_ptr<DeviceSensors> nvml_sensors(int ordinal) {
  const LoadedNvml& loaded = loaded_nvml();
  if (!loaded.why.empty()) throw Error(Status::backend_unavailable, loaded.why);
  const std::string bus = bus_of(ordinal);
  nvmlDevice_t device = nullptr;
  if (const int result = loaded.api.nvmlDeviceGetHandleByPciBusId_v2(bus.c_str(), &device); result != 0)
    throw Error(Status::backend_unavailable,
                fmt::format("NVML does not know the GPU at {}: {}", bus, loaded.api.nvmlErrorString(result)));
  return std::make_unique<NvmlSensors>(loaded.api, device);
}

}  // namespace fourtune::runtime::cuda
