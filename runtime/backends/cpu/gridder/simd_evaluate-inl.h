// Vector kernels of window evaluation: y and z weights across points, x rows point by point from the shifted tables.
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

template <class T>
struct Unpacked {
  alignas(kLine) T z[3][kBlockPoints];
  alignas(kLine) std::int32_t offset[kBlockPoints];  // offset of the window in its x-bin
};

// Unpacks one field of every record: cells and z = 2 f - 1. Integers below 2^52 become doubles through the mantissa.
template <class T>
HWY_INLINE void unpack_field(const RecordForm& form, const std::uint32_t* HWY_RESTRICT records, int n, int dimension,
                             std::int32_t* HWY_RESTRICT cell, T* HWY_RESTRICT z) {
  using D64 = Row<double>;
  constexpr int kN64 = kLanes<double>;
  const D64 d;
  const hn::RebindToUnsigned<D64> du;
  const hn::RebindToSigned<D64> ds;
  const hn::Rebind<std::int32_t, D64> di;
  const Field field = form.field[dimension];
  const auto* base =
      reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(records) + (field.offset >> 3));
  const std::int64_t stride = std::int64_t{4} * form.words;
  const auto mask = hn::Set(du, field.mask()), below = hn::Set(du, (std::uint64_t{1} << form.fraction) - 1);
  const hn::Vec<D64> two52 = hn::Set(d, 0x1p52);
  const auto exponent = hn::BitCast(du, two52);
  const double unit = 1.0 / static_cast<double>(std::uint64_t{1} << form.fraction);
  const auto step = hn::Mul(hn::Iota(ds, 0), hn::Set(ds, stride));
  alignas(kLine) std::uint64_t raw[kN64];
  for (int j = 0; j < n; j += kN64) {
    hn::Vec<decltype(du)> v;
    if (stride == 8 && j + kN64 <= n) {
      v = hn::LoadU(du, base + j);
    } else if (j + kN64 <= n) {
      v = hn::GatherOffset(du, base, hn::Add(step, hn::Set(ds, j * stride)));
    } else {
      for (int i = 0; i < kN64; ++i) {
        __builtin_memcpy(raw + i, reinterpret_cast<const char*>(base) + std::min(j + i, n - 1) * stride, sizeof raw[0]);
      }
      v = hn::Load(du, raw);
    }
    v = hn::And(hn::ShiftRightSame(v, field.offset & 7), mask);
    const auto whole = hn::Sub(hn::BitCast(d, hn::Or(hn::ShiftRightSame(v, form.fraction), exponent)), two52);
    const auto f = hn::Sub(hn::BitCast(d, hn::Or(hn::And(v, below), exponent)), two52);
    const auto at = hn::MulAdd(f, hn::Set(d, 2 * unit), hn::Set(d, unit - 1.0));
    hn::Store(hn::DemoteTo(di, whole), di, cell + j);
    if constexpr (sizeof(T) == 8) {
      hn::Store(at, d, z + j);
    } else {
      const hn::Rebind<float, D64> df;
      hn::Store(hn::DemoteTo(df, at), df, z + j);
    }
  }
}

template <class T>
HWY_INLINE void locate_rows(const Tiling& g, int n, bool in_bins, WeightBlock<T>& block, Unpacked<T>& u) {
  const std::int32_t inverse = (65536 + g.bin - 1) / g.bin;  // exact for cells below 256
  const std::int32_t bin = g.bin, py = g.padded[1], pz = g.padded[2], slots = g.slots;
  const std::int32_t keep = in_bins ? -1 : 0;
  for (int j = 0; j < n; ++j) {
    const std::int32_t x = block.cell[0][j];
    const std::int32_t b = (x * inverse) >> 16;
    u.offset[j] = (x - b * bin) & keep;
    block.row[j] = ((b * pz + block.cell[2][j]) * py + block.cell[1][j]) * slots;
  }
}

// A window is symmetric: with the even part E and the odd part O of piece p in z, piece p is E + O and piece W - 1 - p
// is E - O. Both parts are polynomials in z^2.

// Computes one dimension's weights of up to kBlockPoints points, a vector at a time, with all pieces in registers.
template <class T, int W>
HWY_INLINE void weights_across(const WeightTables<T>& t, const T* HWY_RESTRICT z, int n, T* HWY_RESTRICT out) {
  constexpr int kHalf = (W + 1) / 2;
  const Row<T> d;
  const int pairs = t.pairs, row = t.row;
  for (int j = 0; j < n; j += kLanes<T>) {
    const T* HWY_RESTRICT c = t.parts.data();
    const RowVec<T> at = hn::Load(d, z + j), square = hn::Mul(at, at);
    RowVec<T> odd[kHalf], even[kHalf];
#pragma GCC unroll 8
    for (int p = 0; p < kHalf; ++p) odd[p] = hn::Set(d, c[p]), even[p] = hn::Set(d, c[row + p]);
    for (int k = 1; k < pairs; ++k) {
      c += 2 * row;
#pragma GCC unroll 8
      for (int p = 0; p < kHalf; ++p) {
        odd[p] = hn::MulAdd(odd[p], square, hn::Set(d, c[p]));
        even[p] = hn::MulAdd(even[p], square, hn::Set(d, c[row + p]));
      }
    }
#pragma GCC unroll 8
    for (int p = 0; p < kHalf; ++p) {
      hn::Store(hn::MulAdd(odd[p], at, even[p]), d, out + p * kBlockPoints + j);
      hn::Store(hn::NegMulAdd(odd[p], at, even[p]), d, out + (W - 1 - p) * kBlockPoints + j);
    }
  }
}

