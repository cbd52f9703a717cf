// One long complex FFT as a matrix of short ones (the four-step method): n = rows * columns, short FFTs along one side,
// twiddle factors, short FFTs along the other side. All use the vectorised kernels on blocks that fit in cache, and
// threads share the blocks. There are two orders, so that either the end or the start can be pruned:
//   columns_then_rows: first reads element j = columns j1 + j2 (all of them); last gives k = k1 + rows k2
//   rows_then_columns: first takes element j = j1 + rows j2;                  last gives k = columns k1 + k2
// In both, the intermediate matrix is [row][column], with row length `columns`.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "generator/plan/lane_radices.h"
#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/simd.h"

namespace fourtune::runtime::cpu {

// Which part of a long transform's spectrum is kept, and where: position k < low at to[low_at + k], position k >= n -
// high at to[high_at + k - (n - high)], times factor (indexed like `to`, or null).
template <class T>
struct KeptModes {
  std::int64_t low = 0, high = 0;
  std::int64_t low_at = 0, high_at = 0;
  const T* factor = nullptr;
};

using generator::kLongLine, generator::kShortLine;

// Whether threads take whole long transforms, each of which works on so many bytes, so that none waits for the others,
// instead of sharing each: where there are enough for all of them and each thread's memory for one is not much.
inline bool are_long_lines_apart(std::int64_t bytes, std::int64_t batch, int workers) {
  constexpr std::int64_t most_bytes = std::int64_t{4} << 20;
  return workers > 1 && bytes <= most_bytes && (batch % workers == 0 || batch >= 3 * workers);
}

template <class T>
class LongFft {
  using Value = std::complex<T>;

 public:
  // True when n splits into two lengths that the kernels support.
  static bool supports(std::int64_t n);
  // Precondition: supports(n).
  LongFft(std::int64_t n, int sign, int threads);
  static std::int64_t work_values(std::int64_t n);
  std::int64_t n() const { return rows_ * columns_; }
  std::int64_t bytes() const {
    return work_.bytes() + copy_.bytes() + lane_tables_.bytes() + bytes_of(coarse_) + bytes_of(fine_) +
           bytes_of(first_scalars_) + bytes_of(row_results_);
  }

  // The whole transform; element i is at i * stride. work: work_values(n) elements, neither in nor out; in == out is
  // allowed.
  void transform(const Value* in, std::int64_t in_stride, Value* work, Value* out, std::int64_t out_stride) const;
  // Destroys grid.
  void truncate(Value* grid, Value* modes, const KeptModes<T>& kept) const;
  void pad(const Value* modes, Value* grid, const KeptModes<T>& kept) const;

 private:
  T* thread_work(int worker) const;
  template <class F>
  void groups_of(std::int64_t block, std::int64_t all, bool together, F run) const;
  void columns_first(const Value* in, std::int64_t stride, Value* matrix, std::int64_t pitch) const;
  template <class F>
  void rows_of(const Value* matrix, F store) const;
  void make_tables();
  void scalars(std::int64_t at, std::int64_t count, T* result) const;
  SimdMove<T> move(std::int64_t step, std::int64_t line, std::int64_t count, std::int64_t first, std::int64_t size,
                   std::int64_t groups = 1) const;
  // Of groups of adjacent lines in a thread's work; `from` may be null.
  SimdEdge<T> edge_of(T* work, std::int64_t groups, const T* from, std::int64_t step) const;
  void keep(const T* work, std::int64_t line, std::int64_t count, Value* modes, const KeptModes<T>& kept) const;
  void fill(T* work, std::int64_t line, std::int64_t count, const Value* modes, const KeptModes<T>& kept) const;

  const SimdFftKernels<T>& kernels_;
  std::int64_t rows_, columns_, pitch_;        // pitch_: of transform()'s matrix
  SimdFftPlan<T> along_columns_, along_rows_;  // of lengths rows_ and columns_
  bool swap_;
  int threads_;
  std::int64_t longest_, split_;
  std::vector<std::complex<double>> coarse_, fine_;  // exp(-2 pi i t/n) for t = split * a and t = b
  AlignedBytes lane_tables_;                         // exp(-2 pi i k l / n) for k up to longest_ and each lane l
  // What scalars() gives for each block of columns_first, for transforms that are not so long that it would take much.
  std::vector<T> first_scalars_;
  std::vector<std::int32_t> row_results_;   // which result an element of a row's transform holds
  AlignedBytes work_, copy_;                // copy_: of the modes, for transforms that are not long
  std::int64_t area_ = 0, groups_ = 1;      // numbers of a group in a thread's work, groups of a block
  std::int64_t scratch_ = 0, scalars_ = 0;  // where they begin in a thread's work
  std::int64_t work_stride_ = 0;
};

}  // namespace fourtune::runtime::cpu
