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
    if (j + kN64 <= n) {
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

// Computes one dimension's weights of up to kBlockPoints points, a vector at a time, with all pieces in registers.
template <class T, int W>
HWY_INLINE void weights_across(const WeightTables<T>& t, const T* HWY_RESTRICT z, int n, T* HWY_RESTRICT out) {
  const Row<T> d;
  const int degree = t.degree;
  for (int j = 0; j < n; j += kLanes<T>) {
    const T* HWY_RESTRICT c = t.piece.data();
    const RowVec<T> at = hn::Load(d, z + j);
    RowVec<T> sum[W];
#pragma GCC unroll 16
    for (int p = 0; p < W; ++p) sum[p] = hn::Set(d, c[p]);
    for (int k = 1; k <= degree; ++k) {
      c += W;
#pragma GCC unroll 16
      for (int p = 0; p < W; ++p) sum[p] = hn::MulAdd(sum[p], at, hn::Set(d, c[p]));
    }
#pragma GCC unroll 16
    for (int p = 0; p < W; ++p) hn::Store(sum[p], d, out + p * kBlockPoints + j);
  }
}

template <class T, int W>
HWY_INLINE void weights_x(const WeightTables<T>& t, const Unpacked<T>& u, int n, T* HWY_RESTRICT out) {
  constexpr int kN = kVectors<T, W>;
  constexpr int kWide = 2 * kSlots<T, W>;
  const Row<T> d;
  const int degree = t.degree;
  const std::int64_t table = std::int64_t{degree + 1} * kWide;
  for (int j = 0; j < n; ++j) {
    const T* HWY_RESTRICT c = t.x.data() + u.offset[j] * table;
    const RowVec<T> at = hn::Set(d, u.z[0][j]);
    RowVec<T> sum[kN];
    for (int v = 0; v < kN; ++v) sum[v] = hn::Load(d, c + v * kLanes<T>);
    for (int k = 1; k <= degree; ++k) {
      c += kWide;
      for (int v = 0; v < kN; ++v) sum[v] = hn::MulAdd(sum[v], at, hn::Load(d, c + v * kLanes<T>));
    }
    for (int v = 0; v < kN; ++v) hn::Store(sum[v], d, out + j * kWide + v * kLanes<T>);
  }
}

template <class T, int W, int Dim>
void evaluate(const WeightTables<T>& tables, const Tiling& g, const RecordForm& form, const std::uint32_t* records,
              int n, bool in_bins, WeightBlock<T>& block) {
  block.n = n;
  Unpacked<T> u;
  for (int d = 0; d < Dim; ++d) unpack_field(form, records, n, d, block.cell[d], u.z[d]);
  const int whole = (n + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  for (int d = 1; d < Dim; ++d) {
    for (int j = n; j < whole; ++j) u.z[d][j] = 0;
  }
  locate_rows(g, n, in_bins, block, u);
  weights_x<T, W>(tables, u, n, block.x.data());
  if constexpr (Dim > 1) weights_across<T, W>(tables, u.z[1], n, block.y.data());
  if constexpr (Dim > 2) weights_across<T, W>(tables, u.z[2], n, block.z.data());
}

inline void evaluate_kernels(Kernels<FOURTUNE_REAL>& kernels, const Tiling& tiling) {
  using T = FOURTUNE_REAL;
  with_width(tiling.width, [&](auto width) {
    constexpr int kW = decltype(width)::value;
    kernels.evaluate = tiling.dim == 1 ? evaluate<T, kW, 1> : tiling.dim == 2 ? evaluate<T, kW, 2> : evaluate<T, kW, 3>;
  });
}

#else
inline void evaluate_kernels(Kernels<FOURTUNE_REAL>&, const Tiling&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
