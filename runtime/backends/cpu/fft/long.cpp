#include "runtime/backends/cpu/fft/long.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "generator/plan/lane_radices.h"
#include "runtime/backends/cpu/fft/arrays.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kTile = 16;  // positions of a block that keep and fill move at a time
constexpr std::int64_t kMaxLanes = 16;
constexpr std::int64_t kCopied = std::int64_t{1} << 20;       // bytes of a transform whose modes are copied
constexpr std::int64_t kScalarsKept = std::int64_t{1} << 18;  // the longest transform whose scalar factors are kept
// Groups of lines at a time, so that runs of the arrays are longer; what they take stays in a second-level cache. Each
// thread has a few of such blocks.
constexpr int kTogether = 4, kBlocksOfThread = 4;
constexpr std::int64_t kTogetherBytes = std::int64_t{320} << 10;

// Narrower vectors where a side of the matrix does not fill wide ones.
template <class T>
const SimdFftKernels<T>& kernels_of(std::int64_t n) {
  const auto &wide = simd_fft_kernels<T>(), &narrow = narrow_fft_kernels<T>();
  return narrow.lanes == 0 || generator::matrix_columns(n, wide.lanes) != 0 ? wide : narrow;
}

// to[i] = from[i] times factor[i], where factor may be null.
template <class T>
void scale(const std::complex<T>* from, const T* factor, std::int64_t count, std::complex<T>* to) {
  if (factor == nullptr) {
    std::copy_n(from, count, to);
    return;
  }
  const T* const a = reinterpret_cast<const T*>(from);
  T* const b = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < count; ++i) b[2 * i] = a[2 * i] * factor[i], b[2 * i + 1] = a[2 * i + 1] * factor[i];
}

// From one row of a matrix of this many columns to the next one, in values: rows at a power of two of each other
// compete for the same places of a cache.
template <class T>
std::int64_t pitch_of(std::int64_t columns) {
  constexpr std::int64_t kLines = 128 / sizeof(std::complex<T>), kPeriod = 2048 / sizeof(std::complex<T>);
  return columns % kPeriod == 0 ? columns + kLines : columns;
}

}  // namespace

template <class T>
bool LongFft<T>::supports(std::int64_t n) {
  return simd_fft_supports(n) && generator::matrix_columns(n, kernels_of<T>(n).lanes) != 0;
}

template <class T>
std::int64_t LongFft<T>::work_values(std::int64_t n) {
  const std::int64_t columns = generator::matrix_columns(n, kernels_of<T>(n).lanes);
  return n / columns * pitch_of<T>(columns);
}

template <class T>
LongFft<T>::LongFft(std::int64_t n, int sign, int threads)
    : kernels_(kernels_of<T>(n)),
      rows_(n / generator::matrix_columns(n, kernels_.lanes)),
      columns_(n / rows_),
      pitch_(pitch_of<T>(columns_)),
      along_columns_(make_simd_fft_plan<T>(rows_)),
      along_rows_(make_simd_fft_plan<T>(columns_)),
      swap_(sign > 0),
      threads_(team_size(threads)),
      longest_(std::max(rows_, columns_)) {
  make_tables();
  area_ = (longest_ + 1) * 2 * kernels_.lanes;
  const std::int64_t lines = std::min(rows_, columns_);
  groups_ = std::clamp<std::int64_t>(kTogetherBytes / (area_ * static_cast<std::int64_t>(sizeof(T))), 1, kTogether);
  while (groups_ > 1 && lines / (kernels_.lanes * groups_) < kBlocksOfThread * threads_) --groups_;
  // A block, the plans' scratch, the scalar factors of positions, and padding that avoids powers of two.
  scratch_ = groups_ * area_;
  scalars_ = scratch_ + std::max(along_columns_.scratch, along_rows_.scratch) * 2 * kernels_.lanes;
  work_stride_ = (scalars_ + 2 * longest_) * static_cast<std::int64_t>(sizeof(T));
  work_stride_ = (work_stride_ + 4095) / 4096 * 4096 + 256;
  work_ = AlignedBytes(work_stride_ * threads_);
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(Value));
  if (bytes <= kCopied) copy_ = AlignedBytes(bytes);
}

