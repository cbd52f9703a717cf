#include "generator/codegen/nufft/type3.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "fourtune/status.h"
#include "launch_order_text.h"
#include "nufft_type3_text.h"

namespace fourtune::generator::gpu_nufft {
namespace {

std::uint32_t blocks(std::int64_t work, std::int64_t most = (std::int64_t{1} << 31) - 1) {
  const std::int64_t n = std::max<std::int64_t>(1, (work + 255) / 256);
  if (n >= std::int64_t{1} << 31) throw Error(Status::unsupported, fmt::format("type 3: {} blocks in a launch", n));
  return static_cast<std::uint32_t>(std::min(n, most));
}

// In the order of the numbers, as type3_key in templates/nufft_type3.cuh.
std::uint64_t key_of(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}
double number_of(std::uint64_t key) {
  return std::bit_cast<double>(key >> 63 != 0 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

template <class Real>
Type3Kernels::Extent extent_of(std::span<const std::byte> numbers) {
  const std::size_t n = numbers.size() / sizeof(Real);
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t low = kNone, high = kNone;
  Type3Kernels::Extent extent;
  extent.bad = kNone;
  for (std::size_t i = 0; i < n; ++i) {
    Real number;
    std::memcpy(&number, numbers.data() + i * sizeof(Real), sizeof(Real));
    if (std::isfinite(number)) {
      const std::uint64_t key = key_of(static_cast<double>(number));
      low = std::min(low, key), high = std::min(high, ~key);
    } else if (extent.bad == kNone) {
      extent.bad = i;
    }
  }
  if (low != kNone) extent.low = number_of(low), extent.high = number_of(~high);
  return extent;
}

// Coordinates and Vector of templates/nufft_type3.cuh.
ArgumentStruct coordinates(const std::array<BufferRef, 3>& arrays, std::int64_t n) {
  return {{arrays[0], arrays[1], arrays[2], n}};
}
ArgumentStruct vector(const std::array<Type3Dimension, 3>& geometry, double Type3Dimension::*of, double sign = 1) {
  return {{sign * (geometry[0].*of), sign * (geometry[1].*of), sign * (geometry[2].*of)}};
}

}  // namespace

std::array<Type3Kernels::Extent, 6> Type3Kernels::extents(const std::array<std::uint64_t, kWords>& words) {
  std::array<Extent, 6> out;
  for (std::size_t i = 0; i < 6; ++i) {
    out[i].bad = words[3 * i + 2];
    if (words[3 * i] == ~std::uint64_t{0}) continue;  // there is no finite value
    out[i].low = number_of(words[3 * i]);
    out[i].high = number_of(~words[3 * i + 1]);
  }
  return out;
}

Type3Kernels::Extent Type3Kernels::extent(std::span<const std::byte> numbers, Precision precision) {
  return precision == Precision::f32 ? extent_of<float>(numbers) : extent_of<double>(numbers);
}

int Type3Kernels::kernel(GpuProgram& program, const char* name, int pass) const {
  KernelSource source;
  source.entry = fmt::format("nufft_type3_{}_{}d_{}", name, dim_, precision_ == Precision::f32 ? "f32" : "f64");
  source.text =
      fmt::format(
          "typedef {0} real;\ntypedef {0}2 real2;\n#define TYPE3_ENTRY {1}\n#define TYPE3_PASS {2}\n"
          "#define TYPE3_DIM {3}\n#define TYPE3_TERMS {4}\n",
          precision_ == Precision::f32 ? "float" : "double", source.entry, pass, dim_, FourierInterpolant::kTerms) +
      launch_order_text + nufft_type3_text;
  source.block = {256, 1, 1};
  const auto found = std::find(program.kernels.begin(), program.kernels.end(), source);
  if (found != program.kernels.end()) return static_cast<int>(found - program.kernels.begin());
  program.kernels.push_back(std::move(source));
  return static_cast<int>(program.kernels.size()) - 1;
}

void Type3Kernels::emit_fill(GpuProgram& program, const BufferRef& at, std::int64_t words, std::int64_t value,
                             const char* stage) const {
  if (words == 0) return;
  program.launches.push_back(
      {kernel(program, "fill", 4), {blocks(words, 8192), 1, 1}, {at, words, value}, stage, 8 * words, 0});
}

void Type3Kernels::emit_extents(GpuProgram& program, const std::array<BufferRef, 6>& arrays, const BufferRef& words,
                                std::int64_t m, std::int64_t k) const {
  emit_fill(program, words, kWords, -1, "centre");
  Launch launch;
  launch.kernel = kernel(program, "extents", 0);
  launch.grid = {blocks(std::max(m, k), multiprocessors_), 6,
                 1};  // few blocks, because each warp ends with three atomic operations
  launch.arguments = {coordinates({arrays[0], arrays[1], arrays[2]}, m),
                      coordinates({arrays[3], arrays[4], arrays[5]}, k), words};
  launch.stage = "centre";
  launch.bytes = (m + k) * dim_ * real_bytes(precision_);
  program.launches.push_back(std::move(launch));
}

void Type3Kernels::emit_phases(GpuProgram& program, const std::array<BufferRef, 3>& sources, const BufferRef& out,
                               std::int64_t m, const std::array<Type3Dimension, 3>& geometry, int sign) const {
  if (m == 0) return;
  Launch launch;
  launch.kernel = kernel(program, "phases", 1);
  launch.grid = {blocks(m), 1, 1};
  launch.arguments = {coordinates(sources, m), vector(geometry, &Type3Dimension::source_centre),
                      vector(geometry, &Type3Dimension::target_centre, sign), out};
  launch.stage = "phase";
  launch.bytes = m * (dim_ + 2) * real_bytes(precision_);
  program.launches.push_back(std::move(launch));
}

void Type3Kernels::emit_factors(GpuProgram& program, const std::array<BufferRef, 3>& targets, const BufferRef& out,
                                std::int64_t k, const std::array<Type3Dimension, 3>& geometry, int sign,
                                const FourierInterpolant& transform) const {
  if (k == 0) return;
  const auto& table = transform.coefficients();
  std::vector<std::byte> bytes(table.size() * sizeof(table[0]));
  std::memcpy(bytes.data(), table.data(), bytes.size());
  program.constants.push_back(std::move(bytes));
  const BufferRef constant{BufferRef::Where::constant, static_cast<int>(program.constants.size()) - 1, 0};
  Launch launch;
  launch.kernel = kernel(program, "factors", 2);
  launch.grid = {blocks(k), 1, 1};
  launch.arguments = {coordinates(targets, k),
                      ArgumentStruct{{constant, static_cast<std::int64_t>(table.size()), transform.per_interval()}},
                      vector(geometry, &Type3Dimension::source_centre, sign),
                      vector(geometry, &Type3Dimension::target_centre),
                      vector(geometry, &Type3Dimension::spacing),
                      out};
  launch.stage = "phase";
  launch.bytes = k * (dim_ + 2) * real_bytes(precision_);
  program.launches.push_back(std::move(launch));
}

void Type3Kernels::emit_scale(GpuProgram& program, const BufferRef& from, const BufferRef& factors, const BufferRef& to,
                              std::int64_t n, std::int64_t transforms, bool conjugate, const char* stage) const {
  if (n == 0) return;
  if (transforms > 65535)
    throw Error(Status::unsupported, fmt::format("type 3: {} transforms in a launch", transforms));
  Launch launch;
  launch.kernel = kernel(program, "scale", 3);
  launch.grid = {blocks(n), static_cast<std::uint32_t>(transforms), 1};
  launch.arguments = {from, factors, to, n, conjugate ? -1.0 : 1.0};
  launch.stage = stage;
  launch.bytes = (2 * transforms + 1) * n * 2 * real_bytes(precision_);
  program.launches.push_back(std::move(launch));
}

}  // namespace fourtune::generator::gpu_nufft
