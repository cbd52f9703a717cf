// A CUDA driver without a GPU: device memory is host memory, launches are counted, and the next result of some calls
// can be chosen. Built as a module that the driver test loads instead of libcuda.so.1.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
int fake_lost_result;  // of everything that a lost context refuses
int fake_load_result, fake_alloc_result, fake_launch_result, fake_optin_result;
int fake_capture_status, fake_graph_result;
int fake_graphs, fake_graph_launches, fake_node_updates, fake_overlapping, fake_overlapping_edges;
int fake_allocations, fake_waits, fake_launches, fake_cluster_launches, fake_pushed, fake_retained, fake_modules;
unsigned fake_last_shared;
void* fake_last_stream;

Result cuInit(unsigned flags) { return (void)flags, 0; }
Result cuDriverGetVersion(int* version) { return *version = 13000, 0; }
Result cuDeviceGetCount(int* count) { return *count = 1, 0; }
Result cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
Result cuDeviceGetName(char* name, int size, int device) {
  return (void)device, strncpy(name, "Fake H200", (size_t)size), 0;
}
Result cuDeviceGetAttribute(int* value, int which, int device) {
  (void)device;
  switch (which) {
    case 13:
      *value = 1980000;
      break;
    case 16:
      *value = 132;
      break;
    case 36:
      *value = 3201000;
      break;
    case 37:
      *value = 6016;
      break;
    case 38:
      *value = 62914560;
      break;
    case 39:
      *value = 2048;
      break;
    case 75:
      *value = 9;
      break;
    case 76:
      *value = 0;
      break;
    case 81:
      *value = 233472;
      break;
    case 82:
      *value = 65536;
      break;
    case 97:
      *value = 232448;
      break;
    case 120:
      *value = 1;
      break;
    default:
      return 1;
  }
  return 0;
}
Result cuDeviceTotalMem_v2(size_t* bytes, int device) { return (void)device, *bytes = (size_t)140 << 30, 0; }
Result cuDevicePrimaryCtxRetain(void** context, int device) {
  return (void)device, ++fake_retained, *context = &fake_retained, 0;
}
Result cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, --fake_retained, 0; }
Result cuCtxPushCurrent_v2(void* context) { return (void)context, ++fake_pushed, 0; }
Result cuCtxPopCurrent_v2(void** context) { return *context = &fake_retained, --fake_pushed, 0; }
Result cuCtxGetCurrent(void** context) { return *context = fake_pushed > 0 ? (void*)&fake_retained : NULL, 0; }
Result cuModuleLoadData(void** module, const void* image) {
  (void)image;
  if (fake_lost_result) return fake_lost_result;
  if (fake_load_result) return fake_load_result;
  return ++fake_modules, *module = &fake_modules, 0;
}
Result cuModuleUnload(void* module) { return (void)module, --fake_modules, fake_lost_result; }
Result cuModuleGetFunction(void** function, void* module, const char* name) {
  return (void)module, (void)name, *function = &fake_launches, 0;
}
Result cuFuncGetAttribute(int* value, int which, void* function) {
  return (void)function, *value = which == 4 ? 40 : 0, 0;
}
Result cuFuncSetAttribute(void* function, int which, int value) {
  return (void)function, (void)which, (void)value, fake_optin_result;
}
Result cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void* stream, void** arguments, void** extra) {
  (void)function, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)arguments, (void)extra;
  return ++fake_launches, fake_last_shared = shared, fake_last_stream = stream,
                          fake_lost_result ? fake_lost_result : fake_launch_result;
}
struct Config {
  unsigned grid[3], block[3], shared;
  void* stream;
  struct {
    int id;
    char pad[4];
    unsigned x, y, z;
    char rest[52];
  } * attributes;
  unsigned count;
};
Result cuLaunchKernelEx(const struct Config* config, void* function, void** arguments, void** extra) {
  (void)function, (void)arguments, (void)extra;
  for (unsigned i = 0; i < config->count; ++i) {
    if (config->attributes[i].id == 4 && config->attributes[i].x == 2) ++fake_cluster_launches;
    if (config->attributes[i].id == 6 && config->attributes[i].x == 1) ++fake_overlapping;
  }
  return ++fake_launches, fake_last_shared = config->shared, fake_last_stream = config->stream, fake_launch_result;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t shared) {
  return (void)function, (void)threads, (void)shared, *blocks = 3, 0;
}
Result cuMemGetInfo_v2(size_t* available, size_t* total) { return *available = 12345, *total = 54321, 0; }
Result cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (fake_lost_result) return fake_lost_result;
  if (fake_alloc_result) return fake_alloc_result;
  void* const memory = malloc(bytes);
  if (memory) memset(memory, 255, bytes);  // for a sort that never runs: no bad point
  return ++fake_allocations, *address = (uint64_t)(uintptr_t)memory, 0;
}
Result cuMemFree_v2(uint64_t address) { return free((void*)(uintptr_t)address), --fake_allocations, fake_lost_result; }
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  return (void)stream, memcpy((void*)(uintptr_t)to, from, bytes), 0;
}
Result cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  return (void)stream, memcpy(to, (void*)(uintptr_t)from, bytes), 0;
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return (void)stream, memcpy((void*)(uintptr_t)to, (void*)(uintptr_t)from, bytes), 0;
}
Result cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) {
  return (void)stream, memset((void*)(uintptr_t)to, value, bytes), 0;
}
Result cuStreamCreate(void** stream, unsigned flags) { return (void)flags, *stream = malloc(1), 0; }
Result cuStreamDestroy_v2(void* stream) { return free(stream), 0; }
Result cuStreamSynchronize(void* stream) { return (void)stream, ++fake_waits, fake_lost_result; }
Result cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return (void)stream, (void)event, (void)flags, 0;
}
Result cuEventCreate(void** event, unsigned flags) { return (void)flags, *event = malloc(1), 0; }
Result cuEventDestroy_v2(void* event) { return free(event), 0; }
Result cuEventRecord(void* event, void* stream) { return (void)event, (void)stream, 0; }
Result cuEventSynchronize(void* event) { return (void)event, ++fake_waits, 0; }
Result cuEventElapsedTime(float* ms, void* first, void* second) { return (void)first, (void)second, *ms = 2, 0; }
Result cuStreamIsCapturing(void* stream, int* status) { return (void)stream, *status = fake_capture_status, 0; }
// A graph is the number of its nodes; a node, and an executable graph, are the graph.
Result cuGraphCreate(int** graph, unsigned flags) {
  return (void)flags, ++fake_graphs, *graph = calloc(1, sizeof(int)), fake_graph_result;
}
Result cuGraphDestroy(int* graph) { return free(graph), --fake_graphs, 0; }
Result cuGraphAddKernelNode_v2(int** node, int* graph, void** before, size_t count, const void* with) {
  return (void)before, (void)count, (void)with, ++*graph, *node = graph, 0;
}
Result cuGraphAddDependencies_v2(int* graph, int** from, int** to, const unsigned char* edge, size_t count) {
  return (void)graph, (void)from, (void)to, fake_overlapping_edges += edge[0] == 1 && edge[2] == 1, count != 1;
}
Result cuGraphKernelNodeSetAttribute(int* node, int id, const unsigned* value) {
  return (void)node, fake_cluster_launches += id == 4 && value[0] == 2, 0;
}
Result cuGraphInstantiateWithFlags(int** exec, int* graph, unsigned long long flags) {
  return (void)flags, *exec = graph, 0;
}
Result cuGraphExecKernelNodeSetParams_v2(int* exec, int* node, const void* with) {
  return (void)exec, (void)node, (void)with, ++fake_node_updates, 0;
}
Result cuGraphLaunch(int* exec, void* stream) {
  fake_launches += *exec, fake_last_stream = stream, ++fake_graph_launches;
  return fake_launch_result;
}
Result cuGraphExecDestroy(int* exec) { return (void)exec, 0; }
// Odd addresses are "host memory".
Result cuPointerGetAttribute(void* value, int which, uint64_t address) {
  return (void)which, *(unsigned*)value = 2, address & 1 ? 1 : 0;
}
Result cuGetErrorName(Result result, const char** name) {
  return *name = result == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : "CUDA_ERROR_FAKE", 0;
}
Result cuGetErrorString(Result result, const char** text) { return (void)result, *text = "words of the driver", 0; }
