// Windows directly in the fine grid by whole aligned lines: the x weights of a point are shifted to the window's place
// in its lines, and the remaining cells of the first and last line get weight zero. A row then never splits a line, and
// a point that reads what the previous one wrote finds it in the store buffer. A line is one vector: 64 bytes where
// this is used (AVX-512), less where tests run it on other processors.
//
// A point touches the lines of its window and no others: the memory around them may be another thread's row or lie
// outside the grid.
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

// Complex numbers per line, and the least and the most lines that a window touches, by its start in its first line.
template <class T>
inline constexpr int kLineCells = kLanes<T> / 2;
template <int W, class T>
inline constexpr int kLeastLines = (W + kLineCells<T> - 1) / kLineCells<T>;
template <int W, class T>
inline constexpr int kMostLines = (W + kLineCells<T> - 1 + kLineCells<T> - 1) / kLineCells<T>;
// Used only where one vector is a cache line and windows fill a good part of the lines they touch.
template <int W, class T>
inline constexpr bool kByLines = kLanes<T> * sizeof(T) == kLine && 3 * W >= 2 * kLineCells<T>;

// Rows must be whole lines, so that the last line of a window is always inside the array. Tiles must be too, because
// threads own tiles and would otherwise share a line.
template <class T>
bool rows_are_lines(const T* grid, const Tiling& g, std::int64_t stride_y, std::int64_t stride_z) {
  const bool rows = (g.dim == 1 ? g.fine[0] : stride_y) % kLineCells<T> == 0;
  const bool planes = g.dim < 3 || stride_z % kLineCells<T> == 0;
  const bool starts = reinterpret_cast<std::uintptr_t>(grid) % (kLanes<T> * sizeof(T)) == 0;
  return rows && planes && starts && g.tile[0] % kLineCells<T> == 0;
}

// The count of numbers between the start of a line and `at`.
template <class T>
HWY_INLINE int offset_in_line(const T* at) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % (kLanes<T> * sizeof(T)) / sizeof(T));
}

// Lane i of a vector rotated up by 2 o lanes comes from lane index[o][i].
template <class T>
struct Rotations {
  static constexpr int kN = kLanes<T>;
  alignas(kLine) std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t> index[kN / 2][kN];
  constexpr Rotations() : index{} {
    for (int o = 0; o < kN / 2; ++o)
      for (int i = 0; i < kN; ++i) index[o][i] = (i - 2 * o + kN) % kN;
  }
};
template <class T>
inline constexpr Rotations<T> kRotations;

// Multiplies the x weights of a point by `scale` and moves them up by `offset` numbers to their place in Lines lines:
// every vector is rotated, and the lanes that wrapped around are taken from the vector below.
template <class T, int W, int Lines>
HWY_INLINE void shift_weights(const T* HWY_RESTRICT x, RowVec<T> scale, int offset, RowVec<T>* shifted) {
  constexpr int kN = std::min(kVectors<T, W>, Lines);
  const Row<T> d;
  const hn::RebindToSigned<Row<T>> di;
  const auto index = hn::IndicesFromVec(d, hn::Load(di, kRotations<T>.index[offset / 2]));
  const auto around = hn::FirstN(d, static_cast<std::size_t>(offset));
  RowVec<T> below = hn::Zero(d);
  for (int n = 0; n < kN; ++n) {
    const RowVec<T> at = hn::TableLookupLanes(hn::Mul(scale, hn::Load(d, x + n * kLanes<T>)), index);
    shifted[n] = hn::IfThenElse(around, below, at);
    below = at;
  }
  if constexpr (Lines > kN) shifted[kN] = hn::IfThenElseZero(around, below);
}

