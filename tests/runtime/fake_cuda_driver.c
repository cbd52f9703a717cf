// A CUDA driver without a GPU: device memory is host memory, launches are counted, and the next result of some calls
// can be chosen. Built as a module that is loaded instead of libcuda.so.1. Environment:
//   FOURTUNE_FAKE_GPUS     devices in order, "h200,rtx4090"; unset: one h200
//   FOURTUNE_FAKE_GPU_FREE bytes of memory that are reported as free; unset: 12345
//   FOURTUNE_FAKE_GPU_LOG  a file to which every process adds a line "context 1", "memory 1", "kernel 1" when it first
//                          makes a context, takes memory or starts a kernel on a device, here device 1
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int Result;
enum { kMostDevices = 4 };
int fake_lost_result;  // the result of every call that a lost context refuses
int fake_load_result, fake_alloc_result, fake_launch_result, fake_optin_result;
int fake_capture_status, fake_graph_result;
int fake_captures;                // streams can be captured
int fake_node_type;               // of what is captured; 0: kernels
uint64_t fake_last_arguments[4];  // that a graph's node got: see cuFuncGetParamInfo
int fake_graphs, fake_graph_launches, fake_node_updates, fake_overlapping, fake_overlapping_edges;
int fake_stream_waits;  // of streams for events
int fake_allocations, fake_waits, fake_launches, fake_cluster_launches, fake_retained;
_Atomic int fake_pushed, fake_modules;  // kernels are loaded by several threads
int fake_peers;                         // the devices see each other's memory
int fake_starts;                        // starts of the driver
int fake_opened;                        // allocations of other processes
unsigned fake_last_shared, fake_last_block_x, fake_last_block_y, fake_last_block_z;
void* fake_last_stream;
// Per device: the present contexts and arrays, and all that ever existed.
int fake_contexts_of[kMostDevices], fake_allocations_of[kMostDevices];
int fake_all_contexts_of[kMostDevices], fake_all_allocations_of[kMostDevices], fake_all_launches_of[kMostDevices],
    fake_peers_of[kMostDevices];

struct Kind {
  const char *name, *full_name;
  int major, minor, multiprocessors, threads, shared_multiprocessor, shared_block, l2, bus, clusters;
  size_t gigabytes;
};
static const struct Kind kinds[] = {
    {"h200", "Fake H200", 9, 0, 132, 2048, 233472, 232448, 62914560, 6016, 1, 140},
    {"rtx4090", "Fake RTX 4090", 8, 9, 128, 1536, 102400, 101376, 75497472, 1264, 0, 24},
    {"small", "Fake small GPU", 8, 9, 8, 1536, 102400, 101376, 2097152, 128, 0, 2},
};
static const struct Kind* devices[kMostDevices] = {&kinds[0]};
static int device_number = 1;

static void read_devices(void) {
  const char* list = getenv("FOURTUNE_FAKE_GPUS");
  if (!list || !*list) return;
  device_number = 0;
  while (*list && device_number < kMostDevices) {
    const size_t length = strcspn(list, ",");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
      if (strlen(kinds[k].name) == length && strncmp(kinds[k].name, list, length) == 0)
        devices[device_number++] = &kinds[k];
    list += length + (list[length] == ',');
  }
}

// Once per process, kind of event and device.
static void note(const char* what, int device) {
  static char noted[3][kMostDevices];
  char* const done = &noted[*what == 'c' ? 0 : *what == 'm' ? 1 : 2][device];
  const char* const path = getenv("FOURTUNE_FAKE_GPU_LOG");
  if (*done || !path) return;
  *done = 1;
  char line[32];
  const size_t length = strlen(what);
  memcpy(line, what, length);
  line[length] = ' ', line[length + 1] = (char)('0' + device), line[length + 2] = '\n';
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0 || write(file, line, length + 3) < 0) abort();
  close(file);
}

// A context is the address of its device's counter. Each thread has a separate stack of them.
static __thread void* stack[32];
static __thread int depth;
static int current_device(void) { return depth > 0 ? (int)((int*)stack[depth - 1] - fake_contexts_of) : 0; }