template <class T>
void LongFft<T>::make_tables() {
  const std::int64_t n = rows_ * columns_;
  const auto root = [n](std::int64_t t) {
    const double turn = -2 * std::numbers::pi * static_cast<double>(t) / static_cast<double>(n);
    return std::complex<double>(std::cos(turn), std::sin(turn));
  };
  split_ = columns_;
  for (std::int64_t a = 0; a <= n / split_; ++a) coarse_.push_back(root(a * split_));
  for (std::int64_t b = 0; b < split_; ++b) fine_.push_back(root(b));
  std::vector<Value> pairs(static_cast<std::size_t>(longest_ * kernels_.lanes));
  for (std::int64_t k = 0; k < longest_; ++k) {
    for (int l = 0; l < kernels_.lanes; ++l) pairs[k * kernels_.lanes + l] = Value(root(k * l % n));
  }
  lane_tables_ = AlignedBytes(longest_ * 2 * kernels_.lanes * static_cast<std::int64_t>(sizeof(T)));
  SimdMove<T> all = move(kernels_.lanes, 1, kernels_.lanes, 0, longest_);
  all.swap = false;
  kernels_.load(lane_tables_.as<T>(), reinterpret_cast<const T*>(pairs.data()), all);
  row_results_.resize(static_cast<std::size_t>(columns_));
  for (std::int64_t k = 0; k < columns_; ++k)
    row_results_[static_cast<std::size_t>(along_rows_.output[static_cast<std::size_t>(k)])] =
        static_cast<std::int32_t>(k);
  if (n > kScalarsKept) return;
  const std::int64_t blocks = (columns_ + kernels_.lanes - 1) / kernels_.lanes;
  first_scalars_.resize(static_cast<std::size_t>(blocks * rows_ * 2));
  for (std::int64_t block = 0; block < blocks; ++block)
    scalars(block * kernels_.lanes, rows_, first_scalars_.data() + block * rows_ * 2);
}

// Computes exp(-2 pi i k at / n) for k < count.
template <class T>
void LongFft<T>::scalars(std::int64_t at, std::int64_t count, T* result) const {
  std::int64_t a = 0, b = 0;  // k * at = a * split + b, kept reduced as k grows
  const std::int64_t step_a = at / split_, step_b = at % split_, wrap = rows_ * columns_ / split_;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::complex<double>&x = coarse_[a], &y = fine_[b];
    result[2 * k] = static_cast<T>(x.real() * y.real() - x.imag() * y.imag());
    result[2 * k + 1] = static_cast<T>(x.real() * y.imag() + x.imag() * y.real());
    a += step_a;
    b += step_b;
    if (b >= split_) b -= split_, ++a;
    if (a >= wrap) a -= wrap;
  }
}

template <class T>
T* LongFft<T>::thread_work(int worker) const {
  return reinterpret_cast<T*>(work_.as<char>() + worker * work_stride_);
}

template <class T>
SimdMove<T> LongFft<T>::move(std::int64_t step, std::int64_t line, std::int64_t count, std::int64_t first,
                             std::int64_t size, std::int64_t groups) const {
  SimdMove<T> result;
  result.groups = static_cast<int>(groups), result.group = area_;
  result.step = 2 * step;
  result.line = 2 * line;
  result.count = static_cast<int>(count);
  result.first = first;
  result.size = size;
  result.swap = swap_;
  return result;
}

// Calls run(first line, groups, lines of a group) for whole groups of a block together, and for what is left of it.
template <class T>
template <class F>
void LongFft<T>::groups_of(std::int64_t block, std::int64_t all, bool together, F run) const {
  const std::int64_t lanes = kernels_.lanes, first = block * groups_ * lanes,
                     last = std::min(first + groups_ * lanes, all);
  const std::int64_t whole = together ? (last - first) / lanes : 0;
  if (whole > 0) run(first, whole, lanes);
  for (std::int64_t line = first + whole * lanes; line < last; line += lanes)
    run(line, std::int64_t{1}, std::min(lanes, last - line));
}