// Spreads a window that touches Lines lines, the first of which is at `lines`.
template <class T, int W, int Dim, int Lines>
HWY_INLINE void spread_lines(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, const T* HWY_RESTRICT z,
                             const std::complex<T>* strength, T* HWY_RESTRICT lines, int offset, std::int64_t stride_y,
                             std::int64_t stride_z) {
  constexpr int wy = Dim > 1 ? W : 1, wz = Dim > 2 ? W : 1;
  const Row<T> d;
  RowVec<T> along[Lines];
  shift_weights<T, W, Lines>(x, broadcast(strength), offset, along);
  for (int k = 0; k < wz; ++k, lines += stride_z) {
    T* HWY_RESTRICT row = lines;
#pragma GCC unroll 16
    for (int j = 0; j < wy; ++j, row += stride_y) {
      const T scalar = Dim > 2 ? z[k * kBlockPoints] * y[j * kBlockPoints] : Dim > 1 ? y[j * kBlockPoints] : T{1};
      const RowVec<T> c = hn::Set(d, scalar);
#pragma GCC unroll 8
      for (int n = 0; n < Lines; ++n) {
        T* at = row + n * kLanes<T>;
        hn::Store(hn::MulAdd(along[n], c, hn::Load(d, at)), d, at);
      }
    }
  }
}

// Where a row of a window touches fewer than 3.5 lines by the mean, going in pairs saves less than it costs.
template <int W, class T>
inline constexpr bool kInPairs = kByLines<W, T> && (2 * (W - 1) >= 5 * kLineCells<T>);

// Where a window begins: its first line, and its place there.
template <class T>
struct LineStart {
  T* line;
  int offset;
};
template <class T>
struct LineOf {
  T* grid;
  std::int64_t stride_y;  // in numbers of T
  HWY_INLINE LineStart<T> at(std::int64_t element) const {
    T* const start = grid + 2 * element;
    const int offset = offset_in_line(start);
    return {start - offset, offset};
  }
  // Rows from the first line of one window to that of another; more than kPairRows where they are not below each other.
  HWY_INLINE std::int64_t between(const LineStart<T>& one, const LineStart<T>& other) const {
    const std::int64_t apart = other.line - one.line;
    for (std::int64_t rows = -kPairRows; rows <= kPairRows; ++rows)
      if (apart == rows * stride_y) return rows;
    return kPairRows + 1;
  }
};
template <class T>
struct PairedPoint {
  int j;
  LineStart<T> start;
};

template <class T, int W, int Lines>
HWY_INLINE void spread_two(const WeightBlock<T>& block, const std::complex<T>* strengths, const PairedPoint<T>& upper,
                           const PairedPoint<T>& lower, std::int64_t between, std::int64_t stride_y) {
  const Row<T> d;
  RowVec<T> first[Lines], second[Lines];
  const T* HWY_RESTRICT x = block.x.data();
  shift_weights<T, W, Lines>(x + upper.j * 2 * kSlots<T, W>, broadcast(strengths + upper.j), upper.start.offset, first);
  shift_weights<T, W, Lines>(x + lower.j * 2 * kSlots<T, W>, broadcast(strengths + lower.j), lower.start.offset,
                             second);
  const T* HWY_RESTRICT above = block.y_weights() + upper.j;
  const T* HWY_RESTRICT below = block.y_weights() + lower.j - between * kBlockPoints;
  T* HWY_RESTRICT row = upper.start.line;
  for (std::int64_t y = 0; y < W + between; ++y, row += stride_y) {
    const RowVec<T> a = hn::Set(d, above[y * kBlockPoints]), b = hn::Set(d, below[y * kBlockPoints]);
#pragma GCC unroll 8
    for (int n = 0; n < Lines; ++n) {
      T* at = row + n * kLanes<T>;
      hn::Store(hn::MulAdd(second[n], b, hn::MulAdd(first[n], a, hn::Load(d, at))), d, at);
    }
  }
}

