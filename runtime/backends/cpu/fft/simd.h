// Vectorised complex FFTs of many lines at once, for lengths with no prime factor above generator::kLargestConvolved.
// Each vector lane holds one line, so every operation uses whole vectors whatever the length. There is no planning and
// no measurement: the same length gives the same operations on every run. Plans are in simd_plan.h, kernel selection is
// in simd.cpp, the kernels in simd_*-inl.h, those of one lane in single.cpp.
//
// Layout of a work buffer: element p is 2 * lanes numbers at p * 2 * lanes, all real parts, then all imaginary parts.
// Input is in natural order; output k is at element output[k] (in-place decimation in frequency leaves it permuted, and
// the store that follows reorders it at no cost).
#pragma once

#include <cstdint>

#include "runtime/backends/cpu/fft/simd_plan.h"

namespace fourtune::runtime::cpu {

// Which numbers move between an array of complex numbers (stored as pairs of T) and a work buffer.
template <class T>
struct SimdMove {
  std::int64_t step = 2;   // distance between positions, in numbers of T
  std::int64_t line = 2;   // distance between lines
  int count = 1;           // number of lines present
  std::int64_t imag = 1;   // distance from a real to its imaginary part, which is written last (0: to the same place)
  std::int64_t first = 0;  // moves positions first .. first + size - 1; the array's pointer is that of position `first`
  std::int64_t size = 0;
  const T* factor = nullptr;  // one real number per position moved, or null
  // For adjacent lines only (line == 2): groups of `lanes` lines each, one after the other in the array and `group`
  // numbers apart in the work buffer. They are moved together so that the array is read in longer runs. count is then
  // that of one group.
  int groups = 1;
  std::int64_t group = 0;
  bool half = false;  // where positions follow each other (step == 2, imag == 1): the last one has a real part only
  bool swap = false;  // exchanges real and imaginary parts: done on load and store, this conjugates the transform
  bool past_caches = false;  // stores whole groups of adjacent lines past the caches, where they are aligned as vectors
};

// One axis of a box of elements, rows x n x width, the last index the fastest. loaded, stored: its first or last level
// runs at an edge.
struct SimdAxis {
  std::int64_t rows = 1, width = 1;
  bool loaded = false, stored = false;
};

// A level that reads or writes an array itself, so that elements go through the work buffer once less: the first level
// of the first axis that is transformed, with `from`, or the last level of the last one, with `to`; both where these
// are the same level. For groups of `lanes` adjacent lines, of which positions are in the order of elements.
template <class T>
struct SimdEdge {
  T* work = nullptr;
  int groups = 1;  // one after the other in the arrays, `group` numbers apart in the work buffer
  std::int64_t group = 0;
  const T* from = nullptr;
  T* to = nullptr;
  std::int64_t from_step = 0, to_step = 0;  // distance between positions, in numbers
  const std::int32_t* places = nullptr;     // with `to`: the position of each element's result
  bool swap = false;                        // exchanges real and imaginary parts on both sides
};
// How half a spectrum of real numbers stands for a whole one: entries that have a mirror image are multiplied by
// interior and conjugated if conjugate. exchange: its real and imaginary parts are exchanged.
template <class T>
struct HalfForm {
  T interior = 1;
  bool conjugate = false, exchange = false;
};

// Of one long real line, computed as a complex one of m pairs of neighbours. turns: exp(-pi i k / m), k <= m/2 (re,
// im).
template <class T>
struct HalfLine {
  std::int64_t m = 0;
  const T* turns = nullptr;
  HalfForm<T> form;
};

// The functions for one instruction set, with vectors of `lanes` numbers.
template <class T>
struct SimdFftKernels {
  int lanes;
  // In place, with sign -1. scratch: plan.scratch elements.
  void (*transform)(const SimdFftPlan<T>& plan, T* work, T* scratch);
  // The same along an axis of a box of elements, without its levels at edges.
  void (*transform_axis)(const SimdFftPlan<T>& plan, T* work, const SimdAxis& axis, T* scratch);
  // Precondition: has_edge(); edge.from or edge.to is there. Null with one lane and before AVX2.
  void (*edge_level)(const SimdFftPlan<T>& plan, const SimdAxis& axis, const SimdEdge<T>& edge);
  void (*load)(T* work, const T* from, const SimdMove<T>& move);
  void (*store)(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move);
  // Multiplies element output[k] by table[k] (an element, lane by lane) and by scalar[k] (re, im), for k < count.
  void (*twiddle)(T* work, const std::int32_t* output, std::int64_t count, const T* table, const T* scalar);
  // to[k] = from[index[k]] times scalar[k] (re, im), with parts exchanged if swap, for k < count. A null index means k
  // itself; then to may equal from.
  void (*multiply)(const T* from, const std::int32_t* index, std::int64_t count, const T* scalar, bool swap, T* to);
  // Real transforms of 2m numbers, computed as complex ones of m pairs of neighbours. split turns the m-point transform
  // in work into positions 0 .. m of the spectrum, in natural order, in half. merge turns these into the input of an
  // m-point transform whose results, with real and imaginary parts exchanged, are the pairs. w holds exp(-2 pi i k /
  // 2m), k <= m/2 (re, im).
  void (*split)(const T* work, const std::int32_t* output, std::int64_t m, const T* w, const HalfForm<T>& form,
                T* half);
  void (*merge)(const T* half, std::int64_t m, const T* w, const HalfForm<T>& form, T* work);
  // Real transforms of an odd number n, computed as complex ones. A line moves as pairs of neighbours, the last of
  // which has one number. spread_pairs makes elements of them, join_pairs the reverse from real parts of elements
  // output[k]. halve and extend do what split and merge do; of what extend makes, the transform's real parts are the
  // line.
  void (*spread_pairs)(const T* pairs, std::int64_t n, T* work);
  void (*join_pairs)(const T* work, const std::int32_t* output, std::int64_t n, T* pairs);
  void (*halve)(const T* work, const std::int32_t* output, std::int64_t n, const HalfForm<T>& form, T* half);
  void (*extend)(const T* half, std::int64_t n, const HalfForm<T>& form, T* work);
  // split and merge for one line, which is stored as pairs, in place or to another array: positions first .. last - 1,
  // with 0 < first and last <= m/2 + 1, and their mirror images m - k. merge makes the input of a transform of sign +1.
  void (*split_line)(T* line, std::int64_t first, std::int64_t last, const HalfLine<T>& half);
  void (*merge_line)(const T* from, T* to, std::int64_t first, std::int64_t last, const HalfLine<T>& half);

  // Whether a level of this radix can run at an edge.
  bool has_edge(int radix) const { return edge_level != nullptr && radix <= 16; }
};
// Kernels for this processor's vectors, and kernels for one lane. A processor without vectors has only the latter.
template <class T>
const SimdFftKernels<T>& simd_fft_kernels();
template <class T>
const SimdFftKernels<T>& single_fft_kernels();
// Kernels for vectors of half as many lanes, with the same bits, where this processor's have 512 bits; elsewhere
// `lanes` is 0. For fewer lines than wide vectors hold, or where threads share few vectors of lines.
template <class T>
const SimdFftKernels<T>& narrow_fft_kernels();

}  // namespace fourtune::runtime::cpu