template <class T>
SimdEdge<T> LongFft<T>::edge_of(T* work, std::int64_t groups, const T* from, std::int64_t step) const {
  SimdEdge<T> edge;
  edge.work = work, edge.groups = static_cast<int>(groups), edge.group = area_;
  edge.from = from, edge.from_step = 2 * step, edge.swap = swap_;
  return edge;
}

// Transforms elements columns * j1 + j2 of `in` over j1, applies twiddle factors and writes matrix[k1][j2], whose rows
// are `pitch` apart; in == matrix is allowed.
template <class T>
void LongFft<T>::columns_first(const Value* in, std::int64_t stride, Value* matrix, std::int64_t pitch) const {
  const std::int64_t lanes = kernels_.lanes, together = groups_ * lanes;
  parallel_for(threads_, (columns_ + together - 1) / together, [&](std::int64_t block, int worker) {
    T *work = thread_work(worker), *own = work + scalars_;
    groups_of(block, columns_, stride == 1, [&](std::int64_t j2, std::int64_t groups, std::int64_t count) {
      const T* const from = reinterpret_cast<const T*>(in + j2 * stride);
      const bool edge = stride == 1 && count == lanes && kernels_.has_edge(along_columns_.levels.front().radix);
      if (edge)
        kernels_.edge_level(along_columns_, {}, edge_of(work, groups, from, columns_));
      else
        kernels_.load(work, from, move(columns_ * stride, stride, count, 0, rows_, groups));
      for (std::int64_t g = 0; g < groups; ++g) {
        T* const area = work + g * area_;
        kernels_.transform_axis(along_columns_, area, {1, 1, edge, false}, work + scratch_);
        const bool kept = !first_scalars_.empty();
        if (!kept) scalars(j2 + g * lanes, rows_, own);
        const T* const scalar = kept ? first_scalars_.data() + (j2 / lanes + g) * rows_ * 2 : own;
        kernels_.twiddle(area, along_columns_.output.data(), rows_, lane_tables_.as<T>(), scalar);
      }
      kernels_.store(work, along_columns_.output.data(), reinterpret_cast<T*>(matrix + j2),
                     move(pitch, 1, count, 0, rows_, groups));
    });
  });
}

// Calls store(work, k1, count) for blocks of rows k1 .. k1 + count - 1, transformed over j2.
template <class T>
template <class F>
void LongFft<T>::rows_of(const Value* matrix, F store) const {
  const std::int64_t lanes = kernels_.lanes;
  parallel_for(threads_, (rows_ + lanes - 1) / lanes, [&](std::int64_t block, int worker) {
    const std::int64_t k1 = block * lanes, count = std::min(lanes, rows_ - k1);
    T* work = thread_work(worker);
    kernels_.load(work, reinterpret_cast<const T*>(matrix + k1 * columns_), move(1, columns_, count, 0, columns_));
    kernels_.transform(along_rows_, work, work + scratch_);
    store(work, k1, count);
  });
}

