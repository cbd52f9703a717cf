// Plans of fft/simd.h: the radices of a length, their tables, and where results are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace fourtune::runtime::cpu {

template <class T>
struct SimdFftConvolution;

template <class T>
struct SimdFftPlan {
  struct Level {
    int radix = 0;
    std::int64_t length = 0;   // length of the blocks that this level splits
    std::size_t twiddles = 0;  // index of its twiddle factors: for i < length/radix: w^(i q), 1 <= q < radix (re, im)
    std::size_t roots = 0;     // of a prime's sums: index of cos and sin of 2 pi q j / radix for 1 <= q, j <= radix/2
    std::shared_ptr<const SimdFftConvolution<T>> convolution;  // of a prime that sums are too many for
  };
  std::int64_t n = 0;
  std::int64_t scratch = 0;  // elements that a transform needs besides
  std::vector<Level> levels;
  std::vector<T> twiddles;
  std::vector<std::int32_t> output;
};

// A level of a prime radix as a cyclic convolution (Rader). With g a generator of the numbers modulo the prime, result
// g^-k is x[0] plus the sum of x[g^i] w^(g^(i - k)) over i < radix - 1.
template <class T>
struct SimdFftConvolution {
  SimdFftPlan<T> plan;                        // as long as the convolution, or at least twice as long less one
  std::vector<T> filter;                      // for each result of the plan (re, im), divided by its length
  std::vector<std::int32_t> inputs, outputs;  // g^i and g^-k modulo the prime
};

// Whether make_simd_fft_plan can do n, with 32-bit indices.
bool simd_fft_supports(std::int64_t n);
template <class T>
SimdFftPlan<T> make_simd_fft_plan(std::int64_t n);
// Plans in use, shared by length: the dimensions of a cube and executors of equal sizes share one table.
template <class T>
std::shared_ptr<const SimdFftPlan<T>> shared_simd_fft_plan(std::int64_t n);

}  // namespace fourtune::runtime::cpu
