// Simple GPU programs of FFT problems, to test executors and backends: a direct sum in two launches.
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <optional>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"
#include "runtime/backends/gpu/program_source.h"

namespace fourtune::runtime::testing {

inline constexpr char kDirectText[] = R"(
#ifndef FOURTUNE_EMULATED
#define FOURTUNE_SHARED(type, name)                                       \
  extern __shared__ __align__(128) unsigned char fourtune_shared_bytes[]; \
  type* name = reinterpret_cast<type*>(fourtune_shared_bytes)
#endif
extern "C" __global__ void gather(const float2* __restrict__ in, float2* __restrict__ lines, long long n,
                                  long long stride, long long distance, float factor) {
  for (long long j = threadIdx.x; j < n; j += blockDim.x) {
    const float2 v = in[blockIdx.x * distance + j * stride];
    lines[blockIdx.x * n + j] = make_float2(factor * v.x, factor * v.y);
  }
}
)";
inline constexpr char kSumText[] = R"(
#ifndef FOURTUNE_EMULATED
#define FOURTUNE_SHARED(type, name)                                       \
  extern __shared__ __align__(128) unsigned char fourtune_shared_bytes[]; \
  type* name = reinterpret_cast<type*>(fourtune_shared_bytes)
#endif
extern "C" __global__ void direct_sum(const float2* __restrict__ lines, const float2* __restrict__ roots,
                                      float2* __restrict__ out, long long n, long long stride, long long distance,
                                      double factor) {
  FOURTUNE_SHARED(float2, line);
  for (long long j = threadIdx.x; j < n; j += blockDim.x) line[j] = lines[blockIdx.x * n + j];
  __syncthreads();
  for (long long k = threadIdx.x; k < n; k += blockDim.x) {
    double re = 0, im = 0;
    for (long long j = 0; j < n; ++j) {
      const float2 w = roots[j * k % n];
      re += (double)line[j].x * w.x - (double)line[j].y * w.y;
      im += (double)line[j].x * w.y + (double)line[j].y * w.x;
    }
    out[blockIdx.x * distance + k * stride] = make_float2((float)(factor * re), (float)(factor * im));
  }
}
)";

// One-dimensional c2c in f32, with any strides.
inline generator::GpuProgram direct_program(const Problem& problem) {
  using generator::BufferRef;
  const std::int64_t n = problem.n[0];
  const ArrayLayout in = resolved_input_layout(problem), out = resolved_output_layout(problem);
  generator::GpuProgram program;
  program.kernels = {{"gather", kDirectText, {64, 1, 1}, {1, 1, 1}, 0, 0},
                     {"direct_sum", kSumText, {32, 1, 1}, {1, 1, 1}, static_cast<std::uint32_t>(8 * n), 0}};
  program.workspace_bytes = {8 * n * problem.batch};
  std::vector<float> roots;
  for (std::int64_t j = 0; j < n; ++j) {
    const double angle = problem.sign * 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
    roots.push_back(static_cast<float>(std::cos(angle)));
    roots.push_back(static_cast<float>(std::sin(angle)));
  }
  program.constants.emplace_back(roots.size() * 4);
  std::memcpy(program.constants[0].data(), roots.data(), roots.size() * 4);
  const BufferRef first{BufferRef::Where::first, 0, 0}, second{BufferRef::Where::second, 0, 0};
  const BufferRef lines{BufferRef::Where::workspace, 0, 0}, table{BufferRef::Where::constant, 0, 0};
  const auto blocks = static_cast<std::uint32_t>(problem.batch);
  program.launches = {{0, {blocks, 1, 1}, {first, lines, n, in.stride[0], in.distance, 2.0f}, "gather", 0, 0},
                      {1, {blocks, 1, 1}, {lines, table, second, n, out.stride[0], out.distance, 0.5}, "fft", 0, 0}};
  return program;
}

inline gpu::ProgramSource direct_programs() {
  return [](const Problem& problem, const generator::Plan&, const DeviceTraits&) {
    return std::optional(direct_program(problem));
  };
}

using Complex32 = std::complex<float>;

inline std::vector<Complex32> made_values(std::size_t count) {
  std::vector<Complex32> values;
  for (std::size_t i = 0; i < count; ++i)
    values.emplace_back(std::sin(static_cast<float>(i * i % 101)), std::cos(static_cast<float>(i * 7 % 53)));
  return values;
}

// Compares with sum_j in[j] exp(sign 2 pi i j k / n) for each transform of the batch, with the problem's layout.
inline double relative_error(const Problem& problem, const std::vector<Complex32>& in,
                             const std::vector<Complex32>& out) {
  const ArrayLayout a = resolved_input_layout(problem), b = resolved_output_layout(problem);
  double wrong = 0, norm = 0;
  for (std::int64_t t = 0; t < problem.batch; ++t)
    for (std::int64_t k = 0; k < problem.n[0]; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t j = 0; j < problem.n[0]; ++j)
        sum += std::complex<double>(in[static_cast<std::size_t>(t * a.distance + j * a.stride[0])]) *
               std::polar(1.0, problem.sign * 2 * std::numbers::pi * static_cast<double>(j * k % problem.n[0]) /
                                   static_cast<double>(problem.n[0]));
      wrong += std::norm(sum - std::complex<double>(out[static_cast<std::size_t>(t * b.distance + k * b.stride[0])]));
      norm += std::norm(sum);
    }
  return std::sqrt(wrong / norm);
}

}  // namespace fourtune::runtime::testing