Result cuInit(unsigned flags) { return (void)flags, ++fake_starts, read_devices(), 0; }
Result cuDriverGetVersion(int* version) { return *version = 13000, 0; }
Result cuDeviceGetCount(int* count) { return *count = device_number, 0; }
Result cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
Result cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  for (int i = 0; i < 16; ++i) uuid[i] = (unsigned char)(i + 16 * device);
  return 0;
}
Result cuDeviceCanAccessPeer(int* can, int device, int other) { return *can = device != other, 0; }
Result cuCtxEnablePeerAccess(void* context, unsigned flags) {
  return (void)flags, ++fake_peers_of[(int*)context - fake_contexts_of], 0;
}
Result cuDeviceGetName(char* name, int size, int device) {
  return strncpy(name, devices[device]->full_name, (size_t)size), 0;
}
Result cuDeviceGetAttribute(int* value, int which, int device) {
  const struct Kind* const kind = devices[device];
  switch (which) {
    case 13:
      return *value = 1980000, 0;
    case 16:
      return *value = kind->multiprocessors, 0;
    case 33:
      return *value = 0x17 + device, 0;
    case 34:
    case 50:
      return *value = 0, 0;
    case 36:
      return *value = 3201000, 0;
    case 37:
      return *value = kind->bus, 0;
    case 38:
      return *value = kind->l2, 0;
    case 39:
      return *value = kind->threads, 0;
    case 75:
      return *value = kind->major, 0;
    case 76:
      return *value = kind->minor, 0;
    case 81:
      return *value = kind->shared_multiprocessor, 0;
    case 82:
      return *value = 65536, 0;
    case 97:
      return *value = kind->shared_block, 0;
    case 120:
      return *value = kind->clusters, 0;
    default:
      return 1;
  }
}
Result cuDeviceTotalMem_v2(size_t* bytes, int device) { return *bytes = devices[device]->gigabytes << 30, 0; }
Result cuDevicePrimaryCtxRetain(void** context, int device) {
  note("context", device);
  return ++fake_retained, ++fake_all_contexts_of[device], ++fake_contexts_of[device],
         *context = &fake_contexts_of[device], 0;
}
Result cuDevicePrimaryCtxRelease_v2(int device) { return --fake_retained, --fake_contexts_of[device], 0; }
Result cuCtxPushCurrent_v2(void* context) {
  if (depth == sizeof stack / sizeof *stack) abort();
  return stack[depth++] = context, ++fake_pushed, 0;
}
Result cuCtxPopCurrent_v2(void** context) {
  if (depth == 0) return 201;
  return *context = stack[--depth], --fake_pushed, 0;
}
Result cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return *flags = 0, *active = fake_contexts_of[device] > 0, 0;
}
Result cuCtxGetDevice(int* device) { return depth == 0 ? 201 : (*device = current_device(), 0); }
static __thread int capture_mode;
Result cuThreadExchangeStreamCaptureMode(int* mode) {
  const int before = capture_mode;
  return capture_mode = *mode, *mode = before, 0;
}
Result cuCtxGetCurrent(void** context) { return *context = depth > 0 ? stack[depth - 1] : NULL, 0; }
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
// What a stream's launches become while it is captured: a graph that begins with the number of its nodes, as others do.
struct Node {
  void* function;
  unsigned grid[3], block[3], shared;
  uint64_t values[4];
  void* arguments[2];
};
struct Captured {
  int count;
  struct Node nodes[4];
};
static struct Captured* capturing;
static Result capture(void* function, const unsigned sizes[6], unsigned shared, void** arguments) {
  struct Node* const node = &capturing->nodes[capturing->count++];
  node->function = function, node->shared = shared;
  memcpy(node->grid, sizes, sizeof node->grid), memcpy(node->block, sizes + 3, sizeof node->block);
  memcpy(node->values, arguments[0], 8), memcpy(node->values + 1, arguments[1], 24);
  node->arguments[0] = node->values, node->arguments[1] = node->values + 1;
  return 0;
}
int fake_records;
// A launch, also one of a graph, takes as long as this number of records of events.
static void take_time(void) {
  const char* const records = getenv("FOURTUNE_FAKE_LAUNCH_RECORDS");
  if (records) fake_records += atoi(records);
}
Result cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void* stream, void** arguments, void** extra) {
  (void)extra;
  if (capturing) return capture(function, (const unsigned[6]){gx, gy, gz, bx, by, bz}, shared, arguments);
  fake_last_block_x = bx, fake_last_block_y = by, fake_last_block_z = bz;
  note("kernel", current_device());
  return take_time(), ++fake_launches, ++fake_all_launches_of[current_device()],
         fake_last_shared = shared, fake_last_stream = stream, fake_lost_result ? fake_lost_result : fake_launch_result;
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
  fake_last_block_x = config->block[0], fake_last_block_y = config->block[1], fake_last_block_z = config->block[2];
  for (unsigned i = 0; i < config->count; ++i) {
    if (config->attributes[i].id == 4 && config->attributes[i].x == 2) ++fake_cluster_launches;
    if (config->attributes[i].id == 6 && config->attributes[i].x == 1) ++fake_overlapping;
  }
  note("kernel", current_device());
  return take_time(), ++fake_launches, ++fake_all_launches_of[current_device()],
         fake_last_shared = config->shared, fake_last_stream = config->stream, fake_launch_result;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t shared) {
  return (void)function, (void)threads, (void)shared, *blocks = 3, 0;
}
Result cuMemGetInfo_v2(size_t* available, size_t* total) {
  const char* const some = getenv("FOURTUNE_FAKE_GPU_FREE");
  return *available = some ? strtoul(some, NULL, 10) : 12345, *total = some ? *available : 54321, 0;
}
// The header before every array.
struct Block {
  struct Block *before, *after;
  size_t bytes;
  uint64_t number;
  int device;
  char pad[64 - 2 * sizeof(void*) - sizeof(size_t) - sizeof(uint64_t) - sizeof(int)];
};
static struct Block blocks = {&blocks, &blocks, 0, 0, 0, {0}};
static pthread_mutex_t blocks_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct Block* block_of(uint64_t address) {
  struct Block* found = NULL;
  pthread_mutex_lock(&blocks_mutex);
  for (struct Block* one = blocks.after; one != &blocks && !found; one = one->after)
    if (address >= (uint64_t)(uintptr_t)(one + 1) && address < (uint64_t)(uintptr_t)(one + 1) + one->bytes) found = one;
  pthread_mutex_unlock(&blocks_mutex);
  return found;
}
Result cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (fake_lost_result) return fake_lost_result;
  if (fake_alloc_result) return fake_alloc_result;
  const int device = current_device();
  struct Block* const block = malloc(sizeof *block + bytes);
  if (!block) return 2;
  memset(block + 1, 255, bytes);  // for a sort that never runs: no bad point
  block->bytes = bytes, block->device = device;
  pthread_mutex_lock(&blocks_mutex);
  static uint64_t last_number;
  block->number = ++last_number;
  block->before = &blocks, block->after = blocks.after;
  blocks.after->before = block, blocks.after = block;
  pthread_mutex_unlock(&blocks_mutex);
  note("memory", device);
  ++fake_allocations, ++fake_allocations_of[device], ++fake_all_allocations_of[device];
  return *address = (uint64_t)(uintptr_t)(block + 1), 0;
}
Result cuMemFree_v2(uint64_t address) {
  struct Block* const block = (struct Block*)(uintptr_t)address - 1;
  pthread_mutex_lock(&blocks_mutex);
  block->before->after = block->after, block->after->before = block->before;
  pthread_mutex_unlock(&blocks_mutex);
  --fake_allocations, --fake_allocations_of[block->device];
  return free(block), fake_lost_result;
}
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  return (void)stream, memcpy((void*)(uintptr_t)to, from, bytes), 0;
}
Result cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  return (void)stream, memcpy(to, (void*)(uintptr_t)from, bytes), 0;
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return (void)stream, memcpy((void*)(uintptr_t)to, (void*)(uintptr_t)from, bytes), 0;
}
Result cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return (void)stream, memcpy((void*)(uintptr_t)to, (void*)(uintptr_t)from, bytes), 0;
}
// CUDA_MEMCPY2D, of which both sides are of the unified address space.
struct Rows {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  uint64_t from;
  void* from_array;
  size_t from_pitch, to_x, to_y;
  int to_type;
  void* to_host;
  uint64_t to;
  void* to_array;
  size_t to_pitch, width, height;
};
int fake_row_copies;
Result cuMemcpy2DAsync_v2(const struct Rows* rows, void* stream) {
  (void)stream, ++fake_row_copies;
  if (rows->from_type != 4 || rows->to_type != 4 || rows->width > rows->from_pitch || rows->width > rows->to_pitch)
    return 1;
  for (size_t row = 0; row < rows->height; ++row)
    memcpy((char*)(uintptr_t)rows->to + row * rows->to_pitch, (char*)(uintptr_t)rows->from + row * rows->from_pitch,
           rows->width);
  return 0;
}
Result cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) {
  return (void)stream, memset((void*)(uintptr_t)to, value, bytes), 0;
}
Result cuStreamCreate(void** stream, unsigned flags) { return (void)flags, *stream = malloc(1), 0; }
Result cuStreamDestroy_v2(void* stream) { return free(stream), 0; }
Result cuStreamSynchronize(void* stream) { return (void)stream, ++fake_waits, fake_lost_result; }
Result cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return (void)stream, (void)event, (void)flags, ++fake_stream_waits, 0;
}
// An event is the number of its last record, 0 before the first; records are 2 ms apart.
Result cuEventCreate(int** event, unsigned flags) { return (void)flags, *event = calloc(1, sizeof(int)), 0; }
Result cuEventDestroy_v2(void* event) { return free(event), 0; }
Result cuEventRecord(int* event, void* stream) { return (void)stream, *event = ++fake_records, 0; }
Result cuEventSynchronize(void* event) { return (void)event, ++fake_waits, 0; }
Result cuEventElapsedTime(float* ms, const int* first, const int* second) {
  if (*first == 0 || *second == 0) return 400;  // an invalid handle
  return *ms = 2.0f * (float)(*second - *first), 0;
}
Result cuStreamIsCapturing(void* stream, int* status) { return (void)stream, *status = fake_capture_status, 0; }
Result cuStreamBeginCapture_v2(void* stream, int mode) {
  (void)stream, (void)mode;
  if (!fake_captures || capturing) return 801;
  return ++fake_graphs, capturing = calloc(1, sizeof *capturing), 0;
}
Result cuStreamEndCapture(void* stream, int** graph) {
  return (void)stream, *graph = &capturing->count, capturing = NULL, 0;
}
Result cuGraphGetNodes(int* graph, struct Node** nodes, size_t* count) {
  struct Captured* const captured = (struct Captured*)graph;
  for (int i = 0; nodes && i < captured->count; ++i) nodes[i] = &captured->nodes[i];
  return *count = (size_t)captured->count, 0;
}
Result cuGraphNodeGetType(struct Node* node, int* type) { return (void)node, *type = fake_node_type, 0; }
struct NodeParams {
  void* function;
  unsigned grid[3], block[3], shared;
  void** arguments;
  void *extra, *kernel, *context;
};
Result cuGraphKernelNodeGetParams_v2(struct Node* node, struct NodeParams* with) {
  memset(with, 0, sizeof *with);
  memcpy(with->grid, node->grid, sizeof node->grid), memcpy(with->block, node->block, sizeof node->block);
  return with->function = node->function, with->shared = node->shared, with->arguments = node->arguments, 0;
}
// Kernels that are captured take an address and a structure of 24 bytes.
Result cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* bytes) {
  (void)function;
  if (index > 1) return 1;
  return *offset = 8 * index, *bytes = index == 0 ? 8 : 24, 0;
}
Result cuKernelGetParamInfo(void* kernel, size_t index, size_t* offset, size_t* bytes) {
  return cuFuncGetParamInfo(kernel, index, offset, bytes);
}
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
Result cuGraphExecKernelNodeSetParams_v2(int* exec, int* node, const struct NodeParams* with) {
  if (node != exec) {  // it was captured
    memcpy(fake_last_arguments, with->arguments[0], 8);
    memcpy(fake_last_arguments + 1, with->arguments[1], 24);
  }
  return ++fake_node_updates, 0;
}
Result cuGraphLaunch(int* exec, void* stream) {
  note("kernel", current_device());
  fake_launches += *exec, fake_all_launches_of[current_device()] += *exec;
  fake_last_stream = stream, ++fake_graph_launches;
  take_time();
  return fake_launch_result;
}
Result cuGraphExecDestroy(int* exec) { return (void)exec, 0; }
// Odd addresses are "host memory"; even ones that nobody allocated belong to the device at work.
Result cuPointerGetAttribute(void* value, int which, uint64_t address) {
  const struct Block* const block = block_of(address);
  const int owner = block ? block->device : current_device();
  if (address & 1) return 1;
  switch (which) {
    case 2:
      return *(unsigned*)value = 2, 0;
    case 3:
      return *(uint64_t*)value = address, owner == current_device() || fake_peers ? 0 : 1;
    case 7:
      return block ? (*(uint64_t*)value = block->number, 0) : 1;
    case 9:
      return *(int*)value = owner, 0;
    case 11:
      return block ? (*(uint64_t*)value = (uint64_t)(uintptr_t)(block + 1), 0) : 1;
    default:
      return 1;
  }
}
// A handle is an address, which stays what it is: the other process is this one.
struct Handle {
  uint64_t begin;
  char rest[56];
};
Result cuIpcGetMemHandle(struct Handle* handle, uint64_t begin) {
  memset(handle, 0, sizeof *handle);
  return handle->begin = begin, block_of(begin) ? 0 : 1;
}
Result cuIpcOpenMemHandle_v2(uint64_t* begin, struct Handle handle, unsigned flags) {
  if (flags != 1 || !block_of(handle.begin)) return 1;
  return *begin = handle.begin, ++fake_opened, 0;
}
Result cuIpcCloseMemHandle(uint64_t begin) { return (void)begin, --fake_opened, 0; }
Result cuGetErrorName(Result result, const char** name) {
  return *name = result == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : "CUDA_ERROR_FAKE", 0;
}
Result cuGetErrorString(Result result, const char** text) { return (void)result, *text = "words of the driver", 0; }