template <class T>
void LongFft<T>::transform(const Value* in, std::int64_t in_stride, Value* work, Value* out,
                           std::int64_t out_stride) const {
  const std::int64_t lanes = kernels_.lanes, together = groups_ * lanes;
  columns_first(in, in_stride, work, pitch_);
  parallel_for(threads_, (rows_ + together - 1) / together, [&](std::int64_t block, int worker) {
    T* const own = thread_work(worker);
    groups_of(block, rows_, out_stride == 1, [&](std::int64_t k1, std::int64_t groups, std::int64_t count) {
      T* const to = reinterpret_cast<T*>(out + k1 * out_stride);
      const bool edge = out_stride == 1 && count == lanes && kernels_.has_edge(along_rows_.levels.back().radix);
      for (std::int64_t g = 0; g < groups; ++g) {
        T* const area = own + g * area_;
        kernels_.load(area, reinterpret_cast<const T*>(work + (k1 + g * lanes) * pitch_),
                      move(1, pitch_, count, 0, columns_));
        kernels_.transform_axis(along_rows_, area, {1, 1, false, edge}, own + scratch_);
      }
      if (edge) {
        SimdEdge<T> last = edge_of(own, groups, nullptr, 0);
        last.to = to, last.to_step = 2 * rows_, last.places = row_results_.data();
        kernels_.edge_level(along_rows_, {}, last);
      } else {
        kernels_.store(own, along_rows_.output.data(), to,
                       move(rows_ * out_stride, out_stride, count, 0, columns_, groups));
      }
    });
  });
}

// Modes of a block lie far apart, so that each would be waited for. Where a copy of all of them stays in the
// second-level cache, it is what blocks read and write, and the caller's modes are read and written in order.
template <class T>
void LongFft<T>::truncate(Value* grid, Value* modes, const KeptModes<T>& kept) const {
  Value* const copy = copy_.as<Value>();
  KeptModes<T> plain = kept;
  if (copy != nullptr) plain.factor = nullptr;
  columns_first(grid, 1, grid, columns_);
  rows_of(grid, [&](const T* block, std::int64_t k1, std::int64_t count) {
    keep(block, k1, count, copy != nullptr ? copy : modes, plain);
  });
  if (copy != nullptr) scale(copy, kept.factor, kept.low + kept.high, modes);
}

// Writes the kept ones of positions line + l + rows k2, l < count.
template <class T>
void LongFft<T>::keep(const T* work, std::int64_t line, std::int64_t count, Value* modes,
                      const KeptModes<T>& kept) const {
  const std::int64_t high_from = rows_ * columns_ - kept.high;
  Value tile[kTile * kMaxLanes];
  for (std::int64_t first = 0; first < columns_; first += kTile) {
    const std::int64_t size = std::min(kTile, columns_ - first);
    // Skips a tile of which nothing is kept.
    if (line + rows_ * first >= kept.low && line + count + rows_ * (first + size - 1) <= high_from) continue;
    const std::int64_t begin = line + rows_ * first, end = line + count + rows_ * (first + size - 1);
    if (kept.factor == nullptr && (end <= kept.low || begin >= high_from)) {
      const std::int64_t at = begin + (begin >= high_from ? kept.high_at - high_from : kept.low_at);
      kernels_.store(work, along_rows_.output.data(), reinterpret_cast<T*>(modes + at),
                     move(rows_, 1, count, first, size));
      continue;
    }
    kernels_.store(work, along_rows_.output.data(), reinterpret_cast<T*>(tile), move(kMaxLanes, 1, count, first, size));
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t k = line + rows_ * (first + i);
      if (k + count <= kept.low || k >= high_from) {  // all of them in one part
        const std::int64_t at = k + (k >= high_from ? kept.high_at - high_from : kept.low_at);
        scale(tile + i * kMaxLanes, kept.factor == nullptr ? nullptr : kept.factor + at, count, modes + at);
        continue;
      }
      const auto put = [&](std::int64_t from, std::int64_t to, std::int64_t shift) {
        for (std::int64_t l = std::max<std::int64_t>(0, from - k); l < std::min(count, to - k); ++l) {
          const Value v = tile[i * kMaxLanes + l];
          modes[k + l + shift] = kept.factor != nullptr ? v * kept.factor[k + l + shift] : v;
        }
      };
      put(0, kept.low, kept.low_at);
      put(high_from, rows_ * columns_, kept.high_at - high_from);
    }
  }
}

