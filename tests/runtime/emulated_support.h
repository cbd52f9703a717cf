// Kernels for the tests of the emulator, and functions that run them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/backends/emulated/emulator.h"

namespace fourtune::runtime::emulated::testing {

using generator::BufferRef;
using generator::GpuProgram;
using generator::KernelSource;
using generator::Launch;

inline constexpr BufferRef kFirst{BufferRef::Where::first, 0, 0};
inline constexpr BufferRef kSecond{BufferRef::Where::second, 0, 0};

// 32 x 8 threads transpose tiles of 32 x 32 of an n x n matrix through shared memory.
inline KernelSource transposition() {
  KernelSource kernel;
  kernel.entry = "transpose";
  kernel.text = R"(
extern "C" __global__ void __launch_bounds__(256) transpose(const float* __restrict__ in, float* __restrict__ out, long long n) {
  FOURTUNE_SHARED(float, tile);
  const int x = threadIdx.x, y = threadIdx.y;
  for (int j = y; j < 32; j += 8) tile[j * 33 + x] = in[(blockIdx.y * 32 + j) * n + blockIdx.x * 32 + x];
  __syncthreads();
  for (int j = y; j < 32; j += 8) out[(blockIdx.x * 32 + j) * n + blockIdx.y * 32 + x] = tile[x * 33 + j];
}
)";
  kernel.block = {32, 8, 1};
  kernel.shared_bytes = 4 * (31 * 33 + 32);
  return kernel;
}

inline GpuProgram transposition_program(const KernelSource& kernel = transposition(), std::uint32_t n = 96) {
  GpuProgram program;
  program.kernels = {kernel};
  program.launches = {{0, {n / 32, n / 32, 1}, {kFirst, kSecond, std::int64_t{n}}, "transpose", 0, 0}};
  return program;
}

// Sums of 256 numbers each in a tree, then a second exchange through the same memory.
inline KernelSource reduction() {
  KernelSource kernel;
  kernel.entry = "reduce";
  kernel.text = R"(
extern "C" __global__ void reduce(const float* in, float* out) {
  FOURTUNE_SHARED(float, sums);
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  const float all = sums[0];
  __syncthreads();
  sums[t] = all + 1000.0f * (t + 1);
  __syncthreads();
  out[blockIdx.x * 256 + t] = sums[255 - t];
}
)";
  kernel.block = {256, 1, 1};
  kernel.shared_bytes = 1024;
  return kernel;
}

// 64-point FFTs as two radix-8 stages with one exchange each for real and imaginary parts; 8 threads per line, 4 lines.
inline KernelSource exchange() {
  KernelSource kernel;
  kernel.entry = "exchange";
  kernel.text = R"(
static __device__ void dft8(float2* v) {
  float2 w[8];
  for (int k = 0; k < 8; ++k) {
    float re = 0, im = 0;
    for (int j = 0; j < 8; ++j) {
      float s, c;
      sincospif(-0.25f * (float)(j * k % 8), &s, &c);
      re += v[j].x * c - v[j].y * s;
      im += v[j].x * s + v[j].y * c;
    }
    w[k] = make_float2(re, im);
  }
  for (int k = 0; k < 8; ++k) v[k] = w[k];
}
extern "C" __global__ void exchange(const float2* in, float2* out) {
  FOURTUNE_SHARED(float, buffer);
  const int t = threadIdx.x % 8, line = threadIdx.x / 8;
  float* mine = buffer + line * 64;
  const long long base = (blockIdx.x * 4 + line) * 64;
  float2 v[8];
  for (int j = 0; j < 8; ++j) v[j] = in[base + t + 8 * j];
  dft8(v);
  for (int k = 0; k < 8; ++k) {
    float s, c;
    sincospif(-2.0f * (float)(t * k) / 64.0f, &s, &c);
    v[k] = make_float2(v[k].x * c - v[k].y * s, v[k].x * s + v[k].y * c);
  }
  for (int k = 0; k < 8; ++k) mine[k * 8 + t] = v[k].x;
  __syncthreads();
  for (int j = 0; j < 8; ++j) v[j].x = mine[t * 8 + j];
  __syncthreads();
  for (int k = 0; k < 8; ++k) mine[k * 8 + t] = v[k].y;
  __syncthreads();
  for (int j = 0; j < 8; ++j) v[j].y = mine[t * 8 + j];
  dft8(v);
  for (int k = 0; k < 8; ++k) out[base + t + 8 * k] = v[k];
}
)";
  kernel.block = {32, 1, 1};
  kernel.shared_bytes = 4 * 64 * 4;
  return kernel;
}

