// Vectorised complex FFTs of many lines at once, for lengths with no prime factor above 13: one line a vector lane, so
// that every operation is a whole-vector one whatever the length. No planning, no measurement: the same length gives
// the same operations on every run.
//
// Work layout: element p is 2 * lanes numbers at p * 2 * lanes, all real parts, then all imaginary parts. Input is in
// natural order; output k is at element output[k] (in-place decimation in frequency leaves it permuted, and the store
// that follows undoes that for free).
#pragma once

#include <cstdint>
#include <vector>

namespace fourtune::runtime::cpu {

template <class T>
struct SimdFftPlan {
  struct Level {
    int radix = 0;
    std::int64_t length = 0;   // of the blocks this level splits
    std::size_t twiddles = 0;  // where its twiddles start: for i < length/radix: w^(i q), 1 <= q < radix (re, im)
  };
  std::int64_t n = 0;
  std::vector<Level> levels;
  std::vector<T> twiddles;
  std::vector<std::int32_t> output;
};

// True for n >= 1 without prime factors above 13, and for those of them that make_simd_fft_plan can do (32-bit
// indices).
bool has_small_factors(std::int64_t n);
bool simd_fft_supports(std::int64_t n);
template <class T>
SimdFftPlan<T> make_simd_fft_plan(std::int64_t n);

// Which numbers to move between an array of complex numbers (as pairs of T) and a work buffer.
template <class T>
struct SimdMove {
  std::int64_t step = 2;   // from position to position, in numbers of T
  std::int64_t line = 2;   // from line to line
  int count = 1;           // lines present
  std::int64_t imag = 1;   // from a real part to its imaginary part, which is written last (0: to the same place)
  std::int64_t first = 0;  // positions first .. first + size - 1; the array's pointer is that of position `first`
  std::int64_t size = 0;
  const T* factor = nullptr;  // one real number per position moved, or null
  // Adjacent lines only (line == 2): groups of `lanes` lines each, one after the other in the array and `group` numbers
  // apart in work, moved together so that the array is walked in longer runs. count is that of one group then.
  int groups = 1;
  std::int64_t group = 0;
  bool swap = false;  // exchanges real and imaginary parts: on both ways, this conjugates the transform
};

// The functions of one instruction set, for vectors of `lanes` numbers.
template <class T>
struct SimdFftKernels {
  int lanes;
  // In place, sign -1.
  void (*transform)(const SimdFftPlan<T>& plan, T* work);
  void (*load)(T* work, const T* from, const SimdMove<T>& move);
  void (*store)(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move);
  // Element output[k] times table[k] (an element, lane by lane) times scalar[k] (re, im), k < count.
  void (*twiddle)(T* work, const std::int32_t* output, std::int64_t count, const T* table, const T* scalar);
  // to[k] = from[index[k]] times scalar[k] (re, im), parts exchanged if swap; k < count. index null: k itself, and then
  // to may be from.
  void (*multiply)(const T* from, const std::int32_t* index, std::int64_t count, const T* scalar, bool swap, T* to);
  // Real transforms of 2m numbers as complex ones of m (pairs of neighbours). split: from the m-point transform of work
  // to positions 0 .. m of the spectrum, in natural order, at half. merge: from these to the input of an m-point
  // transform whose results, real and imaginary parts exchanged, are the pairs. w: exp(-2 pi i k / 2m), k <= m/2 (re,
  // im). interior multiplies the spectrum at 0 < k < m; conjugate conjugates it.
  void (*split)(const T* work, const std::int32_t* output, std::int64_t m, const T* w, T interior, bool conjugate,
                T* half);
  void (*merge)(const T* half, std::int64_t m, const T* w, T interior, bool conjugate, T* work);
};
// Those of this processor's vectors, and those of one lane. A processor without vectors has only the latter.
template <class T>
const SimdFftKernels<T>& simd_fft_kernels();
template <class T>
const SimdFftKernels<T>& single_fft_kernels();

}  // namespace fourtune::runtime::cpu
