// The part of the CUDA driver interface that we use, declared here so that no CUDA header is needed to build, and
// loaded from libcuda.so.1 on first use. Types, values and layouts are those of NVIDIA's documentation, "CUDA Driver
// API" (versions 11.8 to 13).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fourtune::runtime::cuda {

using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_STUB_LIBRARY = 34,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_SOURCE = 300,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
  CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
};
enum CUdevice_attribute : int {
  kClockRate = 13,  // kHz
  kMultiprocessors = 16,
  kPciBus = 33,
  kPciDevice = 34,
  kMemoryClockRate = 36,  // kHz
  kMemoryBusWidth = 37,   // bits
  kL2CacheBytes = 38,
  kThreadsPerMultiprocessor = 39,
  kPciDomain = 50,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kSharedPerBlockOptin = 97,
  kClusterLaunch = 120,
};
enum CUfunction_attribute : int {
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,  // per thread: stack and spills
  kFunctionRegisters = 4,
  kFunctionMaxDynamicShared = 8,
  kFunctionNonPortableCluster = 14,
};
// 64 bytes in every version; only the member that we use is declared.
union CUlaunchAttributeValue {
  char pad[64];
  int programmatic_serialization;  // 1: may start once the preceding kernel allows it
  struct {
    unsigned x, y, z;
  } cluster;
};
inline constexpr int kLaunchAttributeCluster = 4, kLaunchAttributeProgrammaticSerialization = 6;
struct CUlaunchAttribute {
  int id;
  char pad[4];
  CUlaunchAttributeValue value;
};
struct CUlaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  CUstream stream;
  CUlaunchAttribute* attributes;
  unsigned attribute_count;
};
// CUDA_KERNEL_NODE_PARAMS_v2 and CUgraphEdgeData.
struct CUkernelNodeParams {
  CUfunction function;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  void** arguments;
  void** extra;
  void* kernel;  // used instead of the function
  CUcontext context;
};
struct CUgraphEdgeData {
  unsigned char from_port, to_port, type;  // for ports and types, 0 is ordinary and 1 programmatic
  unsigned char reserved[5];
};
// CUDA_MEMCPY2D.
struct CUmemcpy2D {
  std::size_t from_x, from_y;
  int from_type;
  const void* from_host;
  CUdeviceptr from;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  int to_type;
  void* to_host;
  CUdeviceptr to;
  void* to_array;
  std::size_t to_pitch;
  std::size_t width, height;
};
static_assert(sizeof(CUmemcpy2D) == 128);
static_assert(sizeof(CUkernelNodeParams) == 72 && sizeof(CUgraphEdgeData) == 8);
static_assert(sizeof(CUlaunchAttribute) == 72 && sizeof(CUlaunchConfig) == 56);

struct CUipcMemHandle {
  std::array<unsigned char, 64> bytes;
};

