#include "runtime/backends/cuda/driver_api.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "fourtune/status.h"
#include "runtime/backends/cuda/dynamic_library.h"

namespace fourtune::runtime::cuda {
namespace {

// Every function by its symbol. The _v2 names are the ones to which the CUDA headers have referred since version 3.2 or
// 4.0.
template <class Visit>
void each_required(DriverApi& api, const Visit& visit) {
  visit("cuInit", api.cuInit);
  visit("cuDriverGetVersion", api.cuDriverGetVersion);
  visit("cuDeviceGetCount", api.cuDeviceGetCount);
  visit("cuDeviceGet", api.cuDeviceGet);
  visit("cuDeviceGetName", api.cuDeviceGetName);
  visit("cuDeviceGetAttribute", api.cuDeviceGetAttribute);
  visit("cuDeviceTotalMem_v2", api.cuDeviceTotalMem);
  visit("cuDevicePrimaryCtxRetain", api.cuDevicePrimaryCtxRetain);
  visit("cuDevicePrimaryCtxRelease_v2", api.cuDevicePrimaryCtxRelease);
  visit("cuCtxPushCurrent_v2", api.cuCtxPushCurrent);
  visit("cuCtxPopCurrent_v2", api.cuCtxPopCurrent);
  visit("cuCtxGetCurrent", api.cuCtxGetCurrent);
  visit("cuModuleLoadData", api.cuModuleLoadData);
  visit("cuModuleUnload", api.cuModuleUnload);
  visit("cuModuleGetFunction", api.cuModuleGetFunction);
  visit("cuFuncGetAttribute", api.cuFuncGetAttribute);
  visit("cuFuncSetAttribute", api.cuFuncSetAttribute);
  visit("cuLaunchKernel", api.cuLaunchKernel);
  visit("cuOccupancyMaxActiveBlocksPerMultiprocessor", api.cuOccupancyMaxActiveBlocksPerMultiprocessor);
  visit("cuMemGetInfo_v2", api.cuMemGetInfo);
  visit("cuMemAlloc_v2", api.cuMemAlloc);
  visit("cuMemFree_v2", api.cuMemFree);
  visit("cuMemcpyHtoDAsync_v2", api.cuMemcpyHtoDAsync);
  visit("cuMemcpyDtoHAsync_v2", api.cuMemcpyDtoHAsync);
  visit("cuMemcpyDtoDAsync_v2", api.cuMemcpyDtoDAsync);
  visit("cuMemsetD8Async", api.cuMemsetD8Async);
  visit("cuStreamCreate", api.cuStreamCreate);
  visit("cuStreamDestroy_v2", api.cuStreamDestroy);
  visit("cuStreamSynchronize", api.cuStreamSynchronize);
  visit("cuStreamWaitEvent", api.cuStreamWaitEvent);
  visit("cuEventCreate", api.cuEventCreate);
  visit("cuEventDestroy_v2", api.cuEventDestroy);
  visit("cuEventRecord", api.cuEventRecord);
  visit("cuEventSynchronize", api.cuEventSynchronize);
  visit("cuEventElapsedTime", api.cuEventElapsedTime);
  visit("cuPointerGetAttribute", api.cuPointerGetAttribute);
  visit("cuGetErrorName", api.cuGetErrorName);
  visit("cuGetErrorString", api.cuGetErrorString);
}
template <class Visit>
void each_optional(DriverApi& api, const Visit& visit) {
  visit("cuLaunchKernelEx", api.cuLaunchKernelEx);
  visit("cuDeviceGetDefaultMemPool", api.cuDeviceGetDefaultMemPool);
  visit("cuMemPoolTrimTo", api.cuMemPoolTrimTo);
  visit("cuMemcpyAsync", api.cuMemcpyAsync);
  visit("cuMemcpy2DAsync_v2", api.cuMemcpy2DAsync);
  visit("cuDeviceGetUuid_v2", api.cuDeviceGetUuid);
  visit("cuDeviceCanAccessPeer", api.cuDeviceCanAccessPeer);
  visit("cuCtxEnablePeerAccess", api.cuCtxEnablePeerAccess);
  visit("cuIpcGetMemHandle", api.cuIpcGetMemHandle);
  visit("cuIpcOpenMemHandle_v2", api.cuIpcOpenMemHandle);
  visit("cuIpcCloseMemHandle", api.cuIpcCloseMemHandle);
  visit("cuStreamCreateWithPriority", api.cuStreamCreateWithPriority);
  visit("cuMemFreeHost", api.cuMemFreeHost);
  visit("cuMemAllocHost_v2", api.cuMemAllocHost);
  visit("cuStreamIsCapturing", api.cuStreamIsCapturing);
  visit("cuThreadExchangeStreamCaptureMode", api.cuThreadExchangeStreamCaptureMode);
  visit("cuCtxGetDevice", api.cuCtxGetDevice);
  visit("cuDevicePrimaryCtxGetState", api.cuDevicePrimaryCtxGetState);
}
template <class Visit>
void each_of_graphs(DriverApi& api, const Visit& visit) {
  visit("cuGraphCreate", api.cuGraphCreate);
  visit("cuGraphDestroy", api.cuGraphDestroy);
  visit("cuGraphAddKernelNode_v2", api.cuGraphAddKernelNode);
  visit("cuGraphAddDependencies_v2", api.cuGraphAddDependencies);
  visit("cuGraphKernelNodeSetAttribute", api.cuGraphKernelNodeSetAttribute);
  visit("cuGraphInstantiateWithFlags", api.cuGraphInstantiate);
  visit("cuGraphExecKernelNodeSetParams_v2", api.cuGraphExecKernelNodeSetParams);
  visit("cuGraphLaunch", api.cuGraphLaunch);
  visit("cuGraphExecDestroy", api.cuGraphExecDestroy);
}
template <class Visit>
void each_of_captures(DriverApi& api, const Visit& visit) {
  visit("cuStreamBeginCapture_v2", api.cuStreamBeginCapture);
  visit("cuStreamEndCapture", api.cuStreamEndCapture);
  visit("cuGraphGetNodes", api.cuGraphGetNodes);
  visit("cuGraphNodeGetType", api.cuGraphNodeGetType);
  visit("cuGraphKernelNodeGetParams_v2", api.cuGraphKernelNodeGetParams);
  visit("cuFuncGetParamInfo", api.cuFuncGetParamInfo);
  visit("cuKernelGetParamInfo", api.cuKernelGetParamInfo);
}

// Returns the symbol of a required function that is not there, or null.
const char* load_all(const DynamicLibrary& library, DriverApi& api) {
  const char* missing = nullptr;
  each_required(api, [&](const char* symbol, auto& function) {
    if (!library.load(symbol, function) && !missing) missing = symbol;
  });
  each_optional(api, [&](const char* symbol, auto& function) { library.load(symbol, function); });
  if (!api.cuMemFreeHost) api.cuMemAllocHost = nullptr;
  if (!api.cuIpcOpenMemHandle || !api.cuIpcCloseMemHandle) api.cuIpcGetMemHandle = nullptr;
  api.has_graphs = true;
  each_of_graphs(api, [&](const char* symbol, auto& function) {
    api.has_graphs = library.load(symbol, function) && api.has_graphs;
  });
  api.has_captures = api.has_graphs;
  each_of_captures(api, [&](const char* symbol, auto& function) {
    api.has_captures = library.load(symbol, function) && api.has_captures;
  });
  return missing;
}

std::string name_of(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  const char* words = nullptr;
  if (api.cuGetErrorName) api.cuGetErrorName(result, &name);
  if (api.cuGetErrorString) api.cuGetErrorString(result, &words);
  return fmt::format("{} ({})", name ? name : fmt::format("CUDA error {}", static_cast<int>(result)),
                     words ? words : "no description");
}

struct LoadedDriver {
  DriverApi api{};
  std::string why;  // empty when usable
};

LoadedDriver load_driver() {
  LoadedDriver loaded;
  DriverApi& api = loaded.api;
  std::vector<std::string> names{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
  if (const char* forced = std::getenv("FOURTUNE_CUDA_DRIVER"); forced && *forced) names = {forced};
  const DynamicLibrary library = DynamicLibrary::open(names);
  if (library.empty()) {
    loaded.why = fmt::format(
        "no NVIDIA driver: {} cannot be loaded ({}); install the driver, or set "
        "LD_LIBRARY_PATH to its folder",
        names.front(), library.why());
    return loaded;
  }
  api.path = library.path();
  if (const char* missing = load_all(library, api)) {
    loaded.why = fmt::format("the NVIDIA driver at {} is too old: it has no {}; CUDA 11.8 or later is needed",
                             library.path(), missing);
    return loaded;
  }
  if (const CUresult result = api.cuInit(0); result != CUDA_SUCCESS) {
    loaded.why = result == CUDA_ERROR_NO_DEVICE
                     ? std::string("an NVIDIA driver, but no GPU that this process may use (CUDA_VISIBLE_DEVICES?)")
                     : fmt::format("the NVIDIA driver does not start: {}", name_of(api, result));
    return loaded;
  }
  api.cuDriverGetVersion(&api.version);
  int count = 0;
  if (api.cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0)
    loaded.why = "an NVIDIA driver, but no GPU that this process may use (CUDA_VISIBLE_DEVICES?)";
  return loaded;
}

// A process forked from one that uses the GPU cannot use it: the driver's threads and memory maps belong to the parent.
// In the child every function fails, so handles made before the fork are dropped without affecting the parent's.
constexpr auto kForked = static_cast<CUresult>(3);  // CUDA_ERROR_NOT_INITIALIZED, as the driver mostly returns
constexpr const char* kWhyForked =
    "this process was forked from one that had begun to use the GPU, and CUDA works only there: fork before the first "
    "use of the GPU, start a new program, or use the backend cpu";
std::atomic<LoadedDriver*> driver_in_use{nullptr};
std::atomic<bool> forked{false};

template <class... Arguments>
void refuse(CUresult (*&function)(Arguments...)) {
  function = [](Arguments...) { return kForked; };
}

void refuse_all(DriverApi& api) {
  const auto one = [](const char*, auto& function) { refuse(function); };
  each_required(api, one);
  each_optional(api, one);
  each_of_graphs(api, one);
  each_of_captures(api, one);
}

const int fork_handler = pthread_atfork(nullptr, nullptr, [] {
  if (LoadedDriver* const loaded = driver_in_use.load()) {
    refuse_all(loaded->api);
    forked = true;
  }
});

const LoadedDriver& loaded_driver() {
  static const LoadedDriver& loaded = []() -> const LoadedDriver& {
    auto* const made = new LoadedDriver(load_driver());  // outlives every owner of a handle
    if (made->why.empty()) driver_in_use = made;
    return *made;
  }();
  return loaded;
}

// Errors after which a context answers every call with the same error: kernel faults and hardware faults.
bool loses_context(CUresult result) {
  constexpr int errors[] = {
      214 /* ECC */,           700 /* address */,         702 /* timeout */,     709 /* destroyed */,
      710 /* assert */,        714 /* stack */,           715 /* instruction */, 716 /* alignment */,
      717 /* address space */, 718 /* program counter */, 719 /* launch */,      721 /* contained */};
  return std::find(std::begin(errors), std::end(errors), static_cast<int>(result)) != std::end(errors);
}

}  // namespace

std::string why_no_driver() {
  const LoadedDriver& loaded = loaded_driver();
  return forked ? kWhyForked : loaded.why;
}

const DriverApi& driver() {
  const LoadedDriver& loaded = loaded_driver();
  if (!loaded.why.empty()) throw Error(Status::backend_unavailable, loaded.why);
  return loaded.api;
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  if (forked) throw Error(Status::backend_unavailable, fmt::format("{}: {}", what, kWhyForked));
  const std::string name = name_of(loaded_driver().api, result);
  if (loses_context(result))
    throw Error(
        Status::backend_unavailable,
        fmt::format("{}: {}; the GPU's context is lost, by this or an earlier kernel of the process: every further "
                    "call on this GPU fails, only a new process goes on",
                    what, name));
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      throw Error(Status::out_of_memory, fmt::format("{}: the GPU has not enough free memory", what));
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      throw Error(Status::unsupported,
                  fmt::format("{}: {}; the driver is for CUDA {}.{}, older than the compiler: update the driver or use "
                              "NVRTC of that version",
                              what, name, loaded_driver().api.version / 1000, loaded_driver().api.version % 1000 / 10));
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      throw Error(Status::unsupported, fmt::format("{}: {}; the kernel was compiled for another GPU", what, name));
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      throw Error(Status::unsupported,
                  fmt::format("{}: {}; the kernel needs more registers, shared memory or cluster blocks than the GPU "
                              "has",
                              what, name));
    default:
      throw Error(Status::internal, fmt::format("{}: {}", what, name));
  }
}

}  // namespace fourtune::runtime::cuda
