#include "tuner/calibrate/gpu_kernels.h"

#include <string>

namespace fourtune::tuner {
namespace {

constexpr char kCommon[] = R"(
#if defined(FOURTUNE_EMULATED)
#define CALIBRATE_SHARED(type, name) FOURTUNE_SHARED(type, name)
#else
#define CALIBRATE_SHARED(type, name)                                 \
  extern __shared__ __align__(16) unsigned char calibrate_bytes[];  \
  type* name = reinterpret_cast<type*>(calibrate_bytes)
#endif
__device__ inline long long calibrate_thread() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
)";

constexpr char kMultiplyAdd[] = R"(
__device__ inline float calibrate_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double calibrate_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
extern "C" __global__ void __launch_bounds__(256) calibrate_multiply_add(real* sums, real one, long long steps) {
  real x[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) x[c] = static_cast<real>(c);
#pragma unroll 16
  for (long long s = 0; s < steps; ++s) {
#pragma unroll
    for (int c = 0; c < 8; ++c) x[c] = calibrate_fma(x[c], one, one);
  }
  real sum = 0;
#pragma unroll
  for (int c = 0; c < 8; ++c) sum += x[c];
  sums[calibrate_thread()] = sum;
}
)";

constexpr char kShared[] = R"(
extern "C" __global__ void __launch_bounds__(256) CALIBRATE_ENTRY(unsigned* sums, long long steps, long long stride) {
  // The compiler does not know the stride, and so not that addresses recur.
  const unsigned far = static_cast<unsigned>(stride);
  CALIBRATE_SHARED(uint4, tile);
  for (unsigned i = threadIdx.x; i < 1024; i += 256) {
    uint4 value;
    value.x = i, value.y = i + 1, value.z = i + 2, value.w = i + 3;
    tile[i] = value;
  }
  __syncthreads();
  unsigned at = threadIdx.x, sum = 0;
#if CALIBRATE_STORE
#pragma unroll 16
  for (long long s = 0; s < steps; ++s) {
    uint4 value;
    value.x = value.y = value.z = value.w = static_cast<unsigned>(s);
    tile[at] = value;
    at = (at + far) & 1023;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 1024; i += 256) sum += tile[i].x;
#else
  unsigned more = 0;
#pragma unroll 16
  for (long long s = 0; s < steps; ++s) {
    const uint4 value = tile[at];
    sum += value.x + value.y;
    more += value.z + value.w;
    at = (at + far) & 1023;
  }
  sum += more;
#endif
  sums[calibrate_thread()] = sum;
}
)";

constexpr char kCopy[] = R"(
extern "C" __global__ void __launch_bounds__(256)
    calibrate_copy(const uint4* from, uint4* to, long long count, long long repeats) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long r = 0; r < repeats; ++r) {
#pragma unroll 4
    for (long long i = calibrate_thread(); i < count; i += step) __stcg(to + i, __ldcg(from + i));
  }
}
)";

constexpr char kAtomic[] = R"(
extern "C" __global__ void __launch_bounds__(256) calibrate_atomic(real* words, long long mask, long long steps) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long at = calibrate_thread();
  for (long long s = 0; s < steps; ++s, at += step) atomicAdd(words + (at & mask), static_cast<real>(1));
}
)";

constexpr char kCounting[] = R"(
extern "C" __global__ void __launch_bounds__(256) calibrate_counting(unsigned* counter) {
  if (calibrate_thread() == 0) *counter += 1;
}
)";

generator::KernelSource kernel(const char* entry, const std::string& before, const char* body) {
  generator::KernelSource out;
  out.entry = entry;
  out.text = kCommon + before + body;
  out.block = {kernel_threads, 1, 1};
  return out;
}

std::string real_type(Precision precision) {
  return precision == Precision::f32 ? "typedef float real;\n" : "typedef double real;\n";
}

generator::KernelSource shared_kernel(const char* entry, bool stores) {
  std::string before = std::string("#define CALIBRATE_ENTRY ") + entry + "\n";
  before += stores ? "#define CALIBRATE_STORE 1\n" : "#define CALIBRATE_STORE 0\n";
  generator::KernelSource out = kernel(entry, before, kShared);
  out.shared_bytes = 4 * kernel_threads * 16;
  return out;
}

}  // namespace

generator::KernelSource multiply_add_kernel(Precision precision) {
  return kernel("calibrate_multiply_add", real_type(precision), kMultiplyAdd);
}
generator::KernelSource shared_load_kernel() { return shared_kernel("calibrate_load", false); }
generator::KernelSource shared_store_kernel() { return shared_kernel("calibrate_store", true); }
generator::KernelSource copy_kernel() { return kernel("calibrate_copy", {}, kCopy); }
generator::KernelSource atomic_kernel(Precision precision) {
  return kernel("calibrate_atomic", real_type(precision), kAtomic);
}
generator::KernelSource counting_kernel() { return kernel("calibrate_counting", {}, kCounting); }

}  // namespace fourtune::tuner