// Pointers to the driver's functions. Those not marked below are always present, or driver() throws.
struct DriverApi {
  CUresult (*cuInit)(unsigned);
  CUresult (*cuDriverGetVersion)(int*);
  CUresult (*cuDeviceGetCount)(int*);
  CUresult (*cuDeviceGet)(CUdevice*, int);
  CUresult (*cuDeviceGetName)(char*, int, CUdevice);
  CUresult (*cuDeviceGetAttribute)(int*, CUdevice_attribute, CUdevice);
  CUresult (*cuDeviceTotalMem)(std::size_t*, CUdevice);
  CUresult (*cuDevicePrimaryCtxRetain)(CUcontext*, CUdevice);
  CUresult (*cuDevicePrimaryCtxRelease)(CUdevice);
  CUresult (*cuCtxPushCurrent)(CUcontext);
  CUresult (*cuCtxPopCurrent)(CUcontext*);
  CUresult (*cuCtxGetCurrent)(CUcontext*);
  CUresult (*cuModuleLoadData)(CUmodule*, const void*);
  CUresult (*cuModuleUnload)(CUmodule);
  CUresult (*cuModuleGetFunction)(CUfunction*, CUmodule, const char*);
  CUresult (*cuFuncGetAttribute)(int*, CUfunction_attribute, CUfunction);
  CUresult (*cuFuncSetAttribute)(CUfunction, CUfunction_attribute, int);
  CUresult (*cuLaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                             void**, void**);
  CUresult (*cuLaunchKernelEx)(const CUlaunchConfig*, CUfunction, void**, void**);  // null before 11.8
  CUresult (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int*, CUfunction, int, std::size_t);
  CUresult (*cuMemGetInfo)(std::size_t*, std::size_t*);
  CUresult (*cuDeviceGetDefaultMemPool)(CUmemoryPool*, CUdevice);  // this one and the next may be null
  CUresult (*cuMemPoolTrimTo)(CUmemoryPool, std::size_t);
  CUresult (*cuMemAlloc)(CUdeviceptr*, std::size_t);
  CUresult (*cuMemFree)(CUdeviceptr);
  CUresult (*cuMemAllocHost)(void**, std::size_t);  // this one and the next may be null
  CUresult (*cuMemFreeHost)(void*);
  CUresult (*cuMemcpyHtoDAsync)(CUdeviceptr, const void*, std::size_t, CUstream);
  CUresult (*cuMemcpyDtoHAsync)(void*, CUdeviceptr, std::size_t, CUstream);
  CUresult (*cuMemcpyDtoDAsync)(CUdeviceptr, CUdeviceptr, std::size_t, CUstream);
  CUresult (*cuMemcpyAsync)(CUdeviceptr, CUdeviceptr, std::size_t, CUstream);  // this one and the next may be null
  CUresult (*cuMemcpy2DAsync)(const CUmemcpy2D*, CUstream);
  CUresult (*cuDeviceGetUuid)(unsigned char*, CUdevice);        // 16 bytes; may be null
  CUresult (*cuDeviceCanAccessPeer)(int*, CUdevice, CUdevice);  // this one and the next may be null
  CUresult (*cuCtxEnablePeerAccess)(CUcontext, unsigned);
  CUresult (*cuIpcGetMemHandle)(CUipcMemHandle*, CUdeviceptr);  // this one and the next two may be null
  CUresult (*cuIpcOpenMemHandle)(CUdeviceptr*, CUipcMemHandle, unsigned);
  CUresult (*cuIpcCloseMemHandle)(CUdeviceptr);
  CUresult (*cuMemsetD8Async)(CUdeviceptr, unsigned char, std::size_t, CUstream);
  CUresult (*cuStreamCreate)(CUstream*, unsigned);
  CUresult (*cuStreamCreateWithPriority)(CUstream*, unsigned, int);  // may be null
  CUresult (*cuStreamDestroy)(CUstream);
  CUresult (*cuStreamSynchronize)(CUstream);
  CUresult (*cuStreamWaitEvent)(CUstream, CUevent, unsigned);
  CUresult (*cuEventCreate)(CUevent*, unsigned);
  CUresult (*cuEventDestroy)(CUevent);
  CUresult (*cuEventRecord)(CUevent, CUstream);
  CUresult (*cuEventSynchronize)(CUevent);
  CUresult (*cuEventElapsedTime)(float*, CUevent, CUevent);  // ms
  CUresult (*cuPointerGetAttribute)(void*, int, CUdeviceptr);
  CUresult (*cuStreamIsCapturing)(CUstream, int*);      // may be null; 0 means no
  CUresult (*cuThreadExchangeStreamCaptureMode)(int*);  // this one and the next two may be null
  CUresult (*cuCtxGetDevice)(CUdevice*);
  CUresult (*cuDevicePrimaryCtxGetState)(CUdevice, unsigned* flags, int* active);
  // Graphs: either all of these are present, or has_graphs is false.
  CUresult (*cuGraphCreate)(CUgraph*, unsigned);
  CUresult (*cuGraphDestroy)(CUgraph);
  CUresult (*cuGraphAddKernelNode)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUkernelNodeParams*);
  CUresult (*cuGraphAddDependencies)(CUgraph, const CUgraphNode*, const CUgraphNode*, const CUgraphEdgeData*,
                                     std::size_t);
  CUresult (*cuGraphKernelNodeSetAttribute)(CUgraphNode, int, const CUlaunchAttributeValue*);
  CUresult (*cuGraphInstantiate)(CUgraphExec*, CUgraph, unsigned long long);
  CUresult (*cuGraphExecKernelNodeSetParams)(CUgraphExec, CUgraphNode, const CUkernelNodeParams*);
  CUresult (*cuGraphLaunch)(CUgraphExec, CUstream);
  CUresult (*cuGraphExecDestroy)(CUgraphExec);
  bool has_graphs = false;
  // Recording what a library puts on a stream (CUDA 12.4): either all of these are present, or has_captures is false.
  CUresult (*cuStreamBeginCapture)(CUstream, int mode);
  CUresult (*cuStreamEndCapture)(CUstream, CUgraph*);
  CUresult (*cuGraphGetNodes)(CUgraph, CUgraphNode*, std::size_t*);
  CUresult (*cuGraphNodeGetType)(CUgraphNode, int*);  // 0: a kernel
  CUresult (*cuGraphKernelNodeGetParams)(CUgraphNode, CUkernelNodeParams*);
  CUresult (*cuFuncGetParamInfo)(CUfunction, std::size_t index, std::size_t* offset, std::size_t* bytes);
  CUresult (*cuKernelGetParamInfo)(void* kernel, std::size_t index, std::size_t* offset, std::size_t* bytes);
  bool has_captures = false;
  CUresult (*cuGetErrorName)(CUresult, const char**);
  CUresult (*cuGetErrorString)(CUresult, const char**);
  int version = 0;  // 1000 major + 10 minor of the newest CUDA that the driver supports
  std::string path;
};

// Loaded and initialised once. Throws Error{backend_unavailable} that says whether there is no driver, no device, or
// too old a driver. May be called from any thread. In a process forked since then, every function fails and check()
// throws Error{backend_unavailable}.
const DriverApi& driver();
// The reason why driver() throws; empty when it does not.
std::string why_no_driver();

// Throws an Error with the driver's name and description of the code: out_of_memory for memory, unsupported for a
// kernel that the device or the driver cannot load, otherwise internal. `what` says what was tried.
void check(CUresult result, const char* what);

}  // namespace fourtune::runtime::cuda