// Lane i of `low` and `high` comes from lane i / 2 of the lower or the upper half of a vector; mirrored ones count from
// its end.
template <class T>
struct Doublings {
  static constexpr int kN = kLanes<T>;
  using Lane = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  alignas(kLine) Lane low[kN], high[kN], mirrored_low[kN], mirrored_high[kN];
  constexpr Doublings() : low{}, high{}, mirrored_low{}, mirrored_high{} {
    for (int i = 0; i < kN; ++i) {
      low[i] = i / 2, high[i] = (kN + i) / 2;
      mirrored_low[i] = kN - 1 - i / 2, mirrored_high[i] = kN - 1 - (kN + i) / 2;
    }
  }
};
template <class T>
inline constexpr Doublings<T> kDoublings;

// The weights of one point after the other. A vector holds pieces of the left half of one window, or of a narrow window
// all pieces, and those of the next point too if they fit.
template <class T, int W>
struct PointWeights {
  static constexpr int kL = kLanes<T>;
  static constexpr bool kTwo = 2 * W <= kL;                                    // two points in a vector
  static constexpr int kV = kMirrors<T, W> ? (W + 2 * kL - 1) / (2 * kL) : 1;  // vectors of a point
  static constexpr int kTogether = kV > 1 ? 2 : 4;  // vectors of points that read a table row once
  static constexpr int kPoints = kTwo ? 2 : 1;
  static constexpr int kStep = kTogether * kPoints;
  static_assert(!kMirrors<T, W> || (kV * kL <= W && 2 * kV * kL >= W));
  static_assert(kBlockPoints % kStep == 0);

  const WeightTables<T>& t;
  const T* HWY_RESTRICT z;

  static HWY_INLINE RowVec<T> coefficients(const T* c) {
    const Row<T> d;
    if constexpr (kTwo) {
      const auto half = hn::Load(hn::Half<Row<T>>(), c);
      return hn::Combine(d, half, half);
    } else {
      return hn::Load(d, c);
    }
  }
  HWY_INLINE RowVec<T> position(int j) const {
    const Row<T> d;
    if constexpr (kTwo) {
      const hn::Half<Row<T>> half;
      return hn::Combine(d, hn::Set(half, z[j + 1]), hn::Set(half, z[j]));
    } else {
      return hn::Set(d, z[j]);
    }
  }
  // Calls each(j, left, right) for the kPoints points from j on, in groups of kStep points; those behind the last one
  // are computed too.
  template <class F>
  HWY_INLINE void group(int j, F each) const {
    RowVec<T> at[kTogether], square[kTogether], odd[kTogether][kV], even[kTogether][kV];
    const T* HWY_RESTRICT c = t.parts.data();
    for (int i = 0; i < kTogether; ++i) {
      at[i] = position(j + i * kPoints);
      square[i] = hn::Mul(at[i], at[i]);
      for (int v = 0; v < kV; ++v) odd[i][v] = coefficients(c + v * kL), even[i][v] = coefficients(c + t.row + v * kL);
    }
    for (int k = 1; k < t.pairs; ++k) {
      c += 2 * t.row;
      for (int v = 0; v < kV; ++v) {
        const RowVec<T> c_odd = coefficients(c + v * kL), c_even = coefficients(c + t.row + v * kL);
        for (int i = 0; i < kTogether; ++i) {
          odd[i][v] = hn::MulAdd(odd[i][v], square[i], c_odd);
          even[i][v] = hn::MulAdd(even[i][v], square[i], c_even);
        }
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) {
      RowVec<T> left[kV], right[kV];
      for (int v = 0; v < kV; ++v) {
        left[v] = hn::MulAdd(odd[i][v], at[i], even[i][v]);
        right[v] = hn::NegMulAdd(odd[i][v], at[i], even[i][v]);
      }
      each(j + i * kPoints, left, right);
    }
  }
  // Calls each(j, left, right) for every single point from j on, of those in one vector; where windows are placed in
  // registers.
  template <class F>
  static HWY_INLINE void single(int j, const RowVec<T>* left, const RowVec<T>* right, F each) {
    static_assert(kV == 1);
    each(j, left[0], right[0]);
    if constexpr (kTwo) {
      const Row<T> d;
      each(j + 1, hn::ConcatUpperUpper(d, left[0], left[0]), right[0]);
    }
  }
};

// The x rows of points: every weight twice, for real and imaginary parts, at the window's place among zeros. Rows are
// written in ascending order, as a window's last vector may end in the row behind.
template <class T, int W>
struct RowWeights {
  using Points = PointWeights<T, W>;
  static constexpr int kL = kLanes<T>, kV = Points::kV;
  static constexpr int kWide = 2 * kSlots<T, W>;