template <class T>
void LongFft<T>::pad(const Value* modes, Value* grid, const KeptModes<T>& kept) const {
  const std::int64_t lanes = kernels_.lanes;
  Value* const copy = copy_.as<Value>();
  KeptModes<T> plain = kept;
  if (copy != nullptr) {
    plain.factor = nullptr;
    scale(modes, kept.factor, kept.low + kept.high, copy);
  }
  parallel_for(threads_, (rows_ + lanes - 1) / lanes, [&](std::int64_t block, int worker) {
    const std::int64_t j1 = block * lanes, count = std::min(lanes, rows_ - j1);
    T *work = thread_work(worker), *scalar = work + scalars_;
    fill(work, j1, count, copy != nullptr ? copy : modes, plain);
    kernels_.transform(along_rows_, work, work + scratch_);
    scalars(j1, columns_, scalar);
    kernels_.twiddle(work, along_rows_.output.data(), columns_, lane_tables_.as<T>(), scalar);
    kernels_.store(work, along_rows_.output.data(), reinterpret_cast<T*>(grid + j1 * columns_),
                   move(1, columns_, count, 0, columns_));
  });
  parallel_for(threads_, (columns_ + lanes - 1) / lanes, [&](std::int64_t block, int worker) {
    const std::int64_t k2 = block * lanes, count = std::min(lanes, columns_ - k2);
    T* work = thread_work(worker);
    kernels_.load(work, reinterpret_cast<const T*>(grid + k2), move(columns_, 1, count, 0, rows_));
    kernels_.transform(along_columns_, work, work + scratch_);
    kernels_.store(work, along_columns_.output.data(), reinterpret_cast<T*>(grid + k2),
                   move(columns_, 1, count, 0, rows_));
  });
}

// The reverse of keep: loads positions line + l + rows j2, with zeros where nothing is kept.
template <class T>
void LongFft<T>::fill(T* work, std::int64_t line, std::int64_t count, const Value* modes,
                      const KeptModes<T>& kept) const {
  const std::int64_t high_from = rows_ * columns_ - kept.high;
  Value tile[kTile * kMaxLanes];
  for (std::int64_t first = 0; first < columns_; first += kTile) {
    const std::int64_t size = std::min(kTile, columns_ - first);
    if (line + rows_ * first >= kept.low && line + count + rows_ * (first + size - 1) <= high_from) {
      std::fill_n(work + first * 2 * kernels_.lanes, size * 2 * kernels_.lanes, T(0));
      continue;
    }
    const std::int64_t begin = line + rows_ * first, end = line + count + rows_ * (first + size - 1);
    if (kept.factor == nullptr && (end <= kept.low || begin >= high_from)) {
      const std::int64_t at = begin + (begin >= high_from ? kept.high_at - high_from : kept.low_at);
      kernels_.load(work, reinterpret_cast<const T*>(modes + at), move(rows_, 1, count, first, size));
      continue;
    }
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t j = line + rows_ * (first + i);
      if (count == kernels_.lanes && (j + count <= kept.low || j >= high_from)) {  // all of them in one part
        const std::int64_t at = j + (j >= high_from ? kept.high_at - high_from : kept.low_at);
        scale(modes + at, kept.factor == nullptr ? nullptr : kept.factor + at, count, tile + i * kMaxLanes);
        continue;
      }
      std::fill_n(tile + i * kMaxLanes, kMaxLanes, Value());
      const auto get = [&](std::int64_t from, std::int64_t to, std::int64_t shift) {
        for (std::int64_t l = std::max<std::int64_t>(0, from - j); l < std::min(count, to - j); ++l) {
          const Value v = modes[j + l + shift];
          tile[i * kMaxLanes + l] = kept.factor != nullptr ? v * kept.factor[j + l + shift] : v;
        }
      };
      get(0, kept.low, kept.low_at);
      get(high_from, rows_ * columns_, kept.high_at - high_from);
    }
    kernels_.load(work, reinterpret_cast<const T*>(tile), move(kMaxLanes, 1, count, first, size));
  }
}

template class LongFft<float>;
template class LongFft<double>;

}  // namespace fourtune::runtime::cpu