// Spreads two windows in a plane, of which `lower` begins in the same line as `upper`, `between` rows further. Their y
// weights have kPairRows zeros on either side.
template <class T, int W>
HWY_INLINE void spread_pair(const WeightBlock<T>& block, const std::complex<T>* strengths, const PairedPoint<T>& upper,
                            const PairedPoint<T>& lower, std::int64_t between, std::int64_t stride_y) {
  constexpr int kLeast = kLeastLines<W, T>, kMost = kMostLines<W, T>;
  if (kMost == kLeast || std::max(upper.start.offset, lower.start.offset) + 2 * W <= kLeast * kLanes<T>) {
    spread_two<T, W, kLeast>(block, strengths, upper, lower, between, stride_y);
  } else {
    spread_two<T, W, kMost>(block, strengths, upper, lower, between, stride_y);
  }
}

// The weights of a point along one dimension are kBlockPoints numbers apart; strides are the grid's, in numbers of T.
template <class T, int W, int Dim>
HWY_INLINE void spread_point_lines(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, const T* HWY_RESTRICT z,
                                   const std::complex<T>* strength, T* HWY_RESTRICT grid, std::int64_t stride_y,
                                   std::int64_t stride_z) {
  constexpr int kLeast = kLeastLines<W, T>, kMost = kMostLines<W, T>;
  static_assert(kMost - kLeast <= 1);
  const int offset = offset_in_line(grid);
  if (kMost == kLeast || offset + 2 * W <= kLeast * kLanes<T>) {
    spread_lines<T, W, Dim, kLeast>(x, y, z, strength, grid - offset, offset, stride_y, stride_z);
  } else {
    spread_lines<T, W, Dim, kMost>(x, y, z, strength, grid - offset, offset, stride_y, stride_z);
  }
}

template <class T, int W, int Dim, int Lines>
HWY_INLINE std::complex<T> interpolate_lines(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, const T* HWY_RESTRICT z,
                                             const T* HWY_RESTRICT lines, int offset, std::int64_t stride_y,
                                             std::int64_t stride_z) {
  constexpr int wy = Dim > 1 ? W : 1, wz = Dim > 2 ? W : 1;
  const Row<T> d;
  RowVec<T> sum[Lines], along[Lines];
  for (int n = 0; n < Lines; ++n) sum[n] = hn::Zero(d);
  for (int k = 0; k < wz; ++k, lines += stride_z) {
    const T* HWY_RESTRICT row = lines;
#pragma GCC unroll 16
    for (int j = 0; j < wy; ++j, row += stride_y) {
      const T scalar = Dim > 2 ? z[k * kBlockPoints] * y[j * kBlockPoints] : Dim > 1 ? y[j * kBlockPoints] : T{1};
      const RowVec<T> c = hn::Set(d, scalar);
#pragma GCC unroll 8
      for (int n = 0; n < Lines; ++n) sum[n] = hn::MulAdd(c, hn::Load(d, row + n * kLanes<T>), sum[n]);
    }
  }
  shift_weights<T, W, Lines>(x, hn::Set(d, T{1}), offset, along);
  // Cells outside the window may hold anything, even NaN: they are excluded by mask, not by zero weights.
  RowVec<T> total = hn::Zero(d);
  for (int n = 0; n < Lines; ++n) {
    const int end = offset + 2 * W - n * kLanes<T>;
    auto inside = hn::FirstN(d, static_cast<std::size_t>(end < 0 ? 0 : end));
    if (n == 0) inside = hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(offset)), inside);
    total = hn::MulAdd(hn::IfThenElseZero(inside, sum[n]), along[n], total);
  }
  return sum_pairs(d, total);
}

template <class T, int W, int Dim>
HWY_INLINE std::complex<T> interpolate_point_lines(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y,
                                                   const T* HWY_RESTRICT z, const T* HWY_RESTRICT grid,
                                                   std::int64_t stride_y, std::int64_t stride_z) {
  constexpr int kLeast = kLeastLines<W, T>, kMost = kMostLines<W, T>;
  const int offset = offset_in_line(grid);
  if (kMost == kLeast || offset + 2 * W <= kLeast * kLanes<T>)
    return interpolate_lines<T, W, Dim, kLeast>(x, y, z, grid - offset, offset, stride_y, stride_z);
  return interpolate_lines<T, W, Dim, kMost>(x, y, z, grid - offset, offset, stride_y, stride_z);
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
