// What an emitted program, examples/quickstart_cuda.cpp and cuda_streams.cpp call of CUDA's runtime, for the emulated
// device: emulated_emit_test.cpp provides memory and launches.
#pragma once

#include <cstddef>
#include <cstring>

typedef int cudaError_t;
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum { cudaStreamNonBlocking = 1 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaLaunchAttributeClusterDimension = 4 };
typedef void* cudaStream_t;
typedef int* cudaEvent_t;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct cudaLaunchAttribute {
  int id;
  struct {
    dim3 clusterDim;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

struct EmulatedCuda {
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* memory);
  void (*allow_shared)(const void* kernel, int bytes);
  void (*launch)(const cudaLaunchConfig_t& config, const void* kernel, void** arguments);
};
extern "C" EmulatedCuda emulated_cuda;

inline const char* cudaGetErrorString(cudaError_t) { return "emulated"; }
inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = emulated_cuda.allocate(bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void* memory) {
  if (memory) emulated_cuda.release(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaFuncSetAttribute(const void* kernel, int, int bytes) {
  emulated_cuda.allow_shared(kernel, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  emulated_cuda.launch(*config, kernel, arguments);
  return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new int;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  *memory = new char[bytes];
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* memory) {
  delete[] static_cast<char*>(memory);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
