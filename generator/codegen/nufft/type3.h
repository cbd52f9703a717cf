// The kernels of a type 3 on a GPU other than gridding and FFT: extents of the points, phases, factors of the targets,
// and their products with values (templates/nufft_type3.cuh).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "generator/codegen/kernel_source.h"
#include "generator/plan/type3_geometry.h"
#include "generator/window/fourier.h"

namespace fourtune::generator::gpu_nufft {

class Type3Kernels {
 public:
  Type3Kernels(int dim, Precision precision, int multiprocessors)
      : dim_(dim), precision_(precision), multiprocessors_(multiprocessors) {}

  // 18 words at `words`: for each of six arrays the smallest key, the smallest complement of a key, and the first bad
  // index.
  static constexpr std::int64_t kWords = 18;
  struct Extent {
    double low = 0, high = 0;
    std::uint64_t bad = 0;  // first index whose value is not finite; all ones: none
  };
  static std::array<Extent, 6> extents(const std::array<std::uint64_t, kWords>& words);
  // What the kernel says of one array, for numbers that are on the host.
  static Extent extent(std::span<const std::byte> numbers, Precision precision);
  void emit_extents(GpuProgram& program, const std::array<BufferRef, 6>& arrays, const BufferRef& words, std::int64_t m,
                    std::int64_t k) const;

  // out_j = exp(sign i D.(x_j - C)): m complex values.
  void emit_phases(GpuProgram& program, const std::array<BufferRef, 3>& sources, const BufferRef& out, std::int64_t m,
                   const std::array<Type3Dimension, 3>& geometry, int sign) const;
  // out_l = exp(sign i s_l.C) / product of the transform at h (s_l - D): k complex values. The polynomials of the
  // transform become a constant of the program.
  void emit_factors(GpuProgram& program, const std::array<BufferRef, 3>& targets, const BufferRef& out, std::int64_t k,
                    const std::array<Type3Dimension, 3>& geometry, int sign, const FourierInterpolant& transform) const;
  // to_b = from_b * factors (conjugate: multiplied by their conjugates), n values per transform.
  void emit_scale(GpuProgram& program, const BufferRef& from, const BufferRef& factors, const BufferRef& to,
                  std::int64_t n, std::int64_t transforms, bool conjugate, const char* stage) const;
  void emit_fill(GpuProgram& program, const BufferRef& at, std::int64_t words, std::int64_t value,
                 const char* stage) const;

 private:
  int kernel(GpuProgram& program, const char* name, int pass) const;
  int dim_;
  Precision precision_;
  int multiprocessors_;
};

}  // namespace fourtune::generator::gpu_nufft