  const Unpacked<T>& u;
  bool in_bins;
  T* HWY_RESTRICT out;

  static HWY_INLINE RowVec<T> lookup(RowVec<T> v, const typename Doublings<T>::Lane* index) {
    return hn::TableLookupLanes(v, hn::IndicesFromVec(Row<T>(), hn::Load(hn::RebindToSigned<Row<T>>(), index)));
  }
  // Clears the vectors of row j that the window does not always fill; returns the place of its first cell. A narrow
  // window at slot 0 is written with the zeros behind it.
  HWY_INLINE T* begin_row(int j) const {
    const Row<T> d;
    constexpr int kCells = kL / 2, kBin = kSlots<T, W> - W + 1;
    constexpr int kFilled = kMirrors<T, W> ? W / kCells : 2 * W > kL ? 2 : 1;
    T* row = out + std::int64_t{j} * kWide;
    for (int n = 0; n < kVectors<T, W>; ++n) {
      if (n >= kFilled || (in_bins && (n * kCells < kBin - 1 || (n + 1) * kCells > W)))
        hn::Store(hn::Zero(d), d, row + n * kL);
    }
    return row + 2 * u.offset[j];
  }
  HWY_INLINE void write(int j, const RowVec<T>* left, const RowVec<T>* right) const {
    const Row<T> d;
    if constexpr (kPlacesInRegisters<T>) {
      Points::single(j, left, right, [&](int i, RowVec<T> l, RowVec<T> r) HWY_ATTR {
        T* row = out + std::int64_t{i} * kWide;
        for (int n = 0; n < kVectors<T, W>; ++n) hn::Store(placed<T, W>(l, r, u.offset[i], n), d, row + n * kL);
      });
      return;
    }
    const Doublings<T>& to = kDoublings<T>;
    T* at = begin_row(j);
    for (int v = 0; v < kV; ++v) {
      hn::StoreU(lookup(left[v], to.low), d, at + 2 * v * kL);
      if constexpr (Points::kTwo) {
        hn::StoreU(lookup(left[v], to.high), d, begin_row(j + 1));
      } else if constexpr (2 * W > kL) {
        hn::StoreU(lookup(left[v], to.high), d, at + (2 * v + 1) * kL);
      }
    }
    for (int v = 0; kMirrors<T, W> && v < kV; ++v) {
      T* end = at + 2 * W - 2 * v * kL;
      hn::StoreU(lookup(right[v], to.mirrored_low), d, end - 2 * kL);
      hn::StoreU(lookup(right[v], to.mirrored_high), d, end - kL);
    }
  }
};

template <class T, int W>
HWY_INLINE void weights_x(const WeightTables<T>& t, const Unpacked<T>& u, int n, bool in_bins, T* HWY_RESTRICT out) {
  using Points = PointWeights<T, W>;
  const Points points{t, u.z[0]};
  const RowWeights<T, W> rows{u, in_bins, out};
  const auto write = [&](int j, const RowVec<T>* left, const RowVec<T>* right) HWY_ATTR { rows.write(j, left, right); };
  for (int j = 0; j < n; j += Points::kStep) points.group(j, write);
}

template <class T, int W, int Dim>
void evaluate(const WeightTables<T>& tables, const Tiling& g, const RecordForm& form, const std::uint32_t* records,
              int n, bool in_bins, WeightBlock<T>& block) {
  block.n = n;
  Unpacked<T> u;
  for (int d = 0; d < Dim; ++d) unpack_field(form, records, n, d, block.cell[d], u.z[d]);
  // Weights are computed for whole vectors and groups of points.
  constexpr int kWhole = std::max(kLanes<T>, 8);
  const int whole = (n + kWhole - 1) / kWhole * kWhole;
  for (int d = 0; d < Dim; ++d) std::fill(u.z[d] + n, u.z[d] + whole, T{0});
  locate_rows(g, n, in_bins, block, u);
  std::fill(u.offset + n, u.offset + whole, 0);
  weights_x<T, W>(tables, u, n, in_bins, block.x.data());
  if constexpr (Dim > 1) weights_across<T, W>(tables, u.z[1], n, block.y_weights());
  if constexpr (Dim > 2) weights_across<T, W>(tables, u.z[2], n, block.z.data());
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