// Two landing buffers filled by cp.async, one ahead; adds 1 to every number. `tiles` tiles of 128 per block.
inline KernelSource pipeline() {
  KernelSource kernel;
  kernel.entry = "pipeline";
  kernel.text = R"(
extern "C" __global__ void pipeline(const float4* in, float* out, long long tiles) {
  FOURTUNE_SHARED(float, landing);
  const int t = threadIdx.x;
  const long long base = blockIdx.x * tiles * 32;
  fourtune_async_copy(landing + 4 * t, in + base + t, 16);
  fourtune_async_commit();
  for (long long i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      fourtune_async_copy(landing + (i + 1) % 2 * 128 + 4 * t, in + base + (i + 1) * 32 + t, 16);
      fourtune_async_commit();
      fourtune_async_wait(1);
    } else {
      fourtune_async_wait(0);
    }
    __syncthreads();
    for (int j = 0; j < 4; ++j) out[(base + i * 32) * 4 + j * 32 + t] = landing[i % 2 * 128 + j * 32 + t] + 1.0f;
    __syncthreads();
  }
}
)";
  kernel.block = {32, 1, 1};
  kernel.shared_bytes = 1024;
  return kernel;
}

// The same with bulk copies and mbarriers: a full and an empty one per landing buffer.
inline KernelSource bulk_pipeline() {
  KernelSource kernel;
  kernel.entry = "bulk_pipeline";
  kernel.text = R"(
extern "C" __global__ void bulk_pipeline(const float* in, float* out, long long tiles) {
  FOURTUNE_SHARED(float, landing);
  unsigned long long* full = (unsigned long long*)(landing + 256);
  unsigned long long* empty = full + 2;
  const int t = threadIdx.x;
  const long long base = blockIdx.x * tiles * 128;
  if (t == 0) {
    for (int b = 0; b < 2; ++b) {
      fourtune_mbarrier_init(full + b, 1);
      fourtune_mbarrier_init(empty + b, 64);
    }
  }
  __syncthreads();
  if (t == 64) {
    for (long long i = 0; i < tiles; ++i) {
      if (i >= 2) fourtune_mbarrier_wait(empty + i % 2, (int)(i / 2 - 1) & 1);
      fourtune_mbarrier_arrive_expect(full + i % 2, 512);
      fourtune_bulk_copy(landing + i % 2 * 128, in + base + i * 128, 512, full + i % 2);
    }
  } else if (t < 64) {
    for (long long i = 0; i < tiles; ++i) {
      fourtune_mbarrier_wait(full + i % 2, (int)(i / 2) & 1);
      for (int j = t; j < 128; j += 64) out[base + i * 128 + j] = landing[i % 2 * 128 + 127 - j];
      fourtune_mbarrier_arrive(empty + i % 2);
    }
  }
}
)";
  kernel.block = {96, 1, 1};
  kernel.shared_bytes = 1024 + 32;
  return kernel;
}

// The text without the `which`-th occurrence (from 0) of a statement; empty when there are fewer.
inline std::string without(std::string text, const std::string& statement, int which) {
  std::size_t at = text.find(statement);
  while (which-- > 0 && at != std::string::npos) at = text.find(statement, at + 1);
  if (at == std::string::npos) return {};
  return text.replace(at, statement.size(), ";");
}

inline std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

inline std::span<std::byte> bytes_of(std::vector<float>& values) { return std::as_writable_bytes(std::span(values)); }

// One kernel on arrays of floats: its arguments are both arrays, then `extra`.
inline GpuProgram program_of(const KernelSource& kernel, std::uint32_t blocks,
                             const std::vector<std::int64_t>& extra = {}) {
  GpuProgram program;
  program.kernels = {kernel};
  Launch launch{0, {blocks, 1, 1}, {kFirst, kSecond}, "test", 0, 0};
  for (const std::int64_t value : extra) launch.arguments.emplace_back(value);
  program.launches = {launch};
  return program;
}

// The fault that occurs with these options; nullopt if the program completed.
inline std::optional<KernelFault> fault_of(const GpuProgram& program, std::vector<float> first,
                                           std::vector<float> second, const RunOptions& options) {
  try {
    run_program(program, bytes_of(first), bytes_of(second), options);
  } catch (const KernelFault& fault) {
    return fault;
  }
  return std::nullopt;
}

}  // namespace fourtune::runtime::emulated::testing
